package bus

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

// DefaultQueueSize is how many events wait for a subscriber of [SubscribeAsync] without [QueueSize].
const DefaultQueueSize = 1024

// AsyncOption narrows what [SubscribeAsync] does: a [QueueSize] or an [Overflow]. No option may be given twice.
type AsyncOption interface{ applyAsync(*asyncConfig) }

type asyncConfig struct {
	size           int
	overflow       Overflow
	sized, policed bool
}

type asyncOptionFunc func(*asyncConfig)

func (f asyncOptionFunc) applyAsync(c *asyncConfig) { f(c) }

// QueueSize bounds the queue to n events, at least 1.
func QueueSize(n int) AsyncOption {
	if n < 1 {
		panic(fmt.Sprintf("bus: QueueSize(%d): a queue has room for one event at least", n))
	}
	return asyncOptionFunc(func(c *asyncConfig) {
		if c.sized {
			panic("bus: SubscribeAsync: QueueSize is given twice")
		}
		c.size, c.sized = n, true
	})
}

// Overflow is what happens to an event that comes when the queue is full.
type Overflow int

const (
	// DropNewest drops the event that comes. It is the default.
	DropNewest Overflow = iota
	// DropOldest drops the event that has waited longest, and queues the one that comes.
	DropOldest
	// Block has the publisher wait for room: nothing is dropped, and a slow subscriber slows the program down. A
	// callback must not publish what it hears itself, since it would wait for itself.
	Block
)

func (o Overflow) applyAsync(c *asyncConfig) {
	if o < DropNewest || o > Block {
		panic(fmt.Sprintf("bus: SubscribeAsync: unknown Overflow %d; it is one of DropNewest, DropOldest, Block", int(o)))
	}
	if c.policed {
		panic("bus: SubscribeAsync: an Overflow is given twice")
	}
	c.overflow, c.policed = o, true
}

// Subscription is what [SubscribeAsync] returns. It owns one goroutine, which ends with [Subscription.Close].
type Subscription struct {
	bus      *Bus
	self     [1]*subscriber // what the goroutine delivers to
	cancel   func()
	overflow Overflow
	dropped  atomic.Uint64
	worker   atomic.Value  // string, the id of the goroutine
	room     chan struct{} // holds a token when a Block publisher may try again
	done     chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // guards closed, and every send to queue
	queue  chan any   // closed together with closed
	closed bool
	gone   chan struct{} // closed together with closed
}

// SubscribeAsync is [Subscribe] with fn on a goroutine of its own: one call after the other, in the order in which the
// events came. Events wait in a queue of [DefaultQueueSize] unless [QueueSize] says otherwise; an [Overflow] says what
// happens when it is full. The publisher waits for fn under [Block] only.
//
// The subscription lasts until it is closed.
func SubscribeAsync[E any](b *Bus, fn func(E), opts ...AsyncOption) *Subscription {
	typ := reflect.TypeFor[E]()
	rejectValue("SubscribeAsync", typ)
	if fn == nil {
		panic("bus: SubscribeAsync: the callback is nil")
	}
	return b.subscribeAsync(typ, func(event any) { fn(event.(E)) }, opts)
}

func (b *Bus) subscribeAsync(typ reflect.Type, call func(any), opts []AsyncOption) *Subscription {
	c := asyncConfig{size: DefaultQueueSize}
	for _, o := range opts {
		o.applyAsync(&c)
	}
	s := &Subscription{
		bus:      b,
		self:     [1]*subscriber{{typ: typ, call: call}},
		overflow: c.overflow,
		queue:    make(chan any, c.size),
		room:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		gone:     make(chan struct{}),
	}
	s.cancel = b.subscribe(typ, s.enqueue)
	go s.work()
	return s
}

// Dropped returns how many events the subscription was handed that its callback was never called with: those lost to a
// full queue, and those that came or still waited when it was closed.
func (s *Subscription) Dropped() uint64 { return s.dropped.Load() }

// Close ends the subscription: it takes no more events, waits until the callback has returned for all that are queued,
// and ends the goroutine. After Close the callback is not called any more. It may be called more than once and
// concurrently; each call waits.
//
// Called from the subscription's own callback, Close cannot wait: it drops what is queued, and the callback that
// called it is the last. Two subscriptions whose callbacks close each other at the same time wait for ever, and so
// does a callback that waits for another goroutine's Close.
func (s *Subscription) Close() {
	s.cancel()
	own := s.worker.Load() == goroutineID()

	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
		close(s.gone)
	}
	s.mu.Unlock()

	if !own {
		<-s.done
		return
	}
	for range s.queue {
		s.dropped.Add(1)
	}
}

// enqueue is called on the publisher's goroutine.
func (s *Subscription) enqueue(event any) {
	for waited := false; ; waited = true {
		if s.offer(event) {
			if waited && len(s.queue) < cap(s.queue) {
				s.signalRoom() // one token may stand for several free places: pass it on
			}
			return
		}
		select {
		case <-s.room:
		case <-s.gone:
		}
	}
}

// offer queues or drops event as the policy says; false means that the publisher has to wait and offer it again.
func (s *Subscription) offer(event any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.dropped.Add(1)
		return true
	}
	for {
		select {
		case s.queue <- event:
			return true
		default:
		}
		switch s.overflow {
		case Block:
			return false
		case DropNewest:
			s.dropped.Add(1)
			return true
		}
		select { // DropOldest: the goroutine may have made room meanwhile
		case <-s.queue:
			s.dropped.Add(1)
		default:
		}
	}
}

func (s *Subscription) signalRoom() {
	select {
	case s.room <- struct{}{}:
	default:
	}
}

func (s *Subscription) work() {
	s.worker.Store(goroutineID())
	drained := false
	defer func() {
		if !drained { // a callback ended the goroutine (runtime.Goexit)
			go s.work()
			return
		}
		close(s.done)
	}()
	for event := range s.queue {
		s.signalRoom()
		s.bus.deliver(s.self[:], event, nil)
	}
	drained = true
}

// goroutineID returns the number that the runtime prints in stack traces. It serves one purpose: Close must know
// whether waiting would be waiting for itself.
func goroutineID() string {
	var buf [64]byte
	line := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	id, _, _ := bytes.Cut(line, []byte(" "))
	return string(id)
}
