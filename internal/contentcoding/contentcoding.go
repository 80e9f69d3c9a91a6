// Package contentcoding undoes HTTP content encodings (RFC 9110, section 8.4): gzip, deflate, br and zstd.
package contentcoding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// MaxDecoded bounds what a body may decode to, in bytes, after each of its encodings.
const MaxDecoded = 1 << 30

// maxZstdWindow is the largest window of zstd that a sender may use over HTTP (RFC 9659).
const maxZstdWindow = 8 << 20

// ErrUnknown says that an encoding is not known here.
var ErrUnknown = errors.New("unknown content encoding")

// errTrailing says that the encoded data ends before the body does. Gzip and zstd have errors of their own for it.
var errTrailing = errors.New("something follows the encoded data")

// Decode undoes the encodings that the Content-Encoding of h names, the last one first. It returns body itself and an
// empty encoding when h names none. Beside an error it returns what could be decoded, for a body that was cut; nothing
// where that is none, as with an error that is [ErrUnknown], and nothing of a body that decodes to more than
// [MaxDecoded].
func Decode(h http.Header, body []byte) (decoded []byte, encoding string, err error) {
	return decodeAll(encodings(h), body, MaxDecoded)
}

func decodeAll(names []string, body []byte, limit int) (decoded []byte, encoding string, err error) {
	encoding = strings.Join(names, ", ")
	if len(body) == 0 {
		return body, encoding, nil
	}
	for _, name := range slices.Backward(names) {
		var e error
		if body, e = decode(name, body, limit); e != nil && err == nil {
			err = fmt.Errorf("content encoding %q: %w", name, e)
		}
		if len(body) == 0 {
			break
		}
	}
	return body, encoding, err
}

// encodings returns the encodings that h names, in lower case, in the order in which they were applied.
func encodings(h http.Header) []string {
	var names []string
	for _, line := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				names = append(names, name)
			}
		}
	}
	return names
}

func decode(name string, body []byte, limit int) ([]byte, error) {
	src := bytes.NewReader(body)
	r, err := reader(name, src)
	if err != nil {
		return nil, err
	}
	decoded, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case len(decoded) > limit:
		return nil, fmt.Errorf("the body decodes to more than %d bytes", limit)
	case err == nil && src.Len() > 0:
		return decoded, errTrailing
	}
	return decoded, err
}

// reader returns a reader of what src encodes. None of them starts a goroutine or needs to be closed.
func reader(name string, src *bytes.Reader) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(src)
	case "deflate":
		// The standard means zlib; many servers send raw deflate.
		if r, err := zlib.NewReader(src); err == nil {
			return r, nil
		}
		_, err := src.Seek(0, io.SeekStart)
		return flate.NewReader(src), err
	case "br":
		return brotli.NewReader(src), nil
	case "zstd":
		return zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	return nil, ErrUnknown
}
