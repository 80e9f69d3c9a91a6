package bus_test

import (
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// One publisher and three subscribers: the figure of the design is in events, each heard by all three.
func BenchmarkPublish3(b *testing.B) {
	on := bus.New()
	var n int
	for range 3 {
		bus.Subscribe(on, func(*bus.LLMCall) { n++ })
	}
	event := new(bus.LLMCall)
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(on, event)
	}
	if n != 3*b.N {
		b.Fatalf("%d callbacks for %d events", n, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// What a recorded test has: a session's bus with its recorder, below a bus with two subscribers.
func BenchmarkPublishToParent(b *testing.B) {
	parent := bus.New()
	on := bus.New(bus.Parent(parent))
	var n int
	bus.Subscribe(on, func(*bus.LLMCall) { n++ })
	bus.Subscribe(parent, func(*bus.LLMCall) { n++ })
	bus.Subscribe(parent, func(any) { n++ })
	event := new(bus.LLMCall)
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(on, event)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func BenchmarkPublishNobody(b *testing.B) {
	on := bus.New(bus.Parent(bus.New()))
	event := new(bus.LLMCall)
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(on, event)
	}
}

func BenchmarkPublishParallel(b *testing.B) {
	on := bus.New()
	for range 3 {
		bus.Subscribe(on, func(*bus.LLMCall) {})
	}
	event := new(bus.LLMCall)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			bus.Publish(on, event)
		}
	})
}

func BenchmarkActive(b *testing.B) {
	for _, bb := range []struct {
		name      string
		subscribe func(*bus.Bus)
	}{
		{"nobody", func(*bus.Bus) {}},
		{"heard", func(on *bus.Bus) { bus.Subscribe(on, func(*bus.LLMCall) {}) }},
		{"others heard", func(on *bus.Bus) { bus.Subscribe(on, func(*bus.ToolCall) {}) }},
		{"any heard", func(on *bus.Bus) { bus.Subscribe(on, func(any) {}) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			on := bus.New()
			bb.subscribe(on)
			b.ReportAllocs()
			for b.Loop() {
				bus.Active[*bus.LLMCall](on)
			}
		})
	}
}

func BenchmarkPublishAsync(b *testing.B) {
	on := bus.New()
	s := bus.SubscribeAsync(on, func(*bus.LLMCall) {}, bus.Block)
	event := new(bus.LLMCall)
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(on, event)
	}
	s.Close()
}
