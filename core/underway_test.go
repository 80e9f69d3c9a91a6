package core_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

func TestDrainWaitingForHeaders(t *testing.T) {
	parent := listen()
	h := listen(bus.Parent(parent.bus))
	other := listen()
	sent, answer := make(chan struct{}), make(chan struct{})
	next := func(req *http.Request) (*http.Response, error) {
		sent <- struct{}{}
		<-answer
		return plainly(req)
	}
	var wg sync.WaitGroup
	for _, on := range []*hearing{h, other} {
		wg.Go(func() {
			if _, body := mustSend(t, bound(on, next), chat(t.Context())); body != chatAnswer {
				t.Errorf("the reader got %q", body)
			}
		})
		<-sent
	}
	core.Drain(parent.bus)
	if c := h.one(t); c.Ending != bus.EndingClosedEarly || c.Err == nil || c.Status != 0 {
		t.Errorf("%+v", c)
	}
	if other.closings() != 0 {
		t.Error("a call on another bus was drained")
	}
	close(answer)
	wg.Wait()
	h.one(t)
	parent.one(t)
	if c := other.one(t); c.Ending != bus.EndingComplete {
		t.Errorf("%+v", c)
	}
}

func TestDrainTool(t *testing.T) {
	h := listen()
	running, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		got, err := core.Tool("t", func(context.Context, int) (int, error) {
			close(running)
			<-goOn
			return 7, nil
		}, core.WithBus(h.bus))(t.Context(), 1)
		if got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	})
	<-running
	core.Drain(h.bus)
	close(goOn)
	wg.Wait()
	if len(h.tools) != 1 || h.tools[0].Ending != bus.EndingClosedEarly || h.tools[0].Err == nil || h.tools[0].Result != nil {
		t.Errorf("%+v", h.tools)
	}
}

// TestDrainWaits drains while a closing event is on its way to a subscriber: it comes first.
func TestDrainWaits(t *testing.T) {
	for name, call := range map[string]func(*bus.Bus){
		"call": func(b *bus.Bus) {
			_, _ = core.Call(t.Context(), "k", 1, func(context.Context) (int, error) { return 1, nil }, core.WithBus(b))
		},
		"http": func(b *bus.Bus) { mustSend(t, core.Transport(tripFunc(plainly), core.WithBus(b)), chat(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			b := bus.New()
			hearing, goOn := make(chan struct{}), make(chan struct{})
			heard := false
			hear := func() {
				close(hearing)
				<-goOn
				heard = true // no lock: Drain orders it
			}
			bus.Subscribe(b, func(*bus.FuncCall) { hear() })
			bus.Subscribe(b, func(*bus.LLMCall) { hear() })
			var wg sync.WaitGroup
			wg.Go(func() { call(b) })
			<-hearing
			wg.Go(func() { close(goOn) })
			core.Drain(b)
			if !heard {
				t.Error("Drain returned before the event was heard")
			}
			wg.Wait()
		})
	}
}
