package core

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/mixtape-go/mixtape/bus"
)

// underway is one call under way. It publishes one closing event, whoever ends it first.
type underway struct {
	bus       *bus.Bus
	info      *Info
	self      drainer
	published chan struct{} // closed when the closing event has been heard

	mu    sync.Mutex
	ended bool
}

// drainer is a call that can be ended from outside.
type drainer interface{ drain() }

func newUnderway(b *bus.Bus, info *Info) underway {
	return underway{bus: b, info: info, published: make(chan struct{})}
}

// begin publishes that the call has started; self is what Drain ends it through.
func (u *underway) begin(self drainer, start *bus.CallStart) {
	bus.Publish(u.bus, start)
	u.self = self
	calls.add(u)
}

// close ends the call unless it has ended: closing, which is called with u.mu held, makes the closing event; one that
// is nil is not published. It reports whether this call of it ended the call.
func (u *underway) close(closing func() any) bool {
	event, first := u.end(closing)
	if !first {
		return false
	}
	defer close(u.published)
	defer calls.remove(u)
	bus.Publish(u.bus, event)
	return true
}

func (u *underway) end(closing func() any) (event any, first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return nil, false
	}
	u.ended = true
	return closing(), true
}

// callTable holds the calls under way. It holds a stream's attempt, not the body that the client holds: an abandoned
// stream can still be collected.
type callTable struct {
	mu   sync.Mutex
	open map[*underway]struct{}
}

var calls = callTable{open: map[*underway]struct{}{}}

func (t *callTable) add(u *underway) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[u] = struct{}{}
}

func (t *callTable) remove(u *underway) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, u)
}

// on returns the calls on b and on the buses below it, in the order of their starts.
func (t *callTable) on(b *bus.Bus) []*underway {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []*underway
	for u := range t.open {
		for at := u.bus; at != nil; at = at.Parent() {
			if at == b {
				found = append(found, u)
				break
			}
		}
	}
	slices.SortFunc(found, func(x, y *underway) int { return cmp.Compare(x.info.Seq, y.info.Seq) })
	return found
}

var errDrained = errors.New("mixtape: the session closed before the call returned")

// Drain ends the calls under way on b and on the buses below it, and publishes their closing events: as far as they
// came, as closed_early unless more is known. Whoever waits for them, or reads their answers, goes on unharmed and
// unheard. When Drain returns, every closing event of a call that had started before has been heard.
//
// Calls that start meanwhile are not waited for. A subscriber's callback must not call Drain: the event that it hears
// may be what Drain waits for.
func Drain(b *bus.Bus) {
	for _, u := range calls.on(b) {
		u.self.drain()
	}
}
