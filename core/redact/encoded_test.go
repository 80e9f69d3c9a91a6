package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestBase64(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	table := "name,mail\n" + strings.Repeat("bob,bob@corp.com\n", 100)
	hidden := strings.ReplaceAll(table, "bob@corp.com", "email-ul7f@redacted.invalid")
	bytes := "\x89PNG\xff" + strings.Repeat("\x00\x01", 600)
	for _, tc := range []struct {
		reason, in, want string
		masked           bool
	}{
		{"a short text", b64("my address is bob@corp.com, yes"), b64("my address is email-ul7f@redacted.invalid, yes"), false},
		{"a long one", b64(table), b64(hidden), false},
		{"a data URL", "data:text/csv;charset=utf-8;base64," + b64(table), "data:text/csv;charset=utf-8;base64," + b64(hidden), false},
		{"JSON in it", b64(`{"password":"hunter2","a":[1,2,3]}`), b64(`{"password":"<field:pl35>","a":[1,2,3]}`), false},
		{"text without a secret", b64(strings.Repeat("words, words, ", 100)), b64(strings.Repeat("words, words, ", 100)), false},
		{"an ambient credential in bytes", b64(bytes + "key0123456789abcdef"), b64(bytes + "xxxxxxxxxxxxxxxxxxx"), true},
		{"bytes that look like something", b64(bytes + "bob@corp.com"), b64(bytes + "bob@corp.com"), false},
		{"no base64", strings.Repeat("word", 400) + "!", strings.Repeat("word", 400) + "!", false},
		{"a credential in letters that are no base64", strings.Repeat("word", 400) + "/key0123456789abcdef9", strings.Repeat("word", 400) + "/<credential>9", false},
		{"a shape that is base64 itself", "AKIAJ7Q2XN4LPT5WZKRM", "<aws_key:", false},
	} {
		r := newDefault(t)
		r.Credential("key0123456789abcdef")
		m := Message{ContentType: "application/json", Body: []byte(`{"file":"` + tc.in + `"}`)}
		r.Message(&m)
		if !strings.HasPrefix(string(m.Body), `{"file":"`+tc.want) || m.Masked != tc.masked {
			t.Errorf("%s: %.300s, %v; want %.300s", tc.reason, m.Body, m.Masked, tc.want)
		}
		again := Message{ContentType: "application/json", Body: m.Body}
		if r.Message(&again); string(again.Body) != string(m.Body) {
			t.Errorf("%s: redacted again %.300s", tc.reason, again.Body)
		}
	}
}
