package contentcoding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func pack(w io.WriteCloser, b *bytes.Buffer, text []byte) []byte {
	_, _ = w.Write(text)
	w.Close()
	return b.Bytes()
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	return pack(gzip.NewWriter(&b), &b, text)
}

func deflated(text []byte) []byte {
	var b bytes.Buffer
	return pack(zlib.NewWriter(&b), &b, text)
}

func rawDeflated(text []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.DefaultCompression)
	return pack(w, &b, text)
}

func TestDecode(t *testing.T) {
	text := []byte(strings.Repeat("the text ", 100))
	for _, tt := range []struct {
		reason   string
		header   []string
		body     []byte
		want     []byte
		encoding string
		err      error
	}{
		{"none", nil, text, text, "", nil},
		{"identity", []string{"identity"}, text, text, "", nil},
		{"gzip", []string{" GZip "}, gzipped(text), text, "gzip", nil},
		{"its old name", []string{"x-gzip"}, gzipped(text), text, "x-gzip", nil},
		{"members one after the other", []string{"gzip"}, append(gzipped(text), gzipped(text)...), append(bytes.Clone(text), text...), "gzip", nil},
		{"deflate as the standard has it", []string{"deflate"}, deflated(text), text, "deflate", nil},
		{"deflate as servers send it", []string{"deflate"}, rawDeflated(text), text, "deflate", nil},
		{"two, the last undone first", []string{"deflate, gzip"}, gzipped(deflated(text)), text, "deflate, gzip", nil},
		{"two, in two lines", []string{"deflate", "gzip"}, gzipped(deflated(text)), text, "deflate, gzip", nil},
		{"unknown", []string{"br"}, text, nil, "br", ErrUnknown},
		{"unknown inside", []string{"br, gzip"}, gzipped(text), nil, "br, gzip", ErrUnknown},
		{"no gzip", []string{"gzip"}, text, nil, "gzip", gzip.ErrHeader},
		{"no body", []string{"gzip"}, nil, nil, "gzip", nil},
		{"an empty body of an unknown encoding", []string{"br"}, nil, nil, "br", nil},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			got, encoding, err := Decode(http.Header{"Content-Encoding": tt.header}, tt.body)
			if !bytes.Equal(got, tt.want) || encoding != tt.encoding || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("%d bytes, %q, %v", len(got), encoding, err)
			}
		})
	}
}

func TestDecodeCut(t *testing.T) {
	text := []byte("what came before the cut")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Flush()
	got, _, err := Decode(http.Header{"Content-Encoding": {"gzip"}}, b.Bytes())
	if !bytes.Equal(got, text) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", got, err)
	}
}
