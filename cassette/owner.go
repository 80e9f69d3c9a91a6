package cassette

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/redact"
	"github.com/mixtape-go/mixtape/internal/route"
)

// A test binary that links this package makes no call by accident: from its start, every call is asked whose it is.
func init() { route.Install(routeCall) }

// Unrecorded returns a context whose calls belong to no cassette, whatever is open: they go out. The inner of
// Unrecorded and [Session.Context] wins.
func Unrecorded(ctx context.Context) context.Context { return route.Unowned(ctx) }

// owners are the open sessions, in the order in which they were opened, and the files that any session asked for.
var owners struct {
	mu    sync.Mutex
	open  []*Session
	asked map[string]bool // by store.key
}

// openCount is the length of owners.open: in production, where it is 0, no call waits for a lock.
var openCount atomic.Int32

// ask notes that a session asked for a file.
func ask(file string) {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if owners.asked == nil {
		owners.asked = map[string]bool{}
	}
	owners.asked[file] = true
}

// orphans returns the names of the cassettes in the session's folder that no session has asked for so far.
func (s *Session) orphans() []string {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	return slices.DeleteFunc(s.store.siblings(), func(name string) bool {
		return owners.asked[filepath.Join(filepath.Dir(s.store.key()), name)]
	})
}

// claim makes s an open session. Two on one file are refused unless both only read it.
func claim(s *Session) error {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	for _, o := range owners.open {
		if o.store.key() == s.store.key() && (o.mode.writes() || s.mode.writes()) {
			return fmt.Errorf("cassette %s is open already, in %s, and one of the two would write it; give each test a cassette of its own, or close the first session before", s.store.path, o.name)
		}
	}
	owners.open = append(owners.open, s)
	openCount.Add(1)
	return nil
}

// release makes s a closed session.
func release(s *Session) {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if i := slices.Index(owners.open, s); i >= 0 {
		owners.open = slices.Delete(owners.open, i, i+1)
		openCount.Add(-1)
	}
}

// openOn returns the sessions that a call on b, which nobody named, could belong to: those of tests, else those that
// Open opened.
func openOn(b *bus.Bus) []*Session {
	owners.mu.Lock()
	defer owners.mu.Unlock()
	var tests, others []*Session
	for _, s := range owners.open {
		for on := b; on != nil; on = on.Parent() {
			if s.bus.Parent() == on {
				if s.t != nil {
					tests = append(tests, s)
				} else {
					others = append(others, s)
				}
				break
			}
		}
	}
	if len(tests) > 0 {
		return tests
	}
	return others
}

// ownerKey is what a session is attached to its bus under: it owns the bus, and those below, for as long as they live.
type ownerKey struct{}

// ownerOf returns the session that b, or a bus above it, belongs to; the nearest one, nil when there is none.
func ownerOf(b *bus.Bus) *Session {
	for ; b != nil; b = b.Parent() {
		if s, ok := b.Attached(ownerKey{}, nil).(*Session); ok {
			return s
		}
	}
	return nil
}

// routeCall decides on which bus a call runs, by the rules of "Which session owns a call" in the package's contract.
func routeCall(c route.Call) (*bus.Bus, error) {
	b, owner := c.Bus, ownerOf(c.Bus)
	if c.Unowned {
		for ; owner != nil; owner = ownerOf(b) {
			b = owner.bus.Parent()
		}
		return b, nil
	}
	if owner != nil {
		if owner.isClosed() {
			err := refusal(c, owner.ended())
			owner.refused(err)
			return nil, err
		}
		return b, nil
	}
	if openCount.Load() == 0 && !testing.Testing() {
		return b, nil
	}
	open := openOn(b)
	strict := isStrict(os.Getenv("CASSETTE_STRICT"))
	switch {
	case len(open) == 0:
		return b, strayed(c)
	case len(open) == 1 && !strict:
		return open[0].bus, nil
	}
	err := ambiguous(c, open, strict)
	for _, s := range open {
		s.refused(err)
	}
	return nil, err
}

// isStrict reports whether a value of CASSETTE_STRICT turns it on: any does that does not say no, since a strictness
// that was meant must not be off because of its spelling.
func isStrict(v string) bool { return v != "" && v != "0" && !strings.EqualFold(v, "false") }

// ended says why calls of a session that has ended are refused, and the remedy.
func (s *Session) ended() string {
	return fmt.Sprintf("it belongs to %s, which has ended: wait for the calls of a test before it ends, or give them the context of their own test", s.name)
}

// refusal is the error of a call that is not let through. No session is there to hide what its name may hold.
func refusal(c route.Call, why string) error {
	name := "a call"
	if r, err := redact.New(redact.Default()...); err == nil {
		name = printable(r.String(c.Name()))
	}
	return fmt.Errorf("cassette: %s was refused: %s", name, why)
}

func ambiguous(c route.Call, open []*Session, strict bool) error {
	names := make([]string, len(open))
	for i, s := range open {
		names[i] = s.name
		if slices.ContainsFunc(open, func(o *Session) bool { return o != s && o.name == s.name }) {
			names[i] = fmt.Sprintf("%s with %s", s.name, s.store.path)
		}
	}
	remedy := "give the call the context of its session (s.Context(ctx)), or bind its client to it (core.WithBus(s.Bus())); in a parallel test call t.Parallel before Use"
	if len(open) == 1 {
		return refusal(c, fmt.Sprintf("CASSETTE_STRICT is set, and the call does not say that it belongs to %s: %s", names[0], remedy))
	}
	return refusal(c, fmt.Sprintf("sessions are open in %s, and the call does not say which it belongs to: %s", enumerate(names), remedy))
}

// strayed returns nil when a call that nobody owns may go out, and the error that refuses it otherwise.
func strayed(c route.Call) error {
	if !testing.Testing() || c.URL == nil || isLoopback(c.URL) {
		return nil
	}
	if m, err := readEnvironment().namedMode(); err != nil || m == Live {
		return err
	}
	return refusal(c, "no cassette is open, and a test binary calls nobody by accident: open one with cassette.Use, or let this call out with cassette.Unrecorded(ctx), or all of them with CASSETTE_MODE=live")
}

// isLoopback reports whether u leads to this machine.
func isLoopback(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

var errBroken = errors.New("the session could not be opened, so its calls are refused")
