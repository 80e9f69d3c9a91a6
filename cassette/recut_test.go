package cassette_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/wire"
)

// TestFault11Recut replays a stream, whose event came apart from its data, in other pieces for each seed.
func TestFault11Recut(t *testing.T) {
	server := serve(t, 200, "text/event-stream", "event: delta\n", "data: {\"a\":\"", strings.Repeat("é", 100)+"\"}\r", "\n\r\ndata: [DONE]\n\n")
	client := core.Instrument(server.Client())
	dir := folder(t)
	use := func(name string, opts ...cassette.Option) view {
		f := newT(t, name)
		s := cassette.Use(f, "a.json", append(opts, cassette.Dir(dir))...)
		v := server.consume(s.Context(t.Context()), client, toEnd)
		f.end().wantPass()
		return v
	}
	live := use("TestRecords", cassette.Record)
	server.Close()

	events := func(reads []string) (list []string) {
		var d wire.SSEDecoder
		emit := func(e wire.SSEEvent) { list = append(list, e.Event+":"+string(e.Data)) }
		for _, r := range reads {
			d.Feed([]byte(r), emit)
		}
		d.End(emit)
		return list
	}
	var cuts [][]string
	for seed := range uint64(50) {
		v := use("TestRecut", cassette.Replay, cassette.Recut(seed))
		if !slices.Equal(joined(v.reads), joined(live.reads)) || v.end != live.end {
			t.Fatalf("seed %d gives other bytes: %q, %s", seed, v.reads, v.end)
		}
		if !slices.Equal(events(v.reads), events(live.reads)) {
			t.Errorf("seed %d gives other events: %q", seed, v.reads)
		}
		if again := use("TestAgain", cassette.Replay, cassette.Recut(seed)); !slices.Equal(again.reads, v.reads) {
			t.Errorf("seed %d cuts otherwise the second time", seed)
		}
		if slices.ContainsFunc(cuts, func(c []string) bool { return slices.Equal(c, v.reads) }) || slices.Equal(v.reads, live.reads) {
			t.Errorf("seed %d cuts as another does: %q", seed, v.reads)
		}
		cuts = append(cuts, v.reads)
	}
	f := newT(t, "TestTwoSeeds")
	cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Recut(1), cassette.Recut(2))
	f.end().wantError("two seeds are given with Recut")
}
