package bus

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// Bus carries events from those who publish them to those who subscribed. The zero Bus has no parent and is ready to
// use; on a nil Bus nobody listens, and nobody can subscribe. All functions on a Bus are safe for concurrent use; a Bus
// must not be copied after first use.
type Bus struct {
	parent  *Bus
	onPanic func(v any, stack []byte)

	mu    sync.Mutex // held to replace table, never during a callback
	table atomic.Pointer[table]

	attached sync.Map
}

// Option narrows what [New] makes. No option may be given twice.
type Option interface{ apply(*Bus) }

type optionFunc func(*Bus)

func (f optionFunc) apply(b *Bus) { f(b) }

// Parent makes a bus pass every event on to parent, after its own subscribers heard it. A nil parent is none.
func Parent(parent *Bus) Option {
	return optionFunc(func(b *Bus) {
		if b.parent != nil {
			panic("bus: New: Parent is given twice; a bus has one parent")
		}
		b.parent = parent
	})
}

// OnPanic has fn told of each panic of a subscriber of this bus, and of a bus below it that has no OnPanic of its own:
// the value, and the stack of the goroutine that panicked. Without it a panic is one line of the standard logger. The
// value and the stack may hold what the event holds. fn runs on the goroutine that panicked; when it panics too, both
// panics go to the standard logger.
func OnPanic(fn func(v any, stack []byte)) Option {
	return optionFunc(func(b *Bus) {
		if b.onPanic != nil {
			panic("bus: New: OnPanic is given twice")
		}
		b.onPanic = fn
	})
}

// New makes a bus.
func New(opts ...Option) *Bus {
	b := new(Bus)
	for _, o := range opts {
		o.apply(b)
	}
	return b
}

var defaultBus Bus

// Default returns the bus of the process: the one that package core publishes on when no bus is named.
func Default() *Bus { return &defaultBus }

// Parent returns the bus that b passes its events on to, nil when there is none. It is fixed when b is made, so that
// buses form no cycle.
func (b *Bus) Parent() *Bus { return b.parent }

// Publish hands event to every subscriber of its dynamic type, on b and then on its parents: each once, those of one
// bus in the order in which they subscribed. It returns when the last callback has. It holds no lock: a callback may
// publish, subscribe, cancel, or do whatever else publishes.
//
// What a callback does to the subscribers of a bus holds for the events that are published on it afterwards; one that
// a callback cancels is not called any more for this event either.
//
// A panic of a callback is reported ([OnPanic]) and goes no further: the other subscribers hear the event and Publish
// returns. A callback that ends its goroutine, as t.FailNow does, ends it after the others have heard the event.
//
// The events of this package travel as pointers; Publish panics when it is given one by value. A nil interface has no
// type, and nobody hears it.
func Publish[E any](b *Bus, event E) {
	typ := reflect.TypeOf(event)
	rejectValue("Publish", typ)
	if typ == nil || !b.anyone() {
		return
	}
	b.publish(typ, event)
}

// Subscribe has fn called with each event of type E that is published on b or on a bus below it, on the goroutine that
// publishes; calls run concurrently when events are published concurrently. E goes by dynamic type: a concrete type is
// heard alone, an interface type hears all events that implement it, and any hears everything.
//
// cancel ends the subscription. It may be called more than once and from anywhere, fn included; it does not wait, so
// that a callback that has begun on another goroutine goes on.
//
// Subscribe panics when E is one of the events of this package by value, since they travel as pointers:
// Subscribe[*bus.LLMCall], not Subscribe[bus.LLMCall].
func Subscribe[E any](b *Bus, fn func(E)) (cancel func()) {
	typ := reflect.TypeFor[E]()
	rejectValue("Subscribe", typ)
	if fn == nil {
		panic("bus: Subscribe: the callback is nil")
	}
	return b.subscribe(typ, func(event any) { fn(event.(E)) })
}

// Active reports whether anyone listens for events of type E, on b or on a parent, so that a publisher can skip
// building an event that nobody would hear. Where E is an interface type it reports whether anyone could hear some
// event that implements it. An event of this package may be named by value: Active[LLMCall] is Active[*LLMCall].
func Active[E any](b *Bus) bool {
	if !b.anyone() {
		return false
	}
	typ := reflect.TypeFor[E]()
	if isEventValue(typ) {
		typ = reflect.PointerTo(typ)
	}
	for ; b != nil; b = b.parent {
		if len(b.subscribers(typ)) > 0 {
			return true
		}
	}
	return false
}

// isEventValue reports whether typ is an event of this package that must travel as a pointer.
func isEventValue(typ reflect.Type) bool {
	if typ == nil || typ.Kind() != reflect.Struct {
		return false
	}
	switch typ {
	case reflect.TypeFor[CallStart](), reflect.TypeFor[LLMCall](), reflect.TypeFor[HTTPCall](),
		reflect.TypeFor[ToolCall](), reflect.TypeFor[FuncCall]():
		return true
	}
	return false
}

func rejectValue(what string, typ reflect.Type) {
	if isEventValue(typ) {
		panic(fmt.Sprintf("bus: %s of a %v by value: events travel as pointers, use *%[2]v", what, typ))
	}
}

// subscriber is one callback. It is in no table any more once it is cancelled, but may still be in the hands of a
// Publish that read the table before.
type subscriber struct {
	typ       reflect.Type
	call      func(event any)
	cancelled atomic.Bool
}

func (b *Bus) subscribe(typ reflect.Type, call func(any)) (cancel func()) {
	if b == nil {
		panic("bus: nobody can subscribe on a nil Bus; use New or Default")
	}
	s := &subscriber{typ: typ, call: call}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.table.Store(b.table.Load().with(s))
	return func() {
		if !s.cancelled.CompareAndSwap(false, true) {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.table.Store(b.table.Load().without(s))
	}
}

// anyone reports whether b or a parent has a subscriber at all.
func (b *Bus) anyone() bool {
	for ; b != nil; b = b.parent {
		if b.table.Load() != nil {
			return true
		}
	}
	return false
}

func (b *Bus) subscribers(typ reflect.Type) []*subscriber {
	if t := b.table.Load(); t != nil {
		return t.subscribers(typ)
	}
	return nil
}

func (b *Bus) publish(typ reflect.Type, event any) {
	for ; b != nil; b = b.parent {
		if subs := b.subscribers(typ); len(subs) > 0 {
			b.deliver(subs, event, b.parent)
		}
	}
}

// deliver calls subs in order. One deferred function guards them all: when a callback does not return, it goes on with
// the rest. When a callback ends the goroutine, and with it whatever called deliver, the event goes on to next.
func (b *Bus) deliver(subs []*subscriber, event any, next *Bus) {
	i := 0
	defer func() {
		if i == len(subs) {
			return
		}
		v := recover()
		if v != nil {
			b.report(subs[i].typ, v)
		}
		b.deliver(subs[i+1:], event, next)
		if v == nil { // runtime.Goexit
			next.publish(reflect.TypeOf(event), event)
		}
	}()
	for ; i < len(subs); i++ {
		if s := subs[i]; !s.cancelled.Load() {
			s.call(event)
		}
	}
}
