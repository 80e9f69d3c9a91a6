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

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encoder writes one encoding. What was written before a Flush can be decoded.
type encoder interface {
	io.WriteCloser
	Flush() error
}

// coding is an encoding that is known.
type coding struct {
	name     string // in a header
	new      func(io.Writer) encoder
	joins    bool   // encoded data may follow encoded data
	trailing string // the error when something else follows
	reason   string
}

func newGzip(w io.Writer) encoder { return gzip.NewWriter(w) }

func newZlib(w io.Writer) encoder { return zlib.NewWriter(w) }

func newFlate(w io.Writer) encoder {
	e, _ := flate.NewWriter(w, flate.DefaultCompression)
	return e
}

func newBrotli(w io.Writer) encoder { return brotli.NewWriter(w) }

func newZstd(w io.Writer) encoder { return newZstdOf(w, maxZstdWindow) }

func newZstdOf(w io.Writer, window int) encoder {
	e, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	return e
}

var codings = []coding{
	{"gzip", newGzip, true, "invalid header", "gzip"},
	{"x-gzip", newGzip, true, "invalid header", "gzip by its old name"},
	{"deflate", newZlib, false, "something follows", "deflate as the standard has it"},
	{"deflate", newFlate, false, "something follows", "deflate as servers send it"},
	{"br", newBrotli, false, "excessive input", "brotli"},
	{"zstd", newZstd, true, "magic number", "zstd"},
}

func encoded(new func(io.Writer) encoder, text []byte) []byte {
	var b bytes.Buffer
	w := new(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

func header(encodings ...string) http.Header { return http.Header{"Content-Encoding": encodings} }

func TestDecode(t *testing.T) {
	text := []byte(strings.Repeat("the text ", 100))
	type row struct {
		reason   string
		header   []string
		body     []byte
		want     []byte
		encoding string
		err      error
	}
	rows := []row{
		{"none", nil, text, text, "", nil},
		{"identity", []string{"identity"}, text, text, "", nil},
		{"identity beside another", []string{"identity, gzip"}, encoded(newGzip, text), text, "gzip", nil},
		{"case and space mean nothing", []string{" GZip ,"}, encoded(newGzip, text), text, "gzip", nil},
		{"two, the last undone first", []string{"deflate, gzip"}, encoded(newGzip, encoded(newZlib, text)), text, "deflate, gzip", nil},
		{"two, in two lines", []string{"br", "zstd"}, encoded(newZstd, encoded(newBrotli, text)), text, "br, zstd", nil},
		{"the same twice", []string{"gzip, gzip"}, encoded(newGzip, encoded(newGzip, text)), text, "gzip, gzip", nil},
		{"unknown", []string{"dcb"}, text, nil, "dcb", ErrUnknown},
		{"unknown, the old one", []string{"compress"}, text, nil, "compress", ErrUnknown},
		{"unknown inside", []string{"dcz, gzip"}, encoded(newGzip, text), nil, "dcz, gzip", ErrUnknown},
		{"unknown outside", []string{"gzip, dcz"}, encoded(newGzip, text), nil, "gzip, dcz", ErrUnknown},
		{"an empty body of an unknown encoding", []string{"dcb"}, nil, nil, "dcb", nil},
		{"a window of zstd that nobody may use over HTTP", []string{"zstd"}, encoded(func(w io.Writer) encoder { return newZstdOf(w, 2*maxZstdWindow) }, bytes.Repeat(text, 20_000)), nil, "zstd", zstd.ErrWindowSizeExceeded},
	}
	for _, c := range codings {
		body := encoded(c.new, text)
		rows = append(rows,
			row{c.reason, []string{c.name}, body, text, c.name, nil},
			row{c.reason + ", no body", []string{c.name}, nil, nil, c.name, nil},
			row{c.reason + ", a body of nothing", []string{c.name}, encoded(c.new, nil), nil, c.name, nil},
			row{c.reason + ", nothing inside of gzip", []string{c.name, "gzip"}, encoded(newGzip, nil), nil, c.name + ", gzip", nil},
		)
		if c.joins {
			rows = append(rows, row{c.reason + ", twice one after the other", []string{c.name}, append(bytes.Clone(body), body...), append(bytes.Clone(text), text...), c.name, nil})
		}
	}
	for _, tt := range rows {
		t.Run(tt.reason, func(t *testing.T) {
			got, encoding, err := Decode(header(tt.header...), tt.body)
			if !bytes.Equal(got, tt.want) || encoding != tt.encoding || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("%d bytes, %q, %v", len(got), encoding, err)
			}
		})
	}
}

// TestDecodeBroken decodes what is no whole body of its encoding: an error, and beside it what came before.
func TestDecodeBroken(t *testing.T) {
	text := []byte("what came before")
	for _, c := range codings {
		t.Run(c.reason, func(t *testing.T) {
			var b bytes.Buffer
			w := c.new(&b)
			_, _ = w.Write(text)
			_ = w.Flush()
			flushed := bytes.Clone(b.Bytes())
			_ = w.Close()
			whole := b.Bytes()
			for _, tt := range []struct {
				reason string
				body   []byte
				want   string
				err    string
			}{
				{"cut after a flush", flushed, string(text), "unexpected EOF"},
				{"cut after the first byte", whole[:1], "", "EOF"},
				{"garbage after it", append(bytes.Clone(whole), "no encoded data"...), string(text), c.trailing},
				{"no encoding at all", []byte("what has no encoding"), "", ""},
			} {
				got, _, err := Decode(header(c.name), tt.body)
				if string(got) != tt.want || err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: %q, %v; want %q, %s", tt.reason, got, err, tt.want, tt.err)
				}
			}
			for n := 1; n < len(whole); n++ {
				if got, _, err := Decode(header(c.name), whole[:n]); err == nil || !bytes.HasPrefix(text, got) {
					t.Errorf("cut after %d of %d bytes: %q, %v", n, len(whole), got, err)
				}
			}
		})
	}
}

