// Package route decides on which bus a call runs, before anything of it is published or intercepted.
//
// Package core asks [Resolve] for each call; whoever owns calls, as a cassette does in tests, installs a [Router]. The
// package exists so that core need not know who that is.
package route

import (
	"context"
	"net/url"
	"sync/atomic"

	"github.com/mixtape-go/mixtape/bus"
)

// Call is what is known of a call when its bus is chosen.
type Call struct {
	// Bus is the bus of the context, else the one that the client is bound to, else the default one.
	Bus *bus.Bus
	// Named says that the context or the client named the bus.
	Named bool
	// Unowned says that the context asks that nobody own the call.
	Unowned bool
	// Name says which call it is, in error texts.
	Name func() string
	// URL is the address of an HTTP call; nil for a call that has none.
	URL *url.URL
}

// Router returns the bus that a call runs on, or an error that refuses the call. It is called concurrently.
type Router func(Call) (*bus.Bus, error)

var installed atomic.Pointer[Router]

// Install makes r the router of the process. There is one; the last one installed counts. Nil takes it away.
func Install(r Router) {
	if r == nil {
		installed.Store(nil)
		return
	}
	installed.Store(&r)
}

type key struct{}

type target struct{ bus *bus.Bus } // nil: unowned

// WithBus returns a context whose calls run on b.
func WithBus(ctx context.Context, b *bus.Bus) context.Context {
	return context.WithValue(ctx, key{}, target{b})
}

// Unowned returns a context whose calls nobody owns. The inner of WithBus and Unowned wins.
func Unowned(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, target{})
}

// Resolve returns the bus for a call in ctx of a client that is bound to bound, which may be nil.
func Resolve(ctx context.Context, bound *bus.Bus, name func() string, u *url.URL) (*bus.Bus, error) {
	c := Call{Bus: bound, Named: bound != nil, Name: name, URL: u}
	if t, ok := ctx.Value(key{}).(target); ok {
		if t.bus == nil {
			c.Unowned = true
		} else {
			c.Bus, c.Named = t.bus, true
		}
	}
	if c.Bus == nil {
		c.Bus = bus.Default()
	}
	if r := installed.Load(); r != nil {
		return (*r)(c)
	}
	return c.Bus, nil
}
