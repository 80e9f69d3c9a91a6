package cassette

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// bodies are what bodies, streams, arguments and results must survive as.
var bodies = []struct {
	reason string
	bytes  string
	form   form // of a plain body
}{
	{"all byte values", string(allBytes()), formBase64},
	{"all byte values in JSON", `{"a":"` + string(allBytes()) + `"}`, formBase64},
	{"gzip", "\x1f\x8b\x08\x00", formBase64},
	{"cut UTF-8", "caf\xc3", formBase64},
	{"a surrogate in UTF-8", "\xed\xa0\x80", formBase64},
	{"a pair of surrogates in UTF-8", "\xed\xa0\xbd\xed\xb8\x80", formBase64},
	{"ASCII control characters", "a\x00b\x7fc\r\n\x1b[0m", formText},
	{"other line ends", "a\u0085b\u2028c", formText},
	{"CRLF inside text", "a\r\nb\r\n", formText},
	{"a byte order mark", "\uFEFF{}", formText},
	{"what looks like base64", "H4sIAAAA", formText},
	{"a form", "a=1&b=2", formText},
	{"mixed spacing", `{"a": 1,"b":2}`, formText},
	{"cut JSON", `{"a":`, formText},
	{"two JSON values", `{} {}`, formText},
	{"blanks", " ", formText},
	{"lone surrogates", `{"a":"\ud83d","b":"\udc00\ud800"}`, formJSON},
	{"escapes", `"\u003ca\u003e \/ \u00e9 é <"`, formJSON},
	{"numbers", `[1e400,-0,1.0,1,9007199254740993,1E+2]`, formJSON},
	{"duplicate members", `{"a":1,"a":2,"":3,"":4}`, formJSON},
	{"member order", `{"b":1,"a":2}`, formJSON},
	{"JSON in lines", "{\n  \"a\": [\n    1\n  ]\n}\n", formJSON},
	{"null", `null`, formJSON},
	{"a string", `"null"`, formJSON},
	{"as deep as can be", strings.Repeat(`[`, maxBodyDepth) + strings.Repeat(`]`, maxBodyDepth), formJSON},
	{"too deep", strings.Repeat(`{"a":[`, 500) + strings.Repeat(`]}`, 500), formText},
	{"deeper than any JSON", strings.Repeat(`[`, 100_000), formText},
	{"a conflict marker", "<<<<<<< HEAD\n=======\n>>>>>>> x\n", formText},
	{"long", strings.Repeat("0123456789abcdef", 50_000), formText},
	{"events", "data: {\"a\": 1}\n\ndata: [DONE]\n\n", formText},
	{"JSON lines", "{\"a\":1}\n{\"a\":2}\n", formText},
}

func TestFault37And39And67And97BodiesRoundTrip(t *testing.T) {
	for _, test := range bodies {
		t.Run(test.reason, func(t *testing.T) {
			b := []byte(test.bytes)
			if got := valueOf(b).form; got != test.form {
				t.Errorf("form %q, want %q", got, test.form)
			}
			checkRoundTrip(t, b)
		})
	}
}

// checkRoundTrip puts b everywhere that bytes stand in a cassette.
func checkRoundTrip(t *testing.T, b []byte) {
	t.Helper()
	plain, streamed := chatCall("", ""), chatCall("", "")
	plain.HTTP.Request.Bytes, plain.HTTP.Response.Bytes = b, b
	streamed.HTTP.Streamed, streamed.HTTP.Response.Bytes = true, b
	streamed.HTTP.Chunks = []bus.Chunk{{Len: len(b)}}
	plain.HTTP.URL = string(b)
	f := &File{}
	f.Append(plain)
	f.Append(streamed)
	f.Append(&Interaction{Kind: bus.KindTool, Ending: bus.EndingComplete, Failure: &Failure{Text: string(b)},
		Func: &FuncInteraction{Name: string(b), Arguments: b, Result: b}})
	for _, name := range []string{"a.json", "a.jsonl"} {
		g := reload(t, f, name)
		tool := g.Interaction(2)
		for where, got := range map[string][]byte{
			"request":   g.Interaction(0).HTTP.Request.Bytes,
			"response":  g.Interaction(0).HTTP.Response.Bytes,
			"stream":    g.Interaction(1).HTTP.Response.Bytes,
			"URL":       []byte(g.Interaction(0).HTTP.URL),
			"failure":   []byte(tool.Failure.Text),
			"name":      []byte(tool.Func.Name),
			"arguments": tool.Func.Arguments,
			"result":    tool.Func.Result,
		} {
			if !bytes.Equal(got, b) {
				t.Errorf("%s: %s came back as %q", name, where, got)
			}
		}
	}
}

func FuzzBodiesRoundTrip(f *testing.F) {
	for _, test := range bodies {
		if len(test.bytes) < 1000 {
			f.Add([]byte(test.bytes))
		}
	}
	for _, s := range streams {
		f.Add([]byte(s.stream))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkRoundTrip(t, b) })
}
