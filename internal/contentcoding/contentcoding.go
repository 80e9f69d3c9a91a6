// Package contentcoding undoes HTTP content encodings (RFC 9110, section 8.4).
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
)

// MaxDecoded bounds what a body may decode to, in bytes.
const MaxDecoded = 1 << 30

// ErrUnknown says that an encoding is not known here.
var ErrUnknown = errors.New("unknown content encoding")

// Decode undoes the encodings that the Content-Encoding of h names, the last one first. It returns body itself and an
// empty encoding when h names none. Beside an error it returns what could be decoded, for a body that was cut; nothing
// where that is none, as with an error that is [ErrUnknown].
func Decode(h http.Header, body []byte) (decoded []byte, encoding string, err error) {
	names := encodings(h)
	encoding = strings.Join(names, ", ")
	if len(body) == 0 {
		return body, encoding, nil
	}
	for _, name := range slices.Backward(names) {
		var e error
		if body, e = decode(name, body); e != nil && err == nil {
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

func decode(name string, body []byte) ([]byte, error) {
	r, err := reader(name, body)
	if err != nil {
		return nil, err
	}
	decoded, err := io.ReadAll(io.LimitReader(r, MaxDecoded+1))
	if len(decoded) > MaxDecoded {
		return nil, fmt.Errorf("the body decodes to more than %d bytes", MaxDecoded)
	}
	return decoded, err
}

func reader(name string, body []byte) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		// The standard means zlib; many servers send raw deflate.
		if r, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
			return r, nil
		}
		return flate.NewReader(bytes.NewReader(body)), nil
	}
	return nil, ErrUnknown
}
