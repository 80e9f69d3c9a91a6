package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is what tests compare of an SSEEvent.
type event struct {
	Event, Data, ID string
	Comments        int
	Unterminated    bool
}

func toEvent(e SSEEvent) event {
	return event{e.Event, string(e.Data), e.ID, e.Comments, e.Unterminated}
}

func wholeEvents(stream []byte) []event {
	var list []event
	for e := range SSEEvents(stream) {
		list = append(list, toEvent(e))
	}
	return list
}

// fedEvents decodes pieces. Each piece is destroyed once it was fed.
func fedEvents(pieces ...[]byte) ([]event, *SSEDecoder) {
	var list []event
	var d SSEDecoder
	emit := func(e SSEEvent) { list = append(list, toEvent(e)) }
	for _, p := range pieces {
		p = bytes.Clone(p)
		d.Feed(p, emit)
		for i := range p {
			p[i] = 'x'
		}
	}
	d.End(emit)
	return list, &d
}

// referenceEvents is the rules in their own words: slow, and all in one place.
func referenceEvents(stream []byte) []event {
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var list []event
	var now event
	var data []string
	id := ""
	end := func(unterminated bool) {
		if data != nil {
			now.Data, now.ID, now.Unterminated = strings.Join(data, "\n"), id, unterminated
			list = append(list, now)
			now.Comments = 0
		}
		now.Event, data = "", nil
	}
	for i, line := range lines {
		cut := i == len(lines)-1
		if line == "" {
			end(cut)
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "":
			now.Comments++
		case name == "event":
			now.Event = value
		case name == "data":
			data = append(data, value)
		case name == "id" && !cut && !strings.Contains(value, "\x00"):
			id = value
		}
		if cut {
			end(true)
		}
	}
	return list
}

var streams = []struct {
	reason string
	stream string
	want   []event
}{
	{"nothing", "", nil},
	{"one event", "data: a\n\n", []event{{Data: "a"}}},
	{"no space after the colon", "data:a\n\n", []event{{Data: "a"}}},
	{"only one space is dropped", "data:  a\n\n", []event{{Data: " a"}}},
	{"several data lines", "data: a\ndata:\ndata: b\n\n", []event{{Data: "a\n\nb"}}},
	{"a field without a colon has an empty value", "data\n\n", []event{{}}},
	{"two such fields", "data\ndata\n\n", []event{{Data: "\n"}}},
	{"named event", "event: ping\ndata: {}\n\n", []event{{Event: "ping", Data: "{}"}}},
	{"the name does not last", "event: a\ndata: 1\n\ndata: 2\n\n", []event{{Event: "a", Data: "1"}, {Data: "2"}}},
	{"the last name of a block counts", "event: a\nevent: b\ndata: 1\n\n", []event{{Event: "b", Data: "1"}}},
	{"a block without data is no event", "event: a\n\ndata: 1\n\n", []event{{Data: "1"}}},
	{"an id lasts", "id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n", []event{{Data: "1", ID: "7"}, {Data: "2", ID: "7"}, {Data: "3"}}},
	{"an id with NUL is ignored", "id: 7\x00\ndata: 1\n\n", []event{{Data: "1"}}},
	{"unknown fields are ignored", "foo: bar\ndata: 1\nDATA: 2\n data: 3\n\n", []event{{Data: "1"}}},
	{"byte order mark", "\ufeffdata: a\n\n", []event{{Data: "a"}}},
	{"one byte order mark only", "\ufeff\ufeffdata: a\n\ndata: b\n\n", []event{{Data: "b"}}},
	{"a byte order mark later is none", "data: a\n\n\ufeffdata: b\n\n", []event{{Data: "a"}}},
	{"empty lines", "\n\n\r\n\r\rdata: a\n\n\n\n", []event{{Data: "a"}}},
	{"mixed line ends", "data: a\rdata: b\r\ndata: c\n\r\n", []event{{Data: "a\nb\nc"}}},
	{"CR, LF and CR are two line ends", "data: a\r\n\rdata: b\n\n", []event{{Data: "a"}, {Data: "b"}}},
	{"tail without an end of line", "data: a\n\ndata: b", []event{{Data: "a"}, {Data: "b", Unterminated: true}}},
	{"tail with one", "data: b\n", []event{{Data: "b", Unterminated: true}}},
	{"tail without data", "data: a\n\nevent: b", []event{{Data: "a"}}},
	{"a cut id is none", "data: a\nid: 1", []event{{Data: "a", Unterminated: true}}},
	{"comments", ": a\n:\ndata: 1\n: b\n\n: c\n\n", []event{{Data: "1", Comments: 3}}},
	{"values with colons", "data: {\"a\": 1}\n\n", []event{{Data: `{"a": 1}`}}},
	{"bytes that are not UTF-8", "data: \xff\x00\n\n", []event{{Data: "\xff\x00"}}},
}

