package redact

import (
	"bytes"
	"testing"
)

// TestFault45BytesThatAreNoText holds what is known to be a secret in bytes in which nothing else is looked for.
func TestFault45BytesThatAreNoText(t *testing.T) {
	for _, tc := range []struct {
		reason, contentType, in, want string
		masked                        bool
	}{
		{"an ambient credential", "image/png", "\x89PNG\xffkey0123456789abcdef\xff", "\x89PNG\xffxxxxxxxxxxxxxxxxxxx\xff", true},
		{"a value of the caller's, twice", "", "\xffhush hush\xff", "\xffxxxx xxxx\xff", true},
		{"values that overlap", "", "\xffhushkey0123456789abcdef\xff", "\xffxxxxxxxxxxxxxxxxxxxxxxx\xff", true},
		{"a shape: bytes may look like anything", "application/octet-stream", "\xffbob@corp.com\xff", "\xffbob@corp.com\xff", false},
		{"a type that is text, whatever its bytes", "text/plain; charset=latin1", "\xfcber bob@corp.com", "\xfcber email-7mif@redacted.invalid", false},
		{"a part", "multipart/form-data; boundary=B", "--B\r\n\r\n\xffhush\r\n--B--", "--B\r\n\r\n\xffxxxx\r\n--B--", true},
	} {
		r := newDefault(t, Value("hush", "hushkey"))
		r.Credential("key0123456789abcdef")
		m := Message{ContentType: tc.contentType, Body: []byte(tc.in)}
		r.Message(&m)
		want := bytes.ReplaceAll([]byte(tc.want), []byte("7mif"), []byte(WholeFingerprint([]byte("bob@corp.com"))[:fingerprintLen]))
		if !bytes.Equal(m.Body, want) || m.Masked != tc.masked {
			t.Errorf("%s: %q, %v; want %q, %v", tc.reason, m.Body, m.Masked, want, tc.masked)
		}
	}
}
