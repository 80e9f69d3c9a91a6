package bus

import (
	"reflect"
	"slices"
	"sync/atomic"
)

// table is the subscribers of a bus at one time. It is replaced, never changed; a nil table has no subscribers.
type table struct {
	subs []*subscriber // in the order in which they subscribed
	// heard is who hears the types that were asked for so far. It too is replaced, never changed. A list and not a map:
	// a program has a handful of event types, and a scan over these is faster than one hash.
	heard atomic.Pointer[[]heardBy]
}

// heardBy is the subscribers to one type.
type heardBy struct {
	typ  reflect.Type
	subs []*subscriber
}

func (t *table) with(s *subscriber) *table {
	if t == nil {
		return &table{subs: []*subscriber{s}}
	}
	return &table{subs: append(slices.Clip(t.subs), s)}
}

func (t *table) without(s *subscriber) *table {
	subs := slices.DeleteFunc(slices.Clone(t.subs), func(o *subscriber) bool { return o == s })
	if len(subs) == 0 {
		return nil // so that a bus that nobody listens to is told by one load
	}
	return &table{subs: subs}
}

// subscribers returns who hears events of dynamic type typ. For an interface type, which no event has, it returns who
// could hear an event that implements it.
func (t *table) subscribers(typ reflect.Type) []*subscriber {
	if heard := t.heard.Load(); heard != nil {
		for i := range *heard {
			if h := &(*heard)[i]; h.typ == typ {
				return h.subs
			}
		}
	}
	return t.resolve(typ)
}

func (t *table) resolve(typ reflect.Type) []*subscriber {
	var subs []*subscriber
	for _, s := range t.subs {
		if s.hears(typ) {
			subs = append(subs, s)
		}
	}
	for {
		old := t.heard.Load()
		var heard []heardBy
		if old != nil {
			heard = slices.Clip(*old)
		}
		heard = append(heard, heardBy{typ, subs})
		if t.heard.CompareAndSwap(old, &heard) {
			return subs
		}
	}
}

func (s *subscriber) hears(typ reflect.Type) bool {
	switch {
	case s.typ == typ:
		return true
	case s.typ.Kind() == reflect.Interface:
		// An event behind interface typ may well implement s.typ too.
		return typ.Kind() == reflect.Interface || typ.Implements(s.typ)
	case typ.Kind() == reflect.Interface:
		return s.typ.Implements(typ)
	}
	return false
}
