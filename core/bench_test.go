package core_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

func BenchmarkRoundTrip(b *testing.B) {
	resp := respond(200, "application/json", http.NoBody)
	resp.Body = http.NoBody
	base := tripFunc(func(*http.Request) (*http.Response, error) { return resp, nil })
	heard := bus.New()
	bus.Subscribe(heard, func(*bus.LLMCall) {})
	for _, bm := range []struct {
		name string
		rt   http.RoundTripper
	}{
		{"bare", base},
		{"nobody listening", core.Transport(base, core.WithBus(bus.New(bus.Parent(bus.New()))))},
		{"listening", core.Transport(base, core.WithBus(heard))},
	} {
		b.Run(bm.name, func(b *testing.B) {
			req := chat(b.Context())
			b.ReportAllocs()
			for b.Loop() {
				req.Body = io.NopCloser(strings.NewReader(chatBody))
				if _, err := bm.rt.RoundTrip(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChunk reads streams of 1,000 chunks; one operation is one chunk.
func BenchmarkChunk(b *testing.B) {
	heard := bus.New()
	bus.Subscribe(heard, func(*bus.LLMCall) {})
	chunks := make([]string, 1000)
	for i := range chunks {
		chunks[i] = delta
	}
	for name, on := range map[string]*bus.Bus{"nobody listening": bus.New(), "recording": heard} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 4<<10)
			var body io.ReadCloser = http.NoBody
			b.ReportAllocs()
			for b.Loop() {
				if n, _ := body.Read(buf); n > 0 {
					continue
				}
				resp, err := core.Transport(tripFunc(func(*http.Request) (*http.Response, error) {
					resp := respond(200, "text/event-stream", nil)
					resp.Body = &pieces{left: append([]string(nil), chunks...), err: io.EOF}
					return resp, nil
				}), core.WithBus(on)).RoundTrip(chat(b.Context()))
				if err != nil {
					b.Fatal(err)
				}
				body = resp.Body
			}
		})
	}
}
