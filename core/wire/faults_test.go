package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

func mustFormat(t *testing.T, name string) Format {
	t.Helper()
	f, ok := ByName(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	return f
}

func text(r bus.DecodedResponse) string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[0].Text()
}

func TestFault12UnterminatedTail(t *testing.T) {
	f := mustFormat(t, "openai.chat")
	const first = `data: {"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n"
	for _, test := range []struct {
		reason, tail, finish string
		err                  error
	}{
		{"no newline", `data: {"choices":[{"finish_reason":"stop"}]}`, "stop", ErrUnterminated},
		{"one newline", `data: {"choices":[{"finish_reason":"stop"}]}` + "\n", "stop", ErrUnterminated},
		{"terminated", `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\n", "stop", nil},
		{"cut inside the JSON", `data: {"choices":[{"finish_re`, "", ErrUnterminated},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r, err := f.DecodeResponse([]byte(first+test.tail), 200, true)
			if !errors.Is(err, test.err) {
				t.Errorf("got error %v, want %v", err, test.err)
			}
			if text(r) != "Hi" || r.Messages[0].FinishReason != test.finish {
				t.Errorf("got %+v", r.Messages)
			}
		})
	}
}

// answers are one text by way of each format's stream.
var answers = map[string]func(text string) string{
	"openai.chat": func(text string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: [DONE]\n\n", text)
	},
	"openai.responses": func(text string) string {
		return fmt.Sprintf("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":%q}\n\n"+
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n", text)
	},
	"anthropic.messages": func(text string) string {
		return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n"+
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", text)
	},
}

func TestFault16LongDeltaInEveryFormat(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	for _, f := range formats() {
		answer := answers[f.Name()]
		if answer == nil {
			t.Errorf("%s has no answer here: add one", f.Name())
			continue
		}
		for end, want := range map[string]string{"\n": long, "\r\n": long[:70_000], "\r": long[:70_000]} {
			stream := []byte(strings.ReplaceAll(answer(want), "\n", end))
			r, err := f.DecodeResponse(stream, 200, true)
			if err != nil || text(r) != want {
				t.Errorf("%s, lines ending in %q: %d bytes of text, %v", f.Name(), end, len(text(r)), err)
			}
			if got := f.Ended(stream); got != Terminal {
				t.Errorf("%s, lines ending in %q: %s", f.Name(), end, progressNames[got])
			}
		}
	}
}

const anthropicHalf = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hal\"}}\n\n"

func TestFault17ErrorInsideStream(t *testing.T) {
	f := mustFormat(t, "anthropic.messages")
	stream := []byte(anthropicHalf + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n")
	r, err := f.DecodeResponse(stream, 200, true)
	if err != nil || string(r.Error) != `{"type":"overloaded_error"}` || text(r) != "Hal" {
		t.Errorf("got %+v, %v", r, err)
	}
	if f.Ended(stream) != Failed {
		t.Error("the stream did not count as failed")
	}
}

func TestFault19NoTerminalEvent(t *testing.T) {
	f := mustFormat(t, "anthropic.messages")
	if got := f.Ended([]byte(anthropicHalf)); got != Unfinished {
		t.Errorf("a stream without a terminal event is %s", progressNames[got])
	}
}

// No format here is NDJSON; what holds for its lines holds for the data of events.
func TestFault26EventSplitAnywhere(t *testing.T) {
	everyCut(t, []byte("data: {\"response\":\"hello\",\"done\":true}\n\n"))
}

func chatCalls(t *testing.T, deltas ...string) []bus.Part {
	t.Helper()
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":%s}}]}\n\n", d)
	}
	r, err := mustFormat(t, "openai.chat").DecodeResponse([]byte(b.String()), 200, true)
	if err != nil || len(r.Messages) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Messages[0].Parts
}

