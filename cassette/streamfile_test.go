package cassette

import (
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// streams are streams of every shape, with how a file shows their events: "name value" for each field, "|" between the
// fields of one event. No framing: the file shows text or base64.
var streams = []struct {
	reason, stream string
	framing        string
	events         []string
}{
	{"events of chat completions", "data: {\"a\":1}\n\ndata: [DONE]\n\n", framingSSE, []string{`data {"a":1}`, "text [DONE]"}},
	{"named events", "event: delta\nid: 7\ndata: {}\n\n", framingSSE, []string{"event delta|id 7|data {}"}},
	{"JSON with spaces, as Python writes it", "data: {\"a\": 1, \"b\": 2}\n\n", framingSSE, []string{`data {"a": 1, "b": 2}`}},
	{"no space after the colon", "data:{\"a\":1}\n\ndata:[DONE]\n\n", framingSSE, []string{`data {"a":1}`, "text [DONE]"}},
	{"CRLF", "data: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n", framingSSE, []string{`data {"a":1}`, "text [DONE]"}},
	{"lone CR", "data: {\"a\":1}\r\rdata: x\r\r", framingSSE, []string{`data {"a":1}`, "text x"}},
	{"several lines of data", "data: a\ndata: b\n\n", framingSSE, []string{"text a\nb"}},
	{"a comment and a retry", ": ping\n\nretry: 3000\n\ndata: 1\n\n", framingSSE, []string{"comment ping", "retry 3000", "data 1"}},
	{"an unterminated tail", "data: 1\n\ndata: {\"cut", framingSSE, []string{"data 1", "raw data: {\"cut"}},
	{"one newline at the end", "data: 1\n\ndata: 2\n", framingSSE, []string{"data 1", "raw data: 2\n"}},
	{"a field without a colon", "data: 1\n\ndata\n\n", framingSSE, []string{"data 1", "raw data\n\n"}},
	{"a blank line too many", "data: 1\n\n\ndata: 2\n\n", framingSSE, []string{"data 1", "raw \n", "data 2"}},
	{"other line ends in between", "data: 1\n\ndata: 2\r\n\r\ndata: 3\n\n", framingSSE, []string{"data 1", "raw data: 2\r\n\r\n", "data 3"}},
	{"lines of JSON", "{\"a\":1}\n{\"done\":true}\n", framingNDJSON, []string{`data {"a":1}`, `data {"done":true}`}},
	{"lines of JSON, cut", "{\"a\":1}\n{\"do", framingNDJSON, []string{`data {"a":1}`, `raw {"do`}},
	{"text", "hello\nworld\n", "", nil},
	{"bytes that are no text", "data: \xff\n\n", "", nil},
	{"nothing", "", "", nil},
}

func TestStreamsShowTheirEvents(t *testing.T) {
	for _, test := range streams {
		t.Run(test.reason, func(t *testing.T) {
			f, events, ok := split([]byte(test.stream))
			if !ok {
				f.kind = ""
			}
			if f.kind != test.framing {
				t.Fatalf("framing %q, want %q", f.kind, test.framing)
			}
			var got []string
			var again []byte
			for _, e := range events {
				var fields []string
				for _, fd := range e {
					fields = append(fields, fd.name+" "+string(fd.value))
				}
				got = append(got, strings.Join(fields, "|"))
				again = f.appendEvent(again, e)
			}
			if ok && !slices.Equal(got, test.events) {
				t.Errorf("events %q, want %q", got, test.events)
			}
			if ok && string(again) != test.stream {
				t.Errorf("framed again %q, want %q", again, test.stream)
			}
			checkRoundTrip(t, []byte(test.stream))
		})
	}
}

// TestFault12TailsOfStreams keeps the exact tail of a stream, and where it was cut.
func TestFault12TailsOfStreams(t *testing.T) {
	for _, tail := range []string{"", "\n", "\n\n"} {
		stream := "data: {\"a\":1}\n\ndata: {\"finish_reason\":\"stop\"}" + tail
		in := chatCall("", stream)
		in.HTTP.Streamed = true
		in.HTTP.Chunks = []bus.Chunk{{At: ms(1), Len: 5}, {At: ms(2), Len: len(stream) - 5}}
		f := &File{}
		f.Append(in)
		got := reload(t, f, "a.json").Interaction(0).HTTP
		if string(got.Response.Bytes) != stream || !slices.Equal(got.Chunks, in.HTTP.Chunks) {
			t.Errorf("%q came back as %q in %v", stream, got.Response.Bytes, got.Chunks)
		}
	}
}
