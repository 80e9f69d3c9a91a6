package match

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const (
	prose = "The customer writes that the card was charged twice for order 1042 on Monday, and asks for a refund. "
	tools = `"tools":[{"type":"function","function":{"name":"refund","description":"Refund a charge","parameters":{"type":"object",` +
		`"properties":{"order_id":{"type":"integer"},"amount":{"type":"number","minimum":0.5}},"required":["order_id"]}}}]`
)

// conversation is a request body with n messages of 800 bytes.
func conversation(n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o","temperature":0.7,` + tools + `,"messages":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"%s\n"}`, strings.Repeat(prose, 8)[:760])
	}
	b.WriteString(`]}`)
	return b.String()
}

// literal is the least that a fingerprint function can do: look for a placeholder, and find none.
func literal(dst, s []byte) []byte {
	if bytes.IndexByte(s, '<') >= 0 {
		return append(dst, 0xFF)
	}
	return append(dst, s...)
}

func BenchmarkKey(b *testing.B) {
	for _, bc := range []struct {
		name, body string
	}{
		{"2KB", conversation(2)},
		{"100turns", conversation(100)},
		{"1MB", `{"messages":[{"role":"user","content":"` + strings.Repeat(prose, 1<<20/len(prose)) + `"}]}`},
		{"1MBescaped", `{"messages":[{"role":"user","content":"` + strings.Repeat(`\"a\"\n `+prose[:50], 1<<20/60) + `"}]}`},
		{"1MBvectors", `{"input":[` + strings.Repeat("0.0123456789,", 1<<20/13) + `1]}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			m := newMatcher(b, Rules{Fingerprint: literal})
			r := chat(b, bc.body)
			b.SetBytes(int64(len(bc.body)))
			b.ReportAllocs()
			for b.Loop() {
				m.Key(r)
			}
		})
	}
}

func BenchmarkNearest10000(b *testing.B) {
	m := newMatcher(b, Rules{Fingerprint: literal})
	body := conversation(2)
	stored := make([]*Request, 10_000)
	for i := range stored {
		stored[i] = chat(b, strings.Replace(body, "order 1042", fmt.Sprint("order ", i), 1))
	}
	live := chat(b, strings.Replace(body, "charged twice", "charged three times", 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := m.Nearest(live, stored, nil, nil); !ok {
			b.Fatal("nothing is near")
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	m := newMatcher(b, Rules{Fingerprint: literal})
	live, stored := chat(b, conversation(100)), chat(b, conversation(98))
	b.SetBytes(int64(len(live.Body)))
	b.ReportAllocs()
	for b.Loop() {
		m.Diff(live, stored, 5)
	}
}
