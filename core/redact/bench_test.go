package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const prose = "The customer wrote that her order had arrived two days late, and asked whether a refund would be possible. " +
	"I told her that a well-known policy applies: within 30 days, every item (even an opened one) can be sent back. " +
	"Please answer in a friendly tone, keep it short, and do not promise anything before Monday at 9:30. "

func english(size int) []byte { return bytes.Repeat([]byte(prose), size/len(prose)+1)[:size] }

// chat returns a JSON request of about size bytes with one secret a KB.
func chat(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-5-mini","max_tokens":1024,"stream":true,"messages":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":%q}`, prose+prose+fmt.Sprintf("Write to user%d@corp.com now. ", i)+prose[:300])
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkText(b *testing.B) {
	r := newDefault(b)
	r.Credential("key0123456789abcdef", "another0key0fourteen1letters")
	text := english(64 << 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Bytes(text)
	}
}

func BenchmarkJSON(b *testing.B) {
	r := newDefault(b)
	for _, tc := range []struct {
		name string
		body []byte
	}{
		{"SecretEachKB", chat(64 << 10)},
		{"TwoKB", chat(2 << 10)},
		{"Clean", bytes.ReplaceAll(chat(64<<10), []byte("@"), []byte(" at "))},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.body)))
			b.ReportAllocs()
			for b.Loop() {
				r.JSON(tc.body)
			}
		})
	}
}

// BenchmarkFingerprinted is what the key of a redacted request of 2 KB costs here.
func BenchmarkFingerprinted(b *testing.B) {
	r := newDefault(b)
	body := r.JSON(chat(2 << 10))
	var dst []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		dst = r.AppendFingerprinted(dst[:0], body)
	}
}

// hostile are texts made to cost much. A text twice as long should take twice as long.
var hostile = []struct{ name, unit string }{
	{"At", "@"},
	{"MailAt", "a.b@"},
	{"LongMail", strings.Repeat("a", 64) + "@"},
	{"Digits", "4"},
	{"DigitGroups", "1-"},
	{"CardGroups", "4539 "},
	{"Plus", "+1 "},
	{"Dash", "-"},
	{"Prefix", "sk-"},
	{"PrefixComma", "sk-,"},
	{"Begin", "-----BEGIN PRIVATE KEY-----"},
	{"Scheme", "a://"},
	{"Nested", "a://b@"},
	{"Query", "a://b?key=x&"},
	{"JWT", "eyJ."},
	{"LongJWT", "eyJhbGciOiJIUzI1NiJ9."},
	{"Bearer", "bearer "},
	{"Basic", "basic aaaa"},
	{"Equal", "password="},
	{"Angle", "<"},
	{"Mark", "<email:q7ka"},
	{"Word", "redacted-"},
	{"WordMail", "email-q7ka@redacted.invalid"},
	{"Percent", "%40"},
	{"Data", "data:"},
	{"Gram", "key0123456789abcde"},
	{"Open", "["},
	{"Quoted", `"[\"`},
}

func BenchmarkHostile(b *testing.B) {
	r := newDefault(b)
	r.Credential("key0123456789abcdef")
	for _, tc := range hostile {
		for _, size := range []int{128 << 10, 1 << 20} {
			text := bytes.Repeat([]byte(tc.unit), size/len(tc.unit))
			b.Run(fmt.Sprintf("%s/%dKB", tc.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					r.JSON(text)
				}
			})
		}
	}
}