func TestFault74ToolCallIndexReuse(t *testing.T) {
	call := func(id, name, args string) bus.Part {
		return bus.ToolCallPart{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	tests := []struct {
		reason string
		deltas []string
		want   []bus.Part
	}{
		{"two ids under one index", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{\"a\":"}}]`,
			`[{"index":0,"function":{"arguments":"1}"}}]`,
			`[{"index":0,"id":"call_b","function":{"name":"g","arguments":"{}"}}]`,
		}, []bus.Part{call("call_a", "f", `{"a":1}`), call("call_b", "g", `{}`)}},
		{"no index at all", []string{
			`[{"id":"call_a","function":{"name":"f","arguments":"{}"}},{"id":"call_b","function":{"name":"f","arguments":"{}"}}]`,
		}, []bus.Part{call("call_a", "f", `{}`), call("call_b", "f", `{}`)}},
		{"one call in two entries of a chunk", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":""}},{"index":0,"function":{"arguments":"{}"}}]`,
		}, []bus.Part{call("call_a", "f", `{}`)}},
		{"the id and the name in each delta", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{"}}]`,
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":"}"}}]`,
		}, []bus.Part{call("call_a", "f", `{}`)}},
		{"ids that take turns", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{"}}]`,
			`[{"index":0,"id":"call_b","function":{"name":"g","arguments":"["}}]`,
			`[{"index":0,"id":"call_a","function":{"arguments":"}"}}]`,
			`[{"index":0,"function":{"arguments":" "}}]`,
			`[{"index":0,"id":"call_b","function":{"arguments":"]"}}]`,
		}, []bus.Part{call("call_a", "f", `{} `), call("call_b", "g", `[]`)}},
		{"an empty id continues", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{"}}]`,
			`[{"index":0,"id":"","function":{"name":null,"arguments":"}"}}]`,
		}, []bus.Part{call("call_a", "f", `{}`)}},
		{"the id comes late", []string{
			`[{"index":0,"function":{"name":"f","arguments":"{"}}]`,
			`[{"index":0,"id":"call_a","function":{"arguments":"}"}}]`,
		}, []bus.Part{call("call_a", "f", `{}`)}},
		{"arguments that are no string", []string{
			`[{"index":0,"id":"call_a","function":{"name":"f","arguments":{"a":1.0}}}]`,
		}, []bus.Part{call("call_a", "f", `{"a":1.0}`)}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := chatCalls(t, test.deltas...)
			same := func(a, b bus.Part) bool { return fmt.Sprintf("%s", a) == fmt.Sprintf("%s", b) }
			if !slices.EqualFunc(got, test.want, same) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestFault78CutStreamHasNoUsage(t *testing.T) {
	for name, stream := range map[string]string{
		"openai.chat":        "data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hal\"}}],\"usage\":null}\n\n",
		"openai.responses":   "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"output\":[],\"usage\":null}}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hal\"}\n\n",
		"anthropic.messages": anthropicHalf,
	} {
		f := mustFormat(t, name)
		r, err := f.DecodeResponse([]byte(stream), 200, true)
		if err != nil || text(r) != "Hal" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r.Usage != nil || r.Messages[0].FinishReason != "" {
			t.Errorf("%s: a cut stream has usage %+v and finish reason %q", name, r.Usage, r.Messages[0].FinishReason)
		}
		if f.Ended([]byte(stream)) != Unfinished {
			t.Errorf("%s: a cut stream counts as ended", name)
		}
	}
}

func TestFault79TerminalIsEnough(t *testing.T) {
	for _, f := range formats() {
		stream := []byte(answers[f.Name()]("Hi"))
		if got := f.Ended(stream); got != Terminal {
			t.Errorf("%s: %s", f.Name(), progressNames[got])
		}
		// The same without the empty line, as a reader may leave it.
		if got := f.Ended(stream[:len(stream)-2]); got != Terminal {
			t.Errorf("%s, unterminated: %s", f.Name(), progressNames[got])
		}
		if got := f.Ended(stream[:len(stream)-4]); got != Unfinished {
			t.Errorf("%s, cut inside the marker: %s", f.Name(), progressNames[got])
		}
	}
}

func TestFault111BodyDecidesBetweenStreamAndPlain(t *testing.T) {
	plain := map[string]string{
		"openai.chat":        `{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`,
		"openai.responses":   `{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}`,
		"anthropic.messages": `{"content":[{"type":"text","text":"Hi"}]}`,
	}
	for _, f := range formats() {
		for _, streamed := range []bool{false, true} {
			if r, err := f.DecodeResponse([]byte(plain[f.Name()]), 200, streamed); err != nil || text(r) != "Hi" {
				t.Errorf("%s: one body, streamed %v: %+v, %v", f.Name(), streamed, r, err)
			}
			if r, err := f.DecodeResponse([]byte(answers[f.Name()]("Hi")), 200, streamed); err != nil || text(r) != "Hi" {
				t.Errorf("%s: a stream, streamed %v: %+v, %v", f.Name(), streamed, r, err)
			}
		}
	}
}

func TestFault119NoUsageIsAbsent(t *testing.T) {
	for _, f := range formats() {
		r, err := f.DecodeResponse([]byte(answers[f.Name()]("Hi")), 200, true)
		if err != nil || r.Usage != nil {
			t.Errorf("%s: usage %+v, %v", f.Name(), r.Usage, err)
		}
	}
}

func TestEnded(t *testing.T) {
	tests := []struct {
		reason, format, stream string
		want                   Progress
	}{
		{"a finish reason is no end", "openai.chat", "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n", Unfinished},
		{"[DONE] after an error", "openai.chat", "data: {\"error\":{\"code\":1}}\n\ndata: [DONE]\n\n", Failed},
		{"an error long before [DONE]", "openai.chat", "data: {\"error\":{\"code\":1}}\n\n" + strings.Repeat("data: {}\n\n", 10) + "data: [DONE]\n\n", Failed},
		{"an error that is null", "openai.chat", "data: {\"error\":null}\n\ndata: [DONE]\n\n", Terminal},
		{"a text about errors", "openai.chat", "data: {\"choices\":[{\"delta\":{\"content\":\"say \\\"error\\\"\"}}],\"x\":\"error\"}\n\ndata: [DONE]\n\n", Terminal},
		{"[DONE] in a text", "openai.chat", "data: {\"choices\":[{\"delta\":{\"content\":\"data: [DONE]\\n\\n\"}}]}\n\n", Unfinished},
		{"a comment after [DONE]", "openai.chat", "data: [DONE]\n\n: bye\n\n: bye\n\n: bye\n\n: bye\n\n", Terminal},
		{"types without event fields", "openai.responses", "data: {\"type\":\"response.completed\"}\n\n", Terminal},
		{"an incomplete response", "openai.responses", "event: response.incomplete\ndata: {}\n\n", Terminal},
		{"a failed response", "openai.responses", "event: response.failed\ndata: {}\n\n", Failed},
		{"an error event", "openai.responses", "event: error\ndata: {\"type\":\"error\"}\n\n", Failed},
		{"a proxy's error", "openai.responses", "data: {\"error\":{\"message\":\"x\"}}\n\n", Failed},
		{"a name without data is no event", "anthropic.messages", "event: message_stop\n\n", Unfinished},
		{"types without event fields", "anthropic.messages", "data: {\"type\":\"message_stop\"}\n\n", Terminal},
	}
	for _, test := range tests {
		t.Run(test.format+"/"+test.reason, func(t *testing.T) {
			if got := mustFormat(t, test.format).Ended([]byte(test.stream)); got != test.want {
				t.Errorf("got %s, want %s", progressNames[got], progressNames[test.want])
			}
		})
	}
}

// Some servers cut characters at the borders of tokens. The SDKs show U+FFFD then, and so do we.
func TestBytesThatAreNotUTF8(t *testing.T) {
	f := mustFormat(t, "openai.chat")
	for _, body := range []string{
		"{\"choices\":[{\"message\":{\"content\":\"a\xff\xc3b\"}}]}",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xc3b\"}}]}\n\n",
		"\ufeff{\"choices\":[{\"message\":{\"content\":\"a\\ud83db\"}}]}",
	} {
		r, err := f.DecodeResponse([]byte(body), 200, false)
		if err != nil || text(r) != "a\ufffdb" {
			t.Errorf("%q: text %q, %v", body, text(r), err)
		}
	}
}
