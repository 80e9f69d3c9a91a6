package jsonlex

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValid(t *testing.T) {
	for _, tc := range []struct {
		in     string
		want   bool
		reason string
	}{
		{`{"a":[1,2,{"b":null}],"c":"\u00e9"}`, true, "every kind of value"},
		{` [ ] `, true, "space outside"},
		{`1e400`, true, "a number beyond float64"},
		{`-0`, true, "minus zero"},
		{`"\ud83d"`, true, "a lone surrogate in an escape"},
		{``, false, "no value"},
		{`{"a":1,}`, false, "a comma too many in an object"},
		{`[1,]`, false, "a comma too many in an array"},
		{`[1 2]`, false, "a comma missing"},
		{`{"a" 1}`, false, "a colon missing"},
		{`{1:2}`, false, "a name that is no string"},
		{`01`, false, "a leading zero"},
		{`1.`, false, "no digit after the point"},
		{`-`, false, "no digit at all"},
		{`"a`, false, "an open string"},
		{"\"a\nb\"", false, "a raw control character"},
		{`"\x"`, false, "an unknown escape"},
		{`"\u12"`, false, "a cut escape"},
		{"\"\xff\"", false, "invalid UTF-8"},
		{`[1}`, false, "the wrong bracket"},
		{`1 2`, false, "two values"},
		{`tru`, false, "a cut literal"},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true, "as deep as allowed"},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false, "one deeper"},
	} {
		if got := Valid([]byte(tc.in)); got != tc.want {
			t.Errorf("Valid(%.40q) = %v, want %v: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

func TestUnquoteKeepsTextsApart(t *testing.T) {
	for _, tc := range []struct{ raw, want, reason string }{
		{`"a\n\"\\\/\u0041"`, "a\n\"\\/A", "simple escapes"},
		{`"\ud83d\ude00"`, "😀", "a pair of surrogates"},
		{`"\ud83d"`, "\xed\xa0\xbd", "a lone high surrogate"},
		{`"\ude00x"`, "\xed\xb8\x80x", "a lone low surrogate"},
		{`"\ud83d\u0041"`, "\xed\xa0\xbdA", "a high surrogate before another letter"},
		{`"\ufffd"`, "\uFFFD", "the replacement character is itself"},
	} {
		got := AppendUnquoted(nil, []byte(tc.raw))
		if string(got) != tc.want {
			t.Errorf("AppendUnquoted(%s) = %q, want %q: %s", tc.raw, got, tc.want, tc.reason)
		}
		if again := AppendUnquoted(nil, AppendQuoted(nil, got)); !bytes.Equal(again, got) {
			t.Errorf("%s: quoted and unquoted again: %q, want %q", tc.reason, again, got)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"x\u00e9\ud800"],"b":{}}`, `[`, `"\u`, "\"\xed\xa0\x80\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ok := Valid(data)
		if ok && !json.Valid(data) {
			t.Fatalf("accepted what encoding/json refuses: %q", data)
		}
		if !ok && json.Valid(data) && utf8.Valid(data) && bytes.Count(data, []byte("[")) < MaxDepth && bytes.Count(data, []byte("{")) < MaxDepth {
			t.Fatalf("refused what encoding/json accepts: %q", data)
		}
		if !ok {
			return
		}
		s := New(data)
		for {
			switch k := s.Next(); k {
			case End:
				return
			case String, Name:
				text := AppendUnquoted(nil, s.Raw())
				if again := AppendUnquoted(nil, AppendQuoted(nil, text)); !bytes.Equal(again, text) {
					t.Fatalf("%q became %q", text, again)
				}
			}
		}
	})
}
