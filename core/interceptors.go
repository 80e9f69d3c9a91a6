package core

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mixtape-go/mixtape/bus"
)

// InterceptOption places an interceptor.
type InterceptOption func(*registration)

// Innermost puts an interceptor below all that are not: it sees what the others made of a request, and what it passes
// on goes to the wire. Among themselves, innermost interceptors stand in order of registration too.
func Innermost() InterceptOption { return func(r *registration) { r.innermost = true } }

// registration is one interceptor in its place.
type registration struct {
	interceptor Interceptor
	order       uint64
	innermost   bool
}

// registry holds who intercepts on one bus. It is attached to the bus, so that the two live and go together.
type registry struct {
	mu   sync.Mutex                      // held to replace list
	list atomic.Pointer[[]*registration] // outermost first; replaced, never changed
}

type registryKey struct{}

func newRegistry() any { return new(registry) }

var registrations atomic.Uint64

// Intercept puts i in the way of every call on b and on the buses below it, until remove is called. The first one
// registered is the outermost, wherever in the line of parents it was registered. Calls that are under way when an
// interceptor comes or goes are not affected. The same interceptor may be registered more than once; remove may be
// called more than once.
func Intercept(b *bus.Bus, i Interceptor, opts ...InterceptOption) (remove func()) {
	if i == nil {
		panic("core: Intercept: the interceptor is nil")
	}
	r := &registration{interceptor: i, order: registrations.Add(1)}
	for _, o := range opts {
		o(r)
	}
	g := b.Attached(registryKey{}, newRegistry).(*registry)
	g.replace(func(rs []*registration) []*registration { return sorted(append(rs, r)) })
	return func() {
		g.replace(func(rs []*registration) []*registration {
			return slices.DeleteFunc(rs, func(o *registration) bool { return o == r })
		})
	}
}

// replace puts what change makes of a copy of the registrations in their place.
func (g *registry) replace(change func([]*registration) []*registration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := change(slices.Clone(g.load()))
	g.list.Store(&list)
}

func (g *registry) load() []*registration {
	if list := g.list.Load(); list != nil {
		return *list
	}
	return nil
}

// interceptors returns who intercepts on b, outermost first, and how many of them are not innermost. What it returns is
// shared and not to be written to.
func interceptors(b *bus.Bus) (rs []*registration, outer int) {
	for ; b != nil; b = b.Parent() {
		g, ok := b.Attached(registryKey{}, nil).(*registry)
		if !ok {
			continue
		}
		switch more := g.load(); {
		case len(rs) == 0:
			rs = more
		case len(more) > 0:
			rs = sorted(slices.Concat(rs, more))
		}
	}
	for outer < len(rs) && !rs[outer].innermost {
		outer++
	}
	return rs, outer
}

// sorted sorts rs in place, outermost first.
func sorted(rs []*registration) []*registration {
	slices.SortFunc(rs, func(x, y *registration) int {
		switch {
		case x.innermost == y.innermost:
			return cmp.Compare(x.order, y.order)
		case x.innermost:
			return 1
		}
		return -1
	})
	return rs
}

// throughHTTP puts rs in front of last. Each is given a copy of the request, whose body is held and not read yet.
func throughHTTP(rs []*registration, last RoundTrip) RoundTrip {
	for _, r := range slices.Backward(rs) {
		next := last
		last = func(req *http.Request) (*http.Response, error) {
			req, _, err := hold(req)
			if err != nil {
				return nil, err
			}
			req = req.Clone(req.Context())
			if req.Body == nil {
				req.Body = http.NoBody // so that any may be read
			}
			return r.interceptor.InterceptHTTP(req, next)
		}
	}
	return last
}

// throughTool puts rs in front of last. Each is given a copy of the request.
func throughTool(rs []*registration, last ToolRun) ToolRun {
	for _, r := range slices.Backward(rs) {
		next := last
		last = func(ctx context.Context, req *ToolRequest) (json.RawMessage, error) {
			return r.interceptor.InterceptTool(ctx, req.clone(), next)
		}
	}
	return last
}