func TestSSE(t *testing.T) {
	for _, test := range streams {
		t.Run(test.reason, func(t *testing.T) {
			if got := wholeEvents([]byte(test.stream)); !slices.Equal(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if got := referenceEvents([]byte(test.stream)); !slices.Equal(got, test.want) {
				t.Errorf("the reference says %+v, want %+v", got, test.want)
			}
			everyCut(t, []byte(test.stream))
		})
	}
}

// everyCut checks that the events do not depend on where the stream is cut.
func everyCut(t *testing.T, stream []byte) {
	t.Helper()
	want := wholeEvents(stream)
	for i := range stream {
		for j := i; j <= len(stream); j++ {
			if got, _ := fedEvents(stream[:i], stream[i:j], stream[j:]); !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d: got %+v, want %+v", i, j, got, want)
			}
		}
	}
	single := make([][]byte, len(stream))
	for i := range stream {
		single[i] = stream[i : i+1]
	}
	if got, _ := fedEvents(single...); !slices.Equal(got, want) {
		t.Fatalf("byte by byte: got %+v, want %+v", got, want)
	}
}

func TestSSEStopsWhenAsked(t *testing.T) {
	n := 0
	for range SSEEvents([]byte("data: 1\n\ndata: 2\n\ndata: 3")) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("saw %d events after a break at 2", n)
	}
}

func TestFault01Comment(t *testing.T) {
	got, d := fedEvents([]byte(": WAIT\n\ndata: {\"id\":\"a\",\"choices\":[]}\n\n"))
	if len(got) != 1 || got[0].Comments != 1 || d.Comments() != 1 {
		t.Errorf("got %+v with %d comments, want 1 event and 1 comment", got, d.Comments())
	}
}

func TestFault02CommentBetweenEvents(t *testing.T) {
	got, _ := fedEvents([]byte("data: 1\n\ndata: 2\n\ndata: 3\n\n: ping\n\ndata: 4\n\n"))
	if len(got) != 4 || got[3].Comments != 1 || got[2].Comments != 0 {
		t.Errorf("got %+v, want 4 events, the ping before the last", got)
	}
}

func TestFault04RetryOnlyBlock(t *testing.T) {
	got, d := fedEvents([]byte("retry: 3000\n\nid: 5\n\ndata: {\"n\":1}\n\n"))
	if !slices.Equal(got, []event{{Data: `{"n":1}`, ID: "5"}}) {
		t.Errorf("got %+v", got)
	}
	if d.Retry() != 3*time.Second || d.LastID() != "5" {
		t.Errorf("retry %v, id %q", d.Retry(), d.LastID())
	}
	for _, bad := range []string{"retry: 3 s", "retry:", "retry: -1", "retry: 99999999999999999999"} {
		if _, d := fedEvents([]byte(bad + "\n\n")); d.Retry() != 0 {
			t.Errorf("%q gave %v", bad, d.Retry())
		}
	}
}

