package redact

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestLearned(t *testing.T) {
	for _, tc := range []struct{ first, then, want, reason string }{
		{`{"password":"hunter2abc"}`, "it is hunter2abc, yes", "it is <field:FP>, yes", "a value of a named member"},
		{`{"password":"hunter2abc"}`, "hunter2abcd 1hunter2abc hunter2abc", "hunter2abcd 1hunter2abc <field:FP>", "as a word only"},
		{`{"password":"hunter2abc"}`, "éhunter2abc_", "é<field:FP>_", "a word ends where a letter or digit of ASCII does not follow"},
		{`{"password":"hunter2"}`, "hunter2", "hunter2", "too short to be told from a word"},
		{`{"password":"correct horse"}`, "correct horse", "correct horse", "no digit: it may be prose"},
		{`{"password":"12345678"}`, "12345678", "12345678", "no letter"},
		{`"bob@x.io"`, "Xbob@x.ioX bob@x.io", "Xbob@x.ioX email-FP@redacted.invalid", "a shape of eight bytes"},
		{`"b@co.io"`, "b@co.io", "b@co.io", "a shape that is too short"},
		{`{"password":"a/b+c=12 &3"}`, "https://x.io/?q=a/b+c=12%20&3", "https://x.io/?q=a/b+c=12%20&3", "a text is not unescaped"},
		{`{"pin":"ab12cd34"}`, "ab12cd34", "<field>", "an opaque rule"},
		{`{"password":"key0123456789abcdef"}`, "key0123456789abcdef", "key0123456789abcdef", "an ambient credential, which the Redactor itself hides everywhere"},
		{`{"password":"<field:abcd>"}`, "<field:abcd>", "<field:FP>", "a placeholder"},
		{`{"password":"x email-q7ka@redacted.invalid 1"}`, "x", "x", "a value that holds one"},
	} {
		r := newDefault(t, Field("pin").Opaque())
		r.Credential("key0123456789abcdef")
		r.JSON([]byte(tc.first))
		got := tc.then
		if l := r.Learned(); l != nil {
			got = l.String(tc.then)
		}
		if plain := regexp.MustCompile(`([:-])[a-z2-7]{4}([>@])`).ReplaceAllString(got, "${1}FP$2"); plain != tc.want {
			t.Errorf("after %s, %q became %q, want %q: %s", tc.first, tc.then, plain, tc.want, tc.reason)
		}
	}
}

// TestLearnedEverywhere has one value in every place that a body has.
func TestLearnedEverywhere(t *testing.T) {
	const secret = `hun"ter2 ábc`
	r := newDefault(t)
	r.JSON([]byte(`{"password":` + quoted(secret) + `}`))
	l := r.Learned()
	if l != r.Learned() {
		t.Error("Learned makes a new Redactor though nothing was learned")
	}
	fp := "<field:" + WholeFingerprint([]byte(secret))[:fingerprintLen] + ">"
	for _, tc := range []struct{ contentType, in, want, reason string }{
		{"text/plain", "a " + secret + " b", "a " + fp + " b", "text"},
		{"application/json", `{"a":"` + `hun\"ter2 \u00e1bc"}`, `{"a":"` + fp + `"}`, "a string with escapes"},
		{"application/json", `{"a":` + quoted(`{"b":`+quoted(secret)+`}`) + `}`, `{"a":"{\"b\":\"` + fp + `\"}"}`, "JSON in a string"},
		{"application/json", `{` + quoted(secret) + `:1}`, `{"` + fp + `":1}`, "a member's name"},
		{"application/x-www-form-urlencoded", "a=hun%22ter2+%C3%A1bc", "a=redacted-" + fp[7:11], "a form"},
		{"text/event-stream", sse(`{"t":"hun\"te"}`, `{"t":"r2 ábc"}`), sse(`{"t":"`+fp+`"}`, `{"t":""}`), "cut over events"},
		{"multipart/form-data; boundary=b", "--b\r\n\r\n" + secret + "\r\n--b--", "--b\r\n\r\n" + fp + "\r\n--b--", "a part"},
	} {
		if got := string(l.Body(tc.contentType, []byte(tc.in))); got != tc.want {
			t.Errorf("%s: %q became %q, want %q", tc.reason, tc.in, got, tc.want)
		}
	}
	if got := l.String("sk-ABCDEFGH12345678 bob@corp.com"); got != "sk-ABCDEFGH12345678 bob@corp.com" {
		t.Errorf("Learned hides what it did not learn: %s", got)
	}
	r.String("sk-ABCDEFGH12345678")
	if got, want := r.Learned().String("xsk-ABCDEFGH12345678, sk-ABCDEFGH12345678"), "xsk-ABCDEFGH12345678, <openai_key:mbkx>"; got != want {
		t.Errorf("learned later: %s, want %s", got, want)
	}
}

// TestLearnedOfMany learns so many values that looking for each by itself would take for ever.
func TestLearnedOfMany(t *testing.T) {
	r := newDefault(t)
	var all, more strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&all, `{"password":"p%07d"}`+"\n", i)
		fmt.Fprintf(&more, "p%07d ", i)
	}
	r.Body("application/x-ndjson", []byte(all.String()))
	if got := r.Learned().String(more.String()); strings.Contains(got, "p0") || strings.Count(got, "<field:") != 20_000 {
		t.Errorf("%.100s…", got)
	}
}
