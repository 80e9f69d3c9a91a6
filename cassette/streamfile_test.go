package cassette

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// streams and how they stand in a file.
var streams = []struct{ reason, stream, want string }{
	{"the usual", "event: a\ndata: {\"n\":1}\n\ndata: [DONE]\n\n",
		`"framing":"sse","events":[{"event":"a","data":{"n":1}},{"text":"[DONE]"}]`},
	{"all fields, in the order of their lines", "id: 7\nretry: 3000\nevent: a\n: c\ndata: x\n\n",
		`"framing":"sse","events":[{"id":"7","retry":"3000","event":"a","comment":"c","text":"x"}]`},
	{"a comment alone", ": ping\n\ndata: 1\n\n",
		`"framing":"sse","events":[{"comment":"ping"},{"data":1}]`},
	{"several lines of data", "data: a\ndata: \ndata: b\n\n",
		`"framing":"sse","events":[{"text":"a\n\nb"}]`},
	{"CRLF", "data: {}\r\n\r\ndata: x\r\n\r\n",
		`"framing":"sse","eol":"crlf","events":[{"data":{}},{"text":"x"}]`},
	{"CR", "data: 1\r\rdata: 2\r\r",
		`"framing":"sse","eol":"cr","events":[{"data":1},{"data":2}]`},
	{"no space after the colon", "data:{\"a\":1}\n\n",
		`"framing":"sse","tight":true,"events":[{"data":{"a":1}}]`},
	{"spaced JSON", "data: {\"a\": 1, \"b\": 2}\n\ndata: {}\n\n",
		`"framing":"sse","layout":"spaced","events":[{"data":{"a":1,"b":2}},{"data":{}}]`},
	{"as Gemini streams", "data: {\"a\": [1,2],\"b\": 2}\r\n\r\n",
		`"framing":"sse","eol":"crlf","layout":"colon","events":[{"data":{"a":[1,2],"b":2}}]`},
	{"JSON in another layout than the rest", "data: {\"a\":1}\n\ndata: {\"a\": 1}\n\ndata: {\"b\":1}\n\n",
		`"framing":"sse","layout":"colon","events":[{"text":"{\"a\":1}"},{"data":{"a":1}},{"text":"{\"b\":1}"}]`},
	{"a tail without its blank line", "data: 1\n\ndata: 2\n",
		`"framing":"sse","events":[{"data":1},{"raw":"data: 2\n"}]`},
	{"a tail without its line end", "data: 1\n\ndata: {\"a",
		`"framing":"sse","events":[{"data":1},{"raw":"data: {\"a"}]`},
	{"nothing but a tail", "data: 1",
		`"text":"data: 1"`},
	{"blank lines too many", "data: 1\n\n\n\ndata: 2\n\n",
		`"framing":"sse","events":[{"data":1},{"raw":"\n"},{"raw":"\n"},{"data":2}]`},
	{"line ends of another kind", "data: 1\n\ndata: 2\r\n\r\ndata: 3\n\n",
		`"framing":"sse","events":[{"data":1},{"raw":"data: 2\r\n\r\n"},{"data":3}]`},
	{"a byte order mark", "\uFEFFdata: 1\n\ndata: 2\n\n",
		`"framing":"sse","events":[{"raw":"` + "\uFEFF" + `data: 1\n\n"},{"data":2}]`},
	{"a field that nobody knows, one without a colon, one twice", "x: 1\n\ndata\n\nid: 1\nid: 2\n\ndata: 1\n\n",
		`"framing":"sse","events":[{"raw":"x: 1\n\n"},{"raw":"data\n\n"},{"raw":"id: 1\nid: 2\n\n"},{"data":1}]`},
	{"data in two places", "data: 1\nid: 2\ndata: 3\n\ndata: 4\n\n",
		`"framing":"sse","events":[{"raw":"data: 1\nid: 2\ndata: 3\n\n"},{"data":4}]`},
	{"more spaces than one", "data:  x\n\n",
		`"framing":"sse","events":[{"text":" x"}]`},
	{"JSON lines", "{\"a\":1}\n{\"a\":2}\n",
		`"framing":"ndjson","events":[{"data":{"a":1}},{"data":{"a":2}}]`},
	{"JSON lines with CRLF, spaced", "{\"a\": 1, \"b\": 2}\r\n{}\r\n",
		`"framing":"ndjson","eol":"crlf","layout":"spaced","events":[{"data":{"a":1,"b":2}},{"data":{}}]`},
	{"JSON lines with a cut one", "{\"a\":1}\n\nx\n{\"a\":",
		`"framing":"ndjson","events":[{"data":{"a":1}},{"raw":"\n"},{"raw":"x\n"},{"raw":"{\"a\":"}]`},
	{"one JSON value", "[\n  1,\n  2\n]", `"json":[1,2],"layout":"indent 2"`},
	{"text", "hello\nworld\n", `"text":"hello\nworld\n"`},
	{"an error page", "<html>\n\nx</html>\n", `"text":"<html>\n\nx</html>\n"`},
	{"binary frames", "\x00\x00\x00\x4a\xff", `"base64":"AAAASv8="`},
	{"bytes that are no text", "data: \xff\n\n", `"base64":"ZGF0YTog/woK"`},
	{"nothing", "", `"text":""`},
}

