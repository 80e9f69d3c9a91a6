package cassette

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/redact"
)

// Option narrows what [Use] and [Open] do. A [Mode] is an Option. Options that say one thing (a mode, Dir, OnBus) may
// be given once; those that add to a list add up.
type Option interface{ apply(*settings) error }

type optionFunc func(*settings) error

func (f optionFunc) apply(s *settings) error { return f(s) }

// settings are what the options of a session come to.
type settings struct {
	mode         Mode
	modeGiven    bool
	dir          string
	bus          *bus.Bus
	ignore       []string
	messagesOnly bool
	normalize    []func(*Request)
	repeatLast   bool
	recut        *uint64
	rules        []redact.Rule
	noRedaction  bool
	allowUnused  bool
	allowErrors  bool
	pass         []string
}

func newSettings(opts []Option) (*settings, error) {
	s := &settings{}
	var errs []error
	for i, o := range opts {
		if o == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, o.apply(s))
	}
	return s, errors.Join(errs...)
}

func (m Mode) apply(s *settings) error {
	if s.modeGiven {
		return fmt.Errorf("two modes, %s and %s, are given; give one", s.mode, m)
	}
	s.mode, s.modeGiven = m, true
	return nil
}

// Dir puts the cassette below path instead of testdata/cassettes and CASSETTE_DIR. A relative path is taken from the
// folder in which the test runs.
func Dir(path string) Option {
	return optionFunc(func(s *settings) error {
		if path == "" {
			return errors.New("Dir needs a path")
		}
		if s.dir != "" {
			return fmt.Errorf("two folders, %q and %q, are given with Dir; give one", s.dir, path)
		}
		s.dir = path
		return nil
	})
}

// OnBus makes b the parent of the session's bus, in place of [bus.Default]: the session then hears what happens on b.
func OnBus(b *bus.Bus) Option {
	return optionFunc(func(s *settings) error {
		if b == nil {
			return errors.New("OnBus needs a bus")
		}
		if s.bus != nil {
			return errors.New("two buses are given with OnBus; give one")
		}
		s.bus = b
		return nil
	})
}

// Ignore leaves the values at these full paths ("$.metadata.run_id", "$.messages[*].content[*].cache_control") out of
// the comparison of requests, on both sides. The file keeps them.
func Ignore(paths ...string) Option {
	return optionFunc(func(s *settings) error {
		s.ignore = append(s.ignore, paths...)
		return nil
	})
}

// MatchMessages compares provider, model, messages (with the system text) and whether a stream is asked for, and
// nothing else: tools and parameters may change.
func MatchMessages() Option {
	return optionFunc(func(s *settings) error { s.messagesOnly = true; return nil })
}

// Normalize calls fn on a copy of each request, live and recorded, before the two are compared: as it stands in the
// file, placeholders included. What fn changes counts for the comparison only; the file keeps the original. It must be
// a function of the request alone, and is called concurrently. A panic in fn fails the call.
func Normalize(fn func(r *Request)) Option {
	return optionFunc(func(s *settings) error {
		if fn == nil {
			return errors.New("Normalize needs a function")
		}
		s.normalize = append(s.normalize, fn)
		return nil
	})
}

// Request is what [Normalize] sees of a request.
type Request struct {
	Provider  string
	Operation string // the name of a tool, the kind of a core.Call
	Method    string // empty for a tool or a core.Call
	Path      string
	Body      []byte // the arguments of a tool; a copy, free to be changed or replaced
}

// RepeatLast answers a request that comes more often than it was recorded with its last recording, again and again.
func RepeatLast() Option {
	return optionFunc(func(s *settings) error { s.repeatLast = true; return nil })
}

// Recut makes a replay hand over its answers in other pieces than were recorded, cut anywhere: the same for the same
// seed. Networks and providers change where a stream is cut, and a program must not depend on it.
func Recut(seed uint64) Option {
	return optionFunc(func(s *settings) error {
		if s.recut != nil {
			return errors.New("two seeds are given with Recut; give one")
		}
		s.recut = &seed
		return nil
	})
}

// Redact adds rules to the built-in ones.
func Redact(rules ...redact.Rule) Option {
	return optionFunc(func(s *settings) error {
		s.rules = append(s.rules, rules...)
		return nil
	})
}

// RedactFields hides the values of JSON members, form fields and query parameters with these names.
func RedactFields(names ...string) Option { return Redact(redact.Field(names...)) }

// NoRedaction turns the built-in rules off, and leaves the keys of the environment in texts. Rules given with [Redact]
// stay on; headers that carry credentials are not recorded all the same, and what was seen in one is hidden wherever else
// it stands.
func NoRedaction() Option {
	return optionFunc(func(s *settings) error { s.noRedaction = true; return nil })
}

// AllowUnused lets a replay pass that did not ask for all that was recorded.
func AllowUnused() Option {
	return optionFunc(func(s *settings) error { s.allowUnused = true; return nil })
}

// AllowErrors lets a recording stand whose last outcome is 401 or 403.
func AllowErrors() Option {
	return optionFunc(func(s *settings) error { s.allowErrors = true; return nil })
}

// Pass lets the session's calls to these hosts through, live and unrecorded, in every mode. A host is given as it
// stands in the URL, with the port or without it: "localhost:8080", "telemetry.example.com".
func Pass(hosts ...string) Option {
	return optionFunc(func(s *settings) error {
		for _, h := range hosts {
			if h == "" || strings.ContainsAny(h, "/@ ") {
				return fmt.Errorf("Pass takes hosts such as \"localhost:8080\", not %q", h)
			}
			s.pass = append(s.pass, strings.ToLower(h))
		}
		return nil
	})
}
