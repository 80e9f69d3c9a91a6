package cassette

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestLayoutOf(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"as json.Marshal writes", `{"a":[1,2],"b":{}}`, "compact"},
		{"as json.Encoder writes", "{\"a\":1}\n", "compact newline"},
		{"as Python's json.dumps writes", `{"a": [1, 2], "b": {}}`, "spaced"},
		{"as Gemini's streams have it", `{"a": [1,2],"b": {}}`, "colon"},
		{"one member: both fit", `{"a": 1}`, "colon"},
		{"an array without objects", `[1, 2]`, "spaced"},
		{"indented by two", "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}", "indent 2"},
		{"as APIs answer", "{\n    \"a\": 1\n}\n", "indent 4 newline"},
		{"indented by tabs", "[\n\t[\n\t\t[]\n\t]\n]", "indent tab"},
		{"a scalar", `"x"`, "compact"},
		{"duplicate members", `{"a":1,"a":2}`, "compact"},
		{"a number past float64", `1e400`, "compact"},
		{"a lone surrogate", `"\ud800"`, "compact"},
		{"escapes as they were", `"\u003c\/\u00e9é"`, "compact"},
		{"mixed", `{"a": 1,"b":2}`, ""},
		{"space before", ` {}`, ""},
		{"space inside what is empty", `{ }`, ""},
		{"two line ends", "{}\n\n", ""},
		{"CRLF", "{\r\n  \"a\": 1\r\n}", ""},
		{"an indent too wide", "[\n          1\n]", ""},
		{"no JSON", `{"a":}`, ""},
		{"invalid UTF-8", "\"\xff\"", ""},
		{"as deep as can be", strings.Repeat("[", maxBodyDepth) + strings.Repeat("]", maxBodyDepth), "compact"},
		{"too deep", strings.Repeat("[", maxBodyDepth+1) + strings.Repeat("]", maxBodyDepth+1), ""},
		{"nothing", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			l, text, ok := layoutOf([]byte(test.text))
			if ok != (test.want != "") || ok && l.String() != test.want {
				t.Fatalf("layout %q, %v; want %q", l, ok, test.want)
			}
			if !ok {
				return
			}
			if again := l.append(nil, text); string(again) != test.text {
				t.Errorf("comes back as %q", again)
			}
			if named, known := layoutByName(l.String()); !known || named != l {
				t.Errorf("%q is not known by its name", l)
			}
		})
	}
}

func TestLayoutAgreesWithEncodingJSON(t *testing.T) {
	const text = `{"a":[1,[],{}],"b":{"c":"d"},"e":[{"f":null},true]}`
	for _, indent := range []string{" ", "  ", "    ", "\t"} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(text), "", indent); err != nil {
			t.Fatal(err)
		}
		if got := indented(indent).append(nil, []byte(text)); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("indent %q: got\n%s\nwant\n%s", indent, got, want.Bytes())
		}
	}
}

func TestLayoutByName(t *testing.T) {
	for _, name := range []string{"", "indent", "indent 0", "indent 9", "indent 10", "indent x", "newline", "compact newline newline", "Compact"} {
		if _, ok := layoutByName(name); ok {
			t.Errorf("%q is known", name)
		}
	}
}

func TestWhatFitsOnALine(t *testing.T) {
	long := strings.Repeat("x", 100)
	got := indented("  ").appendAt(nil, []byte(`{"numbers":[1,-2.5e3,`+strings.Repeat("1,", 50)+`1],"mixed":[1,"]}",true],"nested":[[1,2],[]],`+
		`"message":{"role":"user","content":"`+long+`\""},"two":["`+long+`","`+long+`"]}`), 0, true)
	want := `{
  "numbers": [1, -2.5e3, ` + strings.Repeat("1, ", 50) + `1],
  "mixed": [1, "]}", true],
  "nested": [
    [1, 2],
    []
  ],
  "message": {"role": "user", "content": "` + long + `\""},
  "two": [
    "` + long + `",
    "` + long + `"
  ]
}`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}