func TestStreams(t *testing.T) {
	for _, test := range streams {
		t.Run(test.reason, func(t *testing.T) {
			p := &printer{first: true}
			p.stream(Body{Bytes: []byte(test.stream)}, nil)
			if got, want := string(p.buf), `"stream":{`+test.want+`}`; got != want {
				t.Errorf("stands as\n%s\nwant\n%s", got, want)
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

// An event larger than any line buffer, a block with many lines and many blocks are streams like others.
func TestLargeStreams(t *testing.T) {
	checkRoundTrip(t, []byte("data: \""+strings.Repeat("x", 1<<20)+"\"\n\n"))
	checkRoundTrip(t, []byte(strings.Repeat("data: x\n", 50_000)+"\n"))
	checkRoundTrip(t, append([]byte("data: 1\n\n"), bytes.Repeat([]byte("\n"), 20_000)...))
}

func TestStreamEditedByHand(t *testing.T) {
	const head = `{"format":"mixtape/1","interactions":[{"kind":"http","response":{"status":200,"stream":{`
	for _, test := range []struct {
		reason, stream string
		want           string
		chunks         []bus.Chunk
	}{
		{"cuts that add up", `"events":[{"data":1},{"data":2}],"times":[5,6],"cuts":[3,15]`,
			"data: 1\n\ndata: 2\n\n", []bus.Chunk{{At: ms(5), Len: 3}, {At: ms(6), Len: 15}}},
		{"an event that grew", `"events":[{"data":1},{"data":[2]}],"times":[5,6],"cuts":[3,15]`,
			"data: 1\n\ndata: [2]\n\n", []bus.Chunk{{At: ms(5), Len: 9}, {At: ms(6), Len: 11}}},
		{"an event that was added", `"events":[{"data":1},{"data":2},{"data":3}],"times":[5,6],"cuts":[9,9]`,
			"data: 1\n\ndata: 2\n\ndata: 3\n\n", []bus.Chunk{{At: ms(5), Len: 9}, {At: ms(6), Len: 9}, {At: ms(6), Len: 9}}},
		{"no cuts at all", `"events":[{"data":1},{"raw":"x"}]`,
			"data: 1\n\nx", []bus.Chunk{{Len: 9}, {Len: 1}}},
		{"a time without its cut", `"events":[{"data":1}],"times":[1,2],"cuts":[9]`,
			"data: 1\n\n", []bus.Chunk{{At: ms(1), Len: 9}}},
		{"lines of JSON", `"framing":"ndjson","events":[{"data":{ "a" : 1 }},{"data":2}]`,
			"{\"a\":1}\n2\n", []bus.Chunk{{Len: 8}, {Len: 2}}},
		{"text instead of events", `"text":"data: x\n\ny"`,
			"data: x\n\ny", []bus.Chunk{{Len: 9}, {Len: 1}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f, err := decodeFile("a.json", []byte(head+test.stream+`}}}]}`))
			if err != nil {
				t.Fatal(err)
			}
			h := f.Interaction(0).HTTP
			if string(h.Response.Bytes) != test.want {
				t.Errorf("stream = %q, want %q", h.Response.Bytes, test.want)
			}
			if !slices.Equal(h.Chunks, test.chunks) {
				t.Errorf("chunks = %v, want %v", h.Chunks, test.chunks)
			}
		})
	}
}