func TestFault06CRLFSplit(t *testing.T) {
	got, _ := fedEvents([]byte("data: a\r"), []byte("\ndata: b\r\n\r\n"))
	if !slices.Equal(got, []event{{Data: "a\nb"}}) {
		t.Errorf("got %+v", got)
	}
	everyCut(t, []byte("event: x\r\ndata: a\r\ndata: b\r\n\r\n: c\r\n\r\ndata: d\r\n\r\n"))
}

func TestFault08CRLFOnly(t *testing.T) {
	stream := []byte("data: {\"n\":1}\r\n\r\ndata: {\"n\":2}\r\n\r\n")
	if got := wholeEvents(stream); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
	for _, f := range formats() { // no events in a stream that is not empty are never silent
		if _, err := f.DecodeResponse([]byte(": hello\n\n"), 200, true); err == nil {
			t.Errorf("%s: a stream without events gave no error", f.Name())
		}
	}
}

func TestFault09LoneCR(t *testing.T) {
	if got := wholeEvents([]byte("data: 1\r\rdata: 2\r\r")); !slices.Equal(got, []event{{Data: "1"}, {Data: "2"}}) {
		t.Errorf("got %+v", got)
	}
}

func TestFault11EventAndDataInDifferentReads(t *testing.T) {
	got, _ := fedEvents([]byte("event: delta\n"), []byte("data: {}\n\n"))
	if !slices.Equal(got, []event{{Event: "delta", Data: "{}"}}) {
		t.Errorf("got %+v", got)
	}
}

func TestFault14LongLine(t *testing.T) {
	long := strings.Repeat("x", 33<<20)
	stream := []byte("data: " + long + "\n\ndata: 2\n\n")
	if got := wholeEvents(stream); len(got) != 2 || got[0].Data != long {
		t.Error("the long line was not yielded whole")
	}
	got, _ := fedEvents(slices.Collect(slices.Chunk(stream, 32<<10))...)
	if len(got) != 2 || got[0].Data != long {
		t.Error("the long line was not yielded whole from pieces")
	}
}

// The work for a stream grows with its length, whatever its lines are like.
func TestSSEAllocatesInProportion(t *testing.T) {
	for _, line := range []string{"data: x\r", "data: x\n", ":\r", "\r", "data: x\r\r"} {
		stream := []byte(strings.Repeat(line, 1<<20/len(line)))
		var size int
		allocs := testing.AllocsPerRun(1, func() {
			for e := range SSEEvents(stream) {
				size += len(e.Data)
			}
		})
		if allocs > 64 {
			t.Errorf("a stream of %q: %v allocations", line, allocs)
		}
	}
}

func FuzzSSE(f *testing.F) {
	for _, test := range streams {
		f.Add([]byte(test.stream), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		before := bytes.Clone(stream)
		want := referenceEvents(stream)
		if got := wholeEvents(stream); !slices.Equal(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		random := rand.New(rand.NewPCG(seed, 0))
		var pieces [][]byte
		for rest := stream; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got, _ := fedEvents(pieces...); !slices.Equal(got, want) {
			t.Fatalf("cut into %d pieces: got %+v, want %+v", len(pieces), got, want)
		}
		if !bytes.Equal(before, stream) {
			t.Fatal("the stream was written to")
		}
	})
}

func ExampleSSEEvents() {
	stream := "event: ping\ndata: {}\n\n: keep-alive\n\ndata: one\ndata: two\n\ndata: cut"
	for e := range SSEEvents([]byte(stream)) {
		fmt.Printf("%q %q unterminated=%v\n", e.Event, e.Data, e.Unterminated)
	}
	// Output:
	// "ping" "{}" unterminated=false
	// "" "one\ntwo" unterminated=false
	// "" "cut" unterminated=true
}

func BenchmarkSSE(b *testing.B) {
	chunk := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}` + "\n\n"
	stream := []byte(strings.Repeat(chunk, 1000))
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		for b.Loop() {
			for range SSEEvents(stream) {
			}
		}
	})
	b.Run("pieces", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		for b.Loop() {
			var d SSEDecoder
			for piece := range slices.Chunk(stream, 4<<10) {
				d.Feed(piece, func(SSEEvent) {})
			}
		}
	})
}