// TestDecodeBomb decodes small bodies that grow large: each of the encodings is bounded.
func TestDecodeBomb(t *testing.T) {
	const limit = 1 << 20
	for _, c := range codings {
		t.Run(c.reason, func(t *testing.T) {
			fits := encoded(c.new, make([]byte, limit))
			if got, _, err := decodeAll([]string{c.name}, fits, limit); len(got) != limit || err != nil {
				t.Errorf("as large as may be: %d bytes, %v", len(got), err)
			}
			bomb := encoded(c.new, make([]byte, limit+1))
			for _, tt := range []struct {
				reason string
				names  []string
				body   []byte
			}{
				{"a byte too much", []string{c.name}, bomb},
				{"inside of another encoding", []string{c.name, "gzip"}, encoded(newGzip, bomb)},
				{"before the other encoding is undone", []string{"gzip", c.name}, encoded(c.new, bytes.Repeat(encoded(newGzip, nil), limit/20))},
			} {
				if got, _, err := decodeAll(tt.names, tt.body, limit); got != nil || err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
					t.Errorf("%s: %d bytes, %v", tt.reason, len(got), err)
				}
			}
		})
	}
}

// FuzzDecode decodes anything as anything: the result is bounded, an unknown encoding gives nothing, and what was
// decoded without an error is decoded the same way again.
func FuzzDecode(f *testing.F) {
	text := []byte(strings.Repeat("the text ", 20))
	for _, c := range codings {
		whole := encoded(c.new, text)
		f.Add(c.name, whole)
		f.Add(c.name, whole[:len(whole)/2])
		f.Add(c.name+", gzip", encoded(newGzip, whole))
	}
	f.Add("identity", text)
	f.Add("dcb", text)
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		const limit = 1 << 16
		names := encodings(header(encoding))
		got, joined, err := decodeAll(names, body, limit)
		if len(names) > 0 && len(got) > limit && len(body) > 0 {
			t.Errorf("%d bytes", len(got))
		}
		if errors.Is(err, ErrUnknown) && got != nil {
			t.Errorf("an unknown encoding gave %q", got)
		}
		if len(names) == 0 && !bytes.Equal(got, body) {
			t.Errorf("no encoding: %q became %q", body, got)
		}
		again, _, againErr := decodeAll(encodings(header(joined)), body, limit)
		if !bytes.Equal(again, got) || (againErr == nil) != (err == nil) {
			t.Errorf("as %q: %q, %v; as %q: %q, %v", encoding, got, err, joined, again, againErr)
		}
	})
}
