package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// nobodyListens is what a program in production has, a transport on a bus without subscribers. Package cassette is linked
// here, and asked whose each call is; the benchmarks of package core measure without it.
func nobodyListens(base http.RoundTripper) http.RoundTripper {
	return core.Transport(base, core.WithBus(bus.New()))
}

// someoneListens is a transport on a bus with a subscriber that asks for nothing.
func someoneListens(base http.RoundTripper) http.RoundTripper {
	on := bus.New()
	bus.Subscribe(on, func(*bus.LLMCall) {})
	return core.Transport(base, core.WithBus(on))
}

func asItIs(rt http.RoundTripper) http.RoundTripper { return rt }

// publish publishes an event to three subscribers.
func publish(b *testing.B) error {
	on := bus.New()
	heard := 0
	for range 3 {
		bus.Subscribe(on, func(*bus.LLMCall) { heard++ })
	}
	event := new(bus.LLMCall)
	for b.Loop() {
		bus.Publish(on, event)
	}
	return wantHeard(b, heard)
}

// callDirectly calls three functions, one after the other.
func callDirectly(b *testing.B) error {
	heard := 0
	var list []func(*bus.LLMCall)
	for range 3 {
		list = append(list, func(*bus.LLMCall) { heard++ })
	}
	event := new(bus.LLMCall)
	for b.Loop() {
		for _, fn := range list {
			fn(event)
		}
	}
	return wantHeard(b, heard)
}

// tripWith makes round trips whose answers have no body, so that nothing but the trip is measured.
func tripWith(instrument func(http.RoundTripper) http.RoundTripper) work {
	return func(b *testing.B) error {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {typeJSON}}, Body: http.NoBody}
		transport := instrument(tripFunc(func(*http.Request) (*http.Response, error) { return resp, nil }))
		x := calls(1)[0]
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address, http.NoBody)
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", typeJSON)
		for b.Loop() {
			req.Body = io.NopCloser(bytes.NewReader(x.request))
			if _, err := transport.RoundTrip(req); err != nil {
				return err
			}
		}
		return nil
	}
}

type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// streamWith reads streams that come an event at a time.
func (l *lab) streamWith(instrument func(http.RoundTripper) http.RoundTripper) work {
	return func(b *testing.B) error {
		x := streamed(l.sizes.chunks)
		c, err := newCaller(instrument(&memory{list: []exchange{x}}))
		if err != nil {
			return err
		}
		for b.Loop() {
			if err := c.call(x); err != nil {
				return err
			}
		}
		return nil
	}
}

// sessionStreams is how many streams a session of streamRecorded records, so that it holds little.
const sessionStreams = 20

// streamRecorded reads streams that are recorded, what the recorder does at their ends included. Saving is not part of it.
func (l *lab) streamRecorded(b *testing.B) error {
	x := streamed(l.sizes.chunks)
	for {
		more, err := l.recordStreams(b, x)
		if err != nil || !more {
			return err
		}
	}
}

// recordStreams reads streams in one session; more says that the benchmark has not ended.
func (l *lab) recordStreams(b *testing.B, x exchange) (more bool, err error) {
	b.StopTimer()
	path := l.path(".json")
	s, err := cassette.Open(path, cassette.Record, cassette.OnBus(bus.New()))
	if err != nil {
		return false, err
	}
	defer func() {
		closing(&err, s.Close)
		closing(&err, func() error { return os.Remove(path) })
	}()
	c, err := newCaller(core.Transport(&memory{list: []exchange{x}}, core.WithBus(s.Bus())))
	if err != nil {
		return false, err
	}
	b.StartTimer()
	for range sessionStreams {
		if !b.Loop() {
			return false, nil
		}
		if err := c.call(x); err != nil {
			return false, err
		}
	}
	b.StopTimer()
	return true, nil
}

// wantHeard checks that all three heard every event.
func wantHeard(b *testing.B, heard int) error {
	if heard != 3*b.N {
		return fmt.Errorf("%d callbacks for %d events", heard, b.N)
	}
	return nil
}
