package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/mixtape-go/mixtape/core/redact"
)

var (
	errChanged = errors.New("text without a secret was changed")
	errShown   = errors.New("a secret was left")
)

// redactedText hides secrets in English text that has none.
func (l *lab) redactedText(b *testing.B) error {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		return err
	}
	text := []byte(newWriter(1).text(l.sizes.bytes))
	var out []byte
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		out = r.Bytes(text)
	}
	if !bytes.Equal(out, text) {
		return errChanged
	}
	return nil
}

// redactedJSON hides secrets in a request with one in each KB.
func (l *lab) redactedJSON(b *testing.B) error {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		return err
	}
	body := secretEachKB(l.sizes.bytes)
	var out []byte
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		out = r.JSON(body)
	}
	if bytes.Contains(out, []byte("@corp.com")) || !bytes.Contains(out, []byte("@redacted.invalid")) {
		return errShown
	}
	return nil
}

// secretEachKB returns a request of about n bytes with one secret in each KB.
func secretEachKB(n int) []byte {
	w := newWriter(1)
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-5-mini","messages":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":%s}`, quote(w.text(450)+"Write to "+secret(i)+" now. "+w.text(450)))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}
