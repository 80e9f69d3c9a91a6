package cassette

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

func goldenFiles() map[string]*File {
	chat := fileOf(
		`{"model":"gpt-5","messages":[{"role":"user","content":"Is 1 < 2?"}],"max_tokens":9007199254740993}`,
		`{"model":"gpt-5","messages":[{"role":"user","content":"Is 1 < 2?"},{"role":"assistant","content":"Yes."},{"role":"user","content":"\u00dcber?"}]}`,
	)
	chat.Recorder, chat.Rules = "mixtape v0.1.0", []string{"api_key", "email"}
	chat.Summary = Summary{Calls: 2, Models: map[string]int{"gpt-5": 2}, Input: 10, Output: 5, Tools: map[string]int{"refund": 1}}
	chat.Interaction(0).HTTP.Response = Body{Bytes: []byte("{\n  \"id\": \"chatcmpl-1\",\n  \"embedding\": [\n    0.5,\n    -1e-7\n  ]\n}\n"), Encoding: "gzip", WireLength: 71}
	chat.Interaction(0).HTTP.Proto = "HTTP/2.0"
	chat.Interaction(0).HTTP.ResponseHeader = http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}, "X-Many": {"a", "b"}}

	stream := fileOf(`{"model":"gpt-5","messages":[],"stream":true}`)
	h := stream.Interaction(0).HTTP
	h.Streamed = true
	h.ResponseHeader = http.Header{"Content-Type": {"text/event-stream"}}
	h.Response.Bytes = []byte("event: message_start\ndata: {\"type\":\"message_start\"}\n\n: ping\n\ndata: [DONE]\n\ndata: {\"cut")
	h.Chunks = []bus.Chunk{{At: ms(120), Len: 60}, {At: ms(15_000), Len: len(h.Response.Bytes) - 60}}
	stream.Interaction(0).Ending = bus.EndingUpstreamAborted
	stream.Interaction(0).Failure = &Failure{Text: "unexpected EOF", Chain: []core.ErrorLink{{Type: "*errors.errorString", Text: "unexpected EOF"}}}

	retry := fileOf(`{"messages":[]}`, `{"messages":[]}`)
	first, second := retry.Interaction(0), retry.Interaction(1)
	first.HTTP.Status, first.HTTP.Response.Bytes = 0, nil
	first.Ending = bus.EndingError
	first.Failure = &Failure{Text: "dial tcp: i/o timeout", TimedOut: true}
	second.Attempt, second.Back = 1, 1

	tools := &File{}
	tools.Append(&Interaction{Kind: bus.KindTool, Ending: bus.EndingComplete, Start: ms(3), Duration: ms(1),
		Func: &FuncInteraction{Name: "refund", ID: "call_1", Arguments: []byte(`{"amount": 20, "currency": "EUR"}`), Result: []byte(`{"ok":true}`)}})
	tools.Append(&Interaction{Kind: bus.KindTool, Ending: bus.EndingError, Failure: &Failure{Text: "no such order"},
		Func: &FuncInteraction{Name: "refund", Arguments: []byte(`{"amount":`)}})
	tools.Append(&Interaction{Kind: bus.KindFunc, Ending: bus.EndingComplete, Hidden: []string{"$.request.pin"},
		Func: &FuncInteraction{Name: "retrieval", Arguments: []byte(`{"pin":1111}`), Result: []byte(`["a"]`)}})

	bodies := &File{}
	for _, b := range []string{"plain\r\ntext", "\x1f\x8b\x08\x00", "a=1&b=%20", "[[1,2],[3,4]]"} {
		in := chatCall("", b)
		in.Kind, in.Provider, in.Format, in.Operation, in.Model = bus.KindHTTP, "", "", "", ""
		in.HTTP.Trailer = http.Header{"Checksum": {"caf\xe9"}}
		bodies.Append(in)
	}
	return map[string]*File{"example": exampleFile(), "chat": chat, "stream": stream, "retry": retry, "tools": tools, "bodies": bodies, "empty": {}}
}

// exampleFile is the run that docs/file-format.md shows.
func exampleFile() *File {
	const question = `{"role":"user","content":"Refund order 7"}`
	const call = `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"refund","arguments":"{\"order\":7}"}}]}`
	f := fileOf(
		`{"model":"gpt-5","messages":[`+question+`]}`,
		`{"model":"gpt-5","messages":[`+question+`,`+call+`,{"role":"tool","tool_call_id":"call_1","content":"done"}],"stream":true}`,
	)
	first, second := f.Interaction(0), f.Interaction(1)
	first.HTTP.Response.Bytes = []byte(`{"choices":[{"message":` + call + `,"finish_reason":"tool_calls"}]}`)
	h := second.HTTP
	h.Streamed = true
	h.ResponseHeader = http.Header{"Content-Type": {"text/event-stream"}}
	h.Response.Bytes = []byte("data: {\"choices\":[{\"delta\":{\"content\":\"Refunded.\"}}]}\n\ndata: [DONE]\n\n")
	h.Chunks = []bus.Chunk{{At: ms(310), Len: 55}, {At: ms(322), Len: 14}}
	first.Start, first.Duration, second.Start, second.Duration = 0, ms(480), ms(483), ms(323)
	second.Ending = bus.EndingClosedAfterTerminal

	g := &File{Recorder: "mixtape v0.1.0", Rules: []string{"api_key", "email"},
		Summary: Summary{Calls: 2, Models: map[string]int{"gpt-5": 2}, Tools: map[string]int{"refund": 1}}}
	g.Append(first)
	g.Append(&Interaction{Kind: bus.KindTool, Ending: bus.EndingComplete, Start: ms(481), Duration: ms(1),
		Func: &FuncInteraction{Name: "refund", ID: "call_1", Arguments: []byte(`{"order":7}`), Result: []byte(`"done"`)}})
	g.Append(second)
	return g
}

// The files are the format: a change of one is a change of what others read.
func TestGoldenFiles(t *testing.T) {
	for name, f := range goldenFiles() {
		for _, ext := range []string{".json", ".jsonl"} {
			path := filepath.Join("testdata", "golden", name+ext)
			got := f.Encode(path)
			if *update {
				if err := os.WriteFile(path, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
			if !bytes.Equal(got, want) {
				t.Errorf("%s: got\n%s", path, got)
			}
			g, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !equalButForTimes(f, g) || !bytes.Equal(g.Encode(path), want) {
				t.Errorf("%s: read and written again it differs", path)
			}
		}
	}
}

func FuzzDecodeFile(f *testing.F) {
	for _, g := range goldenFiles() {
		f.Add(g.Encode("a.json"), false)
		f.Add(g.Encode("a.jsonl"), true)
	}
	f.Add(fileOf(turns(3)...).Encode("a.json"), false)
	for _, s := range []string{"", "[]", "\uFEFF{}", `{"format":"mixtape/1","interactions":[{"kind":"tool","u":[1,[2]],"kin\u0064":1}]}`} {
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, lines bool) {
		name := "a.json"
		if lines {
			name = "a.jsonl"
		}
		file, err := decodeFile(name, data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "cassette a.json") {
				t.Fatalf("%v", err)
			}
			return
		}
		again := reload(t, file, name)
		if !equalButForTimes(file, again) {
			t.Fatalf("written and read again it differs:\n%s", again.Encode(name))
		}
	})
}
