package redact

import (
	"regexp"
	"strings"
	"testing"
)

func TestMultipart(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const form = "multipart/form-data; boundary=XX"
	for _, tc := range []struct{ reason, contentType, in, want string }{
		{"each part by its own type", form,
			crlf("--XX\nContent-Disposition: form-data; name=\"meta\"\nContent-Type: application/json\n\n{\"password\":\"p\"}\n--XX\nContent-Disposition: form-data; name=\"file\"; filename=\"bob@corp.com.png\"\nContent-Type: image/png\n\n\x89PNG\xff bob@corp.com\n--XX--\n"),
			crlf("--XX\nContent-Disposition: form-data; name=\"meta\"\nContent-Type: application/json\n\n{\"password\":\"<field:FP>\"}\n--XX\nContent-Disposition: form-data; name=\"file\"; filename=\"email-FP@redacted.invalid\"\nContent-Type: image/png\n\n\x89PNG\xff bob@corp.com\n--XX--\n")},
		{"a field by its name", form,
			crlf("--XX\nContent-Disposition: form-data; name=\"api_key\"\n\nabc\n--XX\nContent-Disposition: form-data; name=\"user\"\n\nabc\n--XX--"),
			crlf("--XX\nContent-Disposition: form-data; name=\"api_key\"\n\n<field:FP>\n--XX\nContent-Disposition: form-data; name=\"user\"\n\nabc\n--XX--")},
		{"lines that end in LF", "multipart/mixed; boundary=\"X X\"", "bob@corp.com\n--X X\n\nbob@corp.com\n--X X--\nbob@corp.com",
			"email-FP@redacted.invalid\n--X X\n\nemail-FP@redacted.invalid\n--X X--\nemail-FP@redacted.invalid"},
		{"no end", form, "--XX\r\n\r\nbob@corp.com", "--XX\r\n\r\nemail-FP@redacted.invalid"},
		{"a header that does not end", form, "--XX\r\nX: bob@corp.com", "--XX\r\nX: email-FP@redacted.invalid"},
		{"no boundary in it", form, "bob@corp.com", "email-FP@redacted.invalid"},
		{"parts in a part", form, "--XX\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\nbob@corp.com\r\n--Y--\r\n--XX--",
			"--XX\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\nemail-FP@redacted.invalid\r\n--Y--\r\n--XX--"},
		{"no boundary named: text", "multipart/mixed", "--XX\r\n\r\nbob@corp.com", "--XX\r\n\r\nemail-FP@redacted.invalid"},
	} {
		r := newDefault(t)
		got := r.Body(tc.contentType, []byte(tc.in))
		if plain := regexp.MustCompile(`([:-])[a-z2-7]{4}([>@])`).ReplaceAllString(string(got), "${1}FP$2"); plain != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, plain, tc.want)
		}
		if again := r.Body(tc.contentType, got); string(again) != string(got) {
			t.Errorf("%s: redacted again %q", tc.reason, again)
		}
	}
}
