package match

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"testing"
)

// whole is a stand-in for the redactor's fingerprint of a value.
func whole(value []byte) string {
	sum := sha256.Sum256(value)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

func TestRelaxed(t *testing.T) {
	m := newMatcher(t, Rules{WholeFingerprint: whole})
	hidden := func(rule, value string) string { return "<" + rule + ":" + whole([]byte(value))[:4] + ">" }
	text := func(s string) *Request { return chat(t, `{"messages":[{"content":"`+s+`"}]}`) }
	const key = "abcd1234efgh5678"
	for _, tc := range []struct {
		live, stored string
		want         bool
		reason       string
	}{
		{"mail jo@a.io now", "mail " + hidden("email", "jo@a.io") + " now", true, "a rule was dropped"},
		{"mail " + hidden("email", "jo@a.io") + " now", "mail jo@a.io now", true, "a rule was added"},
		{"mail jo@a.io now", "mail " + hidden("email", "al@a.io") + " now", false, "another value"},
		{"mail jo@a.io later", "mail " + hidden("email", "jo@a.io") + " now", false, "another text after it"},
		{"Mail jo@a.io now", "mail " + hidden("email", "jo@a.io") + " now", false, "another text before it"},
		{"jo@a.io", hidden("email", "jo@a.io"), true, "nothing else"},
		{"x, y and jo", hidden("a", "x") + ", " + hidden("a", "y") + " and " + hidden("a", "jo"), true, "several"},
		{"x, y and al", hidden("a", "x") + ", " + hidden("a", "y") + " and " + hidden("a", "jo"), false, "the last of several"},
		{"a b c d", hidden("a", "a b c") + " d", true, "what follows it stands inside it too"},
		{"xy", hidden("a", "x") + hidden("a", "y"), true, "nothing between two"},
		{hidden("a", "x") + " and y", hidden("a", "x") + " and " + hidden("a", "y"), true, "one is hidden on both sides"},
		{"and y " + hidden("a", "x"), "and " + hidden("a", "y") + " <other:aaaa>", false, "one is hidden on both sides, and another"},
		{"", hidden("a", "x"), false, "nothing to stand for"},
		{"key " + key + " ok", "key <credential> ok", true, "somebody else's credential"},
		{"key <credential> ok", "key " + key + " ok", true, "my credential"},
		{"key <credential> ok", "key <openai:abcd> ok", true, "a credential that a rule found"},
		{"key short1 ok", "key <credential> ok", false, "too short for a credential"},
		{"key abcd 1234 efgh 5678 ok", "key <credential> ok", false, "white space is in no credential"},
		{"key abcdefghijklmnop ok", "key <credential> ok", false, "a credential has a digit"},
		{"key 1234567890123456 ok", "key <credential> ok", false, "a credential has a letter"},
		{strings.Repeat("-", 65) + "b", hidden("a", strings.Repeat("-", 64)) + "-" + hidden("b", "b"), true, "64 candidates"},
		{strings.Repeat("-", 66) + "b", hidden("a", strings.Repeat("-", 65)) + "-" + hidden("b", "b"), false, "65 candidates"},
		{strings.Repeat("-", 66) + "x" + hidden("b", "b"), hidden("a", strings.Repeat("-", 65)) + "-x" + hidden("b", "b"), true, "a long literal has one place"},
		{strings.Repeat("-", 100) + hidden("b", "b"), hidden("a", strings.Repeat("-", 99)) + "-" + hidden("b", "b"), false, "more than 64 candidates"},
	} {
		if got := m.Relaxed(text(tc.live), text(tc.stored)); got != tc.want {
			t.Errorf("Relaxed(%q, %q) = %v, want %v: %s", tc.live, tc.stored, got, tc.want, tc.reason)
		}
	}

	secret := func(r Request) (live, stored *Request) {
		hide := func(s string) string { return strings.ReplaceAll(s, "jo@a.io", hidden("email", "jo@a.io")) }
		h := r
		h.Path, h.Query, h.Body = hide(r.Path), hide(r.Query), []byte(hide(string(r.Body)))
		return &r, &h
	}
	for _, r := range []Request{
		{Kind: "http", Host: "h.test", Path: "/u/jo@a.io"},
		{Kind: "http", Host: "h.test", Query: "a=1&b=jo@a.io"},
		{Kind: "http", Body: []byte("dear jo@a.io")},
		{Kind: "http", Body: []byte("a=1&b=jo@a.io"), ContentType: "application/x-www-form-urlencoded"},
		{Kind: "tool", Body: []byte(`[1,{"jo@a.io":{"jo@a.io":["jo@a.io"]}}]`)},
	} {
		live, stored := secret(r)
		if m.Key(live) == m.Key(stored) || !m.Relaxed(live, stored) {
			t.Errorf("%+v must be relaxed", r)
		}
		stored.Method = "PUT"
		if m.Relaxed(live, stored) {
			t.Errorf("%+v must not be relaxed with another method", r)
		}
	}
	only := newMatcher(t, Rules{WholeFingerprint: whole, MessagesOnly: true})
	bare, err := New(Rules{WholeFingerprint: whole})
	if err != nil {
		t.Fatal(err)
	}
	live, stored := text("jo"), text(hidden("a", "jo"))
	live.Query, stored.Query = "a=1", "a=1&b=1"
	if m.Relaxed(live, stored) || !only.Relaxed(live, stored) {
		t.Error("the query must count, but for MessagesOnly")
	}
	if live.Query = stored.Query; bare.Relaxed(live, stored) || !m.Relaxed(live, stored) {
		t.Error("without fingerprints there are no placeholders")
	}
	live.Query = "a=1&c=1"
	if m.Relaxed(live, stored) {
		t.Error("another parameter is another request")
	}
	live.Query, live.Model = stored.Query, "other"
	if m.Relaxed(live, stored) {
		t.Error("another model is another request")
	}
	live.Model, live.Streamed = stored.Model, true
	if m.Relaxed(live, stored) {
		t.Error("a stream is not a plain answer")
	}
	for _, body := range []string{"\xffjo", "--b\njo\n--b--"} {
		live, stored := &Request{ContentType: "multipart/mixed; boundary=b", Body: []byte(body)}, &Request{ContentType: "multipart/mixed; boundary=c"}
		stored.Body = []byte(strings.ReplaceAll(body, "--b", "--c"))
		if !m.Relaxed(live, stored) {
			t.Errorf("%q is the same in other boundaries", body)
		}
		stored.Body = append(stored.Body, "<a:abcd>"...)
		if m.Relaxed(live, stored) {
			t.Errorf("%q is compared by its parts", body)
		}
	}
	if m.Relaxed(text(strings.Repeat("z", maxHidden+1)), text(hidden("a", strings.Repeat("z", maxHidden+1)))) {
		t.Error("what a placeholder stands for must be bounded")
	}
	if m.Relaxed(chat(t, `{"a":1}`), chat(t, `{"a":2}`)) || m.Relaxed(chat(t, `{"a":[1]}`), chat(t, `{"a":[1,2]}`)) || m.Relaxed(chat(t, `{"a":1}`), chat(t, `{"b":1}`)) {
		t.Error("what holds no placeholder must not be relaxed")
	}
}

// TestManyPlaceholders has so many placeholders that to look for the next one in all that follows, for each, would take
// hours.
func TestManyPlaceholders(t *testing.T) {
	m, err := New(Rules{Fingerprint: func(dst, s []byte) []byte { return append(dst, s...) }})
	if err != nil {
		t.Fatal(err)
	}
	of := func(item, end string) *Request {
		return &Request{Kind: "http", Body: []byte(`"` + strings.Repeat(item, 300_000) + end + `"`)}
	}
	live := of("a1b2c3d4e5f6g7h8 ", "")
	if !m.Relaxed(live, of("<credential> ", "")) {
		t.Error("they differ")
	}
	if m.Relaxed(live, of("<credential> ", "!")) {
		t.Error("they are the same")
	}
}
