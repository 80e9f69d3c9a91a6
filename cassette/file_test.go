package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// reload encodes f as name says and reads that back.
func reload(t *testing.T, f *File, name string) *File {
	t.Helper()
	text := f.Encode(name)
	g, err := decodeFile(name, text)
	if err != nil {
		t.Fatalf("%s: cannot read what was written: %v\n%s", name, err, text)
	}
	if again := g.Encode(name); !bytes.Equal(again, text) {
		t.Fatalf("%s: written again it differs:\n%s\n---\n%s", name, text, again)
	}
	return g
}

// bothForms runs a test for each form of file.
func bothForms(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range []string{"a.json", "a.jsonl"} {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func chatCall(request, response string) *Interaction {
	return &Interaction{
		Kind: bus.KindLLM, Provider: "openai", Format: "openai.chat", Operation: "chat", Model: "gpt-5",
		Start: ms(12), Duration: ms(812), Ending: bus.EndingComplete,
		HTTP: &HTTPInteraction{
			Method: "POST", URL: "https://api.openai.com/v1/chat/completions",
			RequestHeader: http.Header{"Content-Type": {"application/json"}},
			Request:       Body{Bytes: []byte(request)},
			Status:        200, Proto: "HTTP/1.1",
			ResponseHeader: http.Header{"Content-Type": {"application/json"}},
			Response:       Body{Bytes: []byte(response)},
		},
	}
}

func TestInteractionsRoundTrip(t *testing.T) {
	stream := "event: a\ndata: {\"n\":1}\n\ndata: [DONE]\n\n"
	for _, test := range []struct {
		reason string
		in     *Interaction
	}{
		{"a plain call", chatCall(`{"model":"gpt-5","messages":[]}`, `{"id":"x"}`)},
		{"nothing but a kind", &Interaction{Kind: bus.KindHTTP, Ending: bus.EndingComplete, HTTP: &HTTPInteraction{RequestHeader: http.Header{}}}},
		{"no answer", &Interaction{
			Kind: bus.KindHTTP, Ending: bus.EndingError,
			Failure: &Failure{Text: "dial: refused", TimedOut: true, Chain: []core.ErrorLink{
				{Type: "*net.OpError", Text: "dial: refused"}, {Type: "syscall.Errno", Text: "refused"},
			}},
			HTTP: &HTTPInteraction{Method: "GET", URL: "https://example.com/", RequestHeader: http.Header{}},
		}},
		{"a retry", &Interaction{
			Kind: bus.KindLLM, Attempt: 0, Ending: bus.EndingComplete, Hidden: []string{"$.request.pin"},
			HTTP: &HTTPInteraction{
				RequestHeader: http.Header{"A": {"1", "2"}, "B": {}, "C": {""}, "D": {"caf\xe9"}},
				Status:        429, Proto: "HTTP/2.0", ResponseHeader: http.Header{"Retry-After": {"2"}},
				Response: Body{Bytes: []byte("slow"), Encoding: "gzip", WireLength: 24},
				Trailer:  http.Header{"Grpc-Status": {"0"}},
			},
		}},
		{"a stream", &Interaction{
			Kind: bus.KindLLM, Ending: bus.EndingClosedAfterTerminal,
			HTTP: &HTTPInteraction{
				RequestHeader: http.Header{}, ResponseHeader: http.Header{}, Status: 200, Proto: "HTTP/1.1", Streamed: true,
				Response: Body{Bytes: []byte(stream), Encoding: "br", WireLength: 3},
				Chunks:   []bus.Chunk{{At: ms(1), Len: 7}, {At: ms(1), Len: 0}, {At: ms(5), Len: len(stream) - 7}},
			},
		}},
		{"a body that is empty once its encoding is undone", &Interaction{
			Kind: bus.KindHTTP, Ending: bus.EndingComplete,
			HTTP: &HTTPInteraction{RequestHeader: http.Header{}, ResponseHeader: http.Header{}, Status: 200, Proto: "HTTP/1.1",
				Response: Body{Bytes: []byte{}, Encoding: "gzip", WireLength: 20}},
		}},
		{"a tool", &Interaction{
			Kind: bus.KindTool, Ending: bus.EndingComplete,
			Func: &FuncInteraction{Name: "refund", ID: "call_1", Arguments: []byte(`{"n": 9007199254740993}`), Result: []byte(`null`)},
		}},
		{"a tool that was given no JSON and failed", &Interaction{
			Kind: bus.KindTool, Ending: bus.EndingError, Failure: &Failure{Text: "bad \xff"},
			Func: &FuncInteraction{Name: "refund \xff", Arguments: []byte("{\"n\": \xff")},
		}},
		{"a function", &Interaction{
			Kind: bus.KindFunc, Ending: bus.EndingComplete,
			Func: &FuncInteraction{Name: "retrieval", Arguments: []byte(`"q"`), Result: []byte("[1,2,{\"a\":[]}]\n")},
		}},
		{"a function that was given half of a text", &Interaction{
			Kind: bus.KindFunc, Ending: bus.EndingComplete,
			Func: &FuncInteraction{Name: "retrieval", Arguments: []byte(`{"q`), Result: []byte("x")},
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bothForms(t, func(t *testing.T, name string) {
				f := &File{}
				f.Append(test.in)
				if got := reload(t, f, name).Interaction(0); !reflect.DeepEqual(got, test.in) {
					t.Errorf("got  %+v %+v\nwant %+v %+v", got, got.HTTP, test.in, test.in.HTTP)
				}
			})
		})
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	bothForms(t, func(t *testing.T, name string) {
		f := &File{
			Recorder: "mixtape v0.1.0", Rules: []string{"api_key", "email"},
			Summary: Summary{Calls: 3, Models: map[string]int{"gpt-5": 2, "o": 1}, Input: 10, Output: 5, Tools: map[string]int{"refund": 1}},
		}
		g := reload(t, f, name)
		if g.Recorder != f.Recorder || !reflect.DeepEqual(g.Rules, f.Rules) || !reflect.DeepEqual(g.Summary, f.Summary) || g.Len() != 0 {
			t.Errorf("got %+v, want %+v", g, f)
		}
	})
}

func TestUnknownMembersSurvive(t *testing.T) {
	const text = `{"format":"mixtape/1","new":{"a":[1,{"b":1e400}]},"summary":{"calls":1,"later":"x"},"interactions":[
		{"kind":"llm","u1":1,"request":{"u2":{"deep":[[]]},"method":"POST","body":{"json":{},"u3":null}},
		 "response":{"status":200,"u4":"\ud83d","stream":{"framing":"sse","u5":[],"events":[{"data":{}}]}},
		 "failure":{"text":"f","u6":true}},
		{"kind":"http","response":{"status":204,"body":{"text":"","u8":1}}},
		{"kind":"tool","name":"t","u7":"7"}]}`
	f, err := decodeFile("a.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	bothForms(t, func(t *testing.T, name string) {
		out := string(reload(t, f, name).Encode(name))
		for _, want := range []string{`"new"`, `1e400`, `"later"`, `"u1"`, `"u2"`, `"deep"`, `"u3"`, `"u4"`, `"\ud83d"`, `"u5"`, `"u6"`, `"u7"`, `"u8"`} {
			if !strings.Contains(out, want) {
				t.Errorf("%s was lost in\n%s", want, out)
			}
		}
	})
}

func TestLoadElsewhereWritten(t *testing.T) {
	const text = `{"format":"mixtape/1","interactions":[{"response":{"status":200,"body":{"text":"a\r\nb"}},"request":{"method":"GET"},"kind":"http"},
		{"request":[1],"kind":"func"},{"arguments":{"a":1},"kind":"tool"}]}`
	for _, test := range []struct{ reason, text string }{
		{"members in another order", text},
		{"a checkout with CRLF", strings.ReplaceAll(strings.ReplaceAll(text, ",", ",\n"), "\n", "\r\n")},
		{"a byte order mark", "\uFEFF" + text},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f, err := decodeFile("a.json", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(f.Interaction(0).HTTP.Response.Bytes); got != "a\r\nb" {
				t.Errorf("body = %q", got)
			}
			if got := string(f.Interaction(1).Func.Arguments); got != "[1]" {
				t.Errorf("request = %q", got)
			}
			if got := string(f.Interaction(2).Func.Arguments); got != `{"a":1}` {
				t.Errorf("arguments = %q", got)
			}
		})
	}
	lines := strings.ReplaceAll("{\"format\":\"mixtape/1\"}\n\n{\"kind\":\"tool\"}\n{\"kind\":\"func\"}", "\n", "\r\n")
	if f, err := decodeFile("a.jsonl", []byte(lines)); err != nil || f.Len() != 2 {
		t.Errorf("JSON Lines with CRLF: %v", err)
	}
}

func TestEqualButForTimes(t *testing.T) {
	base := func() *File {
		f := &File{Recorder: "a"}
		in := chatCall(`{}`, "data: 1\n\ndata: 2\n\n")
		in.HTTP.Streamed = true
		in.HTTP.Chunks = []bus.Chunk{{At: ms(1), Len: 18}}
		f.Append(in)
		return f
	}
	for _, test := range []struct {
		reason string
		change func(*File, *Interaction)
		want   bool
	}{
		{"nothing", func(*File, *Interaction) {}, true},
		{"who recorded", func(f *File, _ *Interaction) { f.Recorder = "b" }, true},
		{"start", func(_ *File, i *Interaction) { i.Start++; i.Start *= 2 }, true},
		{"duration", func(_ *File, i *Interaction) { i.Duration *= 2 }, true},
		{"cuts", func(_ *File, i *Interaction) { i.HTTP.Chunks = []bus.Chunk{{Len: 9}, {Len: 9}} }, true},
		{"a body", func(_ *File, i *Interaction) { i.HTTP.Request.Bytes = []byte(`{ }`) }, false},
		{"the ending", func(_ *File, i *Interaction) { i.Ending = bus.EndingError }, false},
		{"the rules", func(f *File, _ *Interaction) { f.Rules = []string{"email"} }, false},
		{"one more", func(f *File, i *Interaction) { f.Append(i) }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			a, b := base(), base()
			test.change(b, b.Interaction(0))
			if got := equalButForTimes(a, b); got != test.want {
				t.Errorf("got %v", got)
			}
			if got := equalButForTimes(reload(t, a, "a.jsonl"), reload(t, b, "b.json")); got != test.want {
				t.Errorf("after a round trip: got %v", got)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none.json")
	var fe *FileError
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &fe) || fe.Path != path || fe.Remedy == "" {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Load(dir); !errors.As(err, &fe) {
		t.Errorf("a folder: %v", err)
	}
	f := &File{}
	f.Append(chatCall("{}", "{}"))
	if err := os.WriteFile(path, f.Encode(path), 0o666); err != nil {
		t.Fatal(err)
	}
	if g, err := Load(path); err != nil || g.Len() != 1 {
		t.Errorf("%v", err)
	}
}

// TestFault117ManyInteractions: a file must not need more time or memory than its size explains.
func TestFault117ManyInteractions(t *testing.T) {
	f := &File{}
	for i := range 10_000 {
		f.Append(chatCall(fmt.Sprintf(`{"messages":[{"role":"user","content":"question %d"}]}`, i), `{"id":"x"}`))
	}
	bothForms(t, func(t *testing.T, name string) {
		g, err := decodeFile(name, f.Encode(name))
		if err != nil || g.Len() != 10_000 {
			t.Fatal(err)
		}
	})
}

// TestLaterMembers reads what a later version may have added: it is kept, or the error says that a later version may have
// written it.
func TestLaterMembers(t *testing.T) {
	for _, tc := range []struct{ reason, file, refused string }{
		{"of the tokens", `{"format":"mixtape/1","summary":{"calls":0,"tokens":{"input":0,"output":0,"later":[1]}},"interactions":[]}`, ""},
		{"of the summary", `{"format":"mixtape/1","summary":{"calls":0,"later":[1]},"interactions":[]}`, ""},
		{"of a failure", `{"format":"mixtape/1","interactions":[{"kind":"tool","failure":{"text":"","later":[1]}}]}`, ""},
		{"of an error in its chain", `{"format":"mixtape/1","interactions":[{"kind":"tool","failure":{"text":"","chain":[{"later":[1]}]}}]}`, "an error of failure.chain"},
		{"of an event", `{"format":"mixtape/1","interactions":[{"kind":"http","response":{"status":200,"stream":{"events":[{"later":[1]}]}}}]}`, "an event"},
		{"of a reference", string(cassetteOf(extending{json: `{"m":[1]}`}, extending{extends: `{"later":[1]}`, json: `{"m":[2]}`})), "request.body.extends"},
	} {
		f, err := decodeFile("a.json", []byte(tc.file))
		if tc.refused == "" {
			if err != nil {
				t.Errorf("a member %s: %v", tc.reason, err)
			} else if text := f.Encode("a.jsonl"); !bytes.Contains(text, []byte(`"later":[1]`)) {
				t.Errorf("a member %s is lost in\n%s", tc.reason, text)
			}
			continue
		}
		var fe *FileError
		if !errors.As(err, &fe) || fe.Remedy != remedyNewer || !strings.Contains(err.Error(), tc.refused+` has an unknown member "later"`) {
			t.Errorf("a member %s: the error is %v", tc.reason, err)
		}
	}
}
