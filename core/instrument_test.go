package core_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// count subscribes to b and returns how many HTTP exchanges it has heard of.
func count(t *testing.T, b *bus.Bus) func() int {
	var mu sync.Mutex
	n := 0
	t.Cleanup(bus.Subscribe(b, func(*bus.HTTPCall) {
		mu.Lock()
		n++
		mu.Unlock()
	}))
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// answer is a transport without a network.
type answer struct{}

func (answer) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, _ = w.WriteString("ok")
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

type answerFunc func(*http.Request) (*http.Response, error)

func (f answerFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// get sends one request and reads the answer.
func get(t *testing.T, c doer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok" {
		t.Fatalf("body = %q, %v", body, err)
	}
}

// Clients of every shape that the walk knows.
type (
	byPointer   struct{ http *http.Client }                // ollama
	byInterface struct{ config struct{ HTTPClient doer } } // go-openai
	byValue     struct{ http http.Client }
	service     struct{ owner *services }
	services    struct { // genai, with a cycle
		config *byInterface
		Models *service
		Chats  *service
	}
	inAny   struct{ inner any }
	inSlice struct{ models []*byPointer }
	inArray struct{ models [2]byPointer }
	locked  struct {
		mu   sync.Mutex
		once sync.Once
		http *http.Client
	}
	waiting struct {
		_    sync.WaitGroup
		http *http.Client
	}
	model       interface{ call(t *testing.T) }
	tokenSource struct{ http *http.Client }
	Credentials interface{ token() *http.Client }
	authorizing struct {
		Credentials Credentials
		http        *http.Client
	}
)

func (c *tokenSource) token() *http.Client { return c.http }
func (c byPointer) call(t *testing.T)      { get(t, c.http) }

func newServices() *services {
	s := &services{config: &byInterface{}}
	s.config.config.HTTPClient = &http.Client{Transport: answer{}}
	s.Models, s.Chats = &service{s}, &service{s}
	return s
}

// shape is one kind of client: how to make it, what calls through it, and what of it is reached.
type shape struct {
	name  string
	try   func(t *testing.T, opts ...core.Option) (calls []func(*testing.T), again func(...core.Option) ([]func(*testing.T), core.Report), original func(*testing.T), report core.Report)
	paths []string
	seam  core.Seam
}

// of makes a shape from a client and its calls.
func of[C any](name string, make func() C, calls func(C) []func(*testing.T), seam core.Seam, paths ...string) shape {
	return shape{name: name, seam: seam, paths: paths, try: func(t *testing.T, opts ...core.Option) ([]func(*testing.T), func(...core.Option) ([]func(*testing.T), core.Report), func(*testing.T), core.Report) {
		original := make()
		c, report, err := core.TryInstrument(original, opts...)
		if err != nil {
			t.Fatal(err)
		}
		again := func(opts ...core.Option) ([]func(*testing.T), core.Report) {
			c, report, err := core.TryInstrument(c, opts...)
			if err != nil {
				t.Fatal(err)
			}
			return calls(c), report
		}
		return calls(c), again, calls(original)[0], report
	}}
}

func through(c doer) []func(*testing.T) { return []func(*testing.T){func(t *testing.T) { get(t, c) }} }

var client = &http.Client{Transport: answer{}}

var shapes = []shape{
	of("client", func() *http.Client { return client }, func(c *http.Client) []func(*testing.T) { return through(c) }, core.SeamHTTP, "client"),
	of("round tripper", func() http.RoundTripper { return answer{} },
		func(rt http.RoundTripper) []func(*testing.T) { return through(answerFunc(rt.RoundTrip)) }, core.SeamHTTP, "client"),
	of("do interface", func() doer { return client }, through, core.SeamHTTP, "client"),
	of("do interface, other type", func() doer { return answerFunc(answer{}.RoundTrip) }, through, core.SeamHTTP, "client"),
	of("by pointer", func() *byPointer { return &byPointer{client} }, func(c *byPointer) []func(*testing.T) { return through(c.http) }, core.SeamHTTP, "client.http"),
	of("by value", func() *byValue { return &byValue{*client} }, func(c *byValue) []func(*testing.T) { return through(&c.http) }, core.SeamHTTP, "client.http"),
	of("by interface", func() byInterface { return *newServices().config },
		func(c byInterface) []func(*testing.T) { return through(c.config.HTTPClient) }, core.SeamHTTP, "client.config.HTTPClient"),
	of("services", newServices, func(c *services) []func(*testing.T) {
		var all []func(*testing.T)
		for _, s := range []*services{c, c.Models.owner, c.Chats.owner, c.Chats.owner.Models.owner} {
			all = append(all, through(s.config.config.HTTPClient)...)
		}
		return all
	}, core.SeamHTTP, "client.config.config.HTTPClient"),
	of("in an interface", func() model { return &byPointer{client} },
		func(m model) []func(*testing.T) { return []func(*testing.T){m.call} }, core.SeamHTTP, "client.http"),
	of("a struct in an interface", func() model { return byPointer{client} },
		func(m model) []func(*testing.T) { return []func(*testing.T){m.call} }, core.SeamHTTP, "client.http"),
	of("in any", func() *inAny { return &inAny{inAny{&byPointer{client}}} },
		func(c *inAny) []func(*testing.T) { return through(c.inner.(inAny).inner.(*byPointer).http) }, core.SeamHTTP, "client.inner.inner.http"),
	of("in a slice", func() *inSlice { return &inSlice{[]*byPointer{{client}, {client}}} },
		func(c *inSlice) []func(*testing.T) {
			return append(through(c.models[0].http), through(c.models[1].http)...)
		}, core.SeamHTTP,
		"client.models[0].http", "client.models[1].http"),
	of("in an array", func() *inArray { return &inArray{[2]byPointer{{client}, {client}}} },
		func(c *inArray) []func(*testing.T) {
			return append(through(c.models[0].http), through(c.models[1].http)...)
		}, core.SeamHTTP,
		"client.models[0].http", "client.models[1].http"),
	of("with locks", func() *locked { c := &locked{http: client}; c.once.Do(func() {}); return c }, func(c *locked) []func(*testing.T) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.once.Do(func() { panic("once more") })
		return through(c.http)
	}, core.SeamHTTP, "client.http"),
	of("with credentials", func() *authorizing { return &authorizing{&tokenSource{client}, client} },
		func(c *authorizing) []func(*testing.T) { return through(c.http) }, core.SeamHTTP, "client.http"),
	of("stainless", newStainless, stainlessCalls, core.SeamPerCall, "client.Options", "client.Chat.Options", "client.Chat.Completions.Options", "client.Files.Options"),
	of("stainless in a framework", func() *inAny { return &inAny{newStainless()} },
		func(c *inAny) []func(*testing.T) { return stainlessCalls(c.inner.(stainless)) }, core.SeamPerCall,
		"client.inner.Options", "client.inner.Chat.Options", "client.inner.Chat.Completions.Options", "client.inner.Files.Options"),
}

func TestInstrument(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			one, two := bus.New(), bus.New()
			first, second, other := count(t, one), count(t, two), count(t, bus.Default())
			calls, again, original, report := s.try(t, core.WithBus(one))
			if report.Seam != s.seam || !slices.Equal(report.Paths, s.paths) {
				t.Errorf("report = %+v, want %s at %q", report, s.seam, s.paths)
			}
			for _, call := range calls {
				call(t)
			}
			if first() != len(calls) {
				t.Errorf("%d events for %d calls", first(), len(calls))
			}
			original(t)
			if first() != len(calls) || other() != 0 {
				t.Error("the original client was changed")
			}

			same, report := again(core.WithBus(one))
			same[0](t)
			if first() != len(calls)+1 {
				t.Errorf("instrumented twice: %d events for one call", first()-len(calls))
			}
			if !slices.Equal(report.Paths, s.paths) {
				t.Errorf("instrumented twice: paths %q", report.Paths)
			}

			bound, _ := again(core.WithBus(two))
			for _, call := range bound {
				call(t)
			}
			if second() != len(bound) || first() != len(calls)+1 {
				t.Errorf("bound to another bus: %d events there, %d more here, for %d calls", second(), first()-len(calls)-1, len(bound))
			}

			kept, _ := again()
			kept[0](t)
			if first() != len(calls)+2 || other() != 0 {
				t.Error("instrumented again with no bus named, the client lost its bus")
			}
		})
	}
}

// TestInstrumentSame: what is instrumented on the same bus is given back as it is.
func TestInstrumentSame(t *testing.T) {
	b := bus.New()
	c := core.Instrument(newServices(), core.WithBus(b))
	if again := core.Instrument(c, core.WithBus(b)); again != c {
		t.Error("another copy")
	}
	if c.Models.owner != c || c.Chats.owner != c {
		t.Error("the services lead back to another client than the one that holds them")
	}
}

// TestInstrumentShares: what is not on the way to an HTTP field is shared with the original.
func TestInstrumentShares(t *testing.T) {
	type cache struct{ _ int } // not empty: two pointers to empty structs may be equal
	type holder struct {
		cache *cache
		model *byPointer
		names []string
	}
	h := &holder{&cache{}, &byPointer{client}, []string{"a"}}
	c := core.Instrument(h, core.WithBus(bus.New()))
	if c == h || c.model == h.model || c.model.http == h.model.http {
		t.Error("what is on the way is not copied")
	}
	if c.cache != h.cache || &c.names[0] != &h.names[0] {
		t.Error("what is not on the way is copied")
	}
	if h.model.http != client || client.Transport != (answer{}) {
		t.Error("the original was written to")
	}
}

// TestInstrumentDefaultTransport: an empty client uses http.DefaultTransport, as it is when the call is made.
func TestInstrumentDefaultTransport(t *testing.T) {
	before := http.DefaultClient.Transport
	b := bus.New()
	n := count(t, b)
	c := core.Instrument(http.DefaultClient, core.WithBus(b))
	if http.DefaultClient.Transport != before || c == http.DefaultClient {
		t.Fatal("http.DefaultClient was changed")
	}
	default0 := http.DefaultTransport
	defer func() { http.DefaultTransport = default0 }()
	http.DefaultTransport = answer{}
	get(t, c)
	if n() != 1 {
		t.Errorf("%d events", n())
	}
}

func TestInstrumentNoSeam(t *testing.T) {
	busy := &locked{http: client}
	busy.mu.Lock()
	deep := any(&byPointer{client})
	for range 12 {
		deep = &inAny{deep}
	}
	tests := []struct {
		name   string
		try    func() error
		want   string
		reason string
	}{
		{"nil client", try[*http.Client](nil), "*http.Client: it is nil; pass a client that was made", "a nil pointer has nothing to wrap"},
		{"nil interface", try[model](nil), "core_test.model: it is nil", "an interface can be nil too"},
		{"nil SDK client", try[*services](nil), "*core_test.services: it is nil", "a nil pointer has no fields"},
		{"zero Stainless client", try(stainless{}), "zero value", "its option type cannot be known"},
		{"zero struct behind a pointer", try(&stainless{}), "client.Options: empty", "the same, one step on"},
		{"nil HTTP client", try(&byPointer{}), "client.http: nil", "the SDK would make its own"},
		{"transport of another type", try(&http.Transport{}), "core.Instrument[http.RoundTripper](t)", "the result cannot be an *http.Transport"},
		{"string", try("x"), "give its constructor an instrumented HTTP client", "no client at all"},
		{"no HTTP", try(&inAny{1}), "*core_test.inAny: it holds no", "nothing to reach"},
		{"function", try(func() {}), "func(): it holds no", "closures cannot be looked into"},
		{"locked", try(busy), "client: core_test.locked is in use", "a copy would be made in the middle of something"},
		{"wait group", try(&waiting{http: client}), "a sync.WaitGroup inside cannot be copied", "nobody would wake the copy"},
		{"credentials only", try(&struct{ c Credentials }{&tokenSource{client}}), "it holds no", "authentication is no call"},
		{"too deep", try(deep), "too deep", "the walk is bounded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.try()
			var no *core.NoSeamError
			if !errors.As(err, &no) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q, since %s", err, tt.want, tt.reason)
			}
		})
	}
}

func try[C any](c C) func() error {
	return func() (err error) {
		_, _, err = core.TryInstrument(c)
		defer func() {
			if r := recover(); r == nil || r.(error).Error() != err.Error() {
				panic("Instrument and TryInstrument do not say the same")
			}
		}()
		core.Instrument(c)
		return err
	}
}

// TestInstrumentWide: a client that holds very much is not walked for ever.
func TestInstrumentWide(t *testing.T) {
	c := &inSlice{make([]*byPointer, 100_000)}
	for i := range c.models {
		c.models[i] = &byPointer{client}
	}
	_, report, err := core.TryInstrument(c)
	if err != nil || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "stopped here") {
		t.Errorf("%v, %q", err, report.Notes)
	}
}

// TestInstrumentNotes: what cannot be copied is said once, and the list of notes is bounded.
func TestInstrumentNotes(t *testing.T) {
	w := &waiting{http: client}
	_, report, err := core.TryInstrument(&struct {
		good *byPointer
		bad  [3]*waiting
		nils [100]*byPointer
	}{good: &byPointer{client}, bad: [3]*waiting{w, w, w}, nils: [100]*byPointer{new(byPointer)}})
	if err != nil || len(report.Notes) != 2 || !strings.HasPrefix(report.Notes[0], "client.bad[0]: ") {
		t.Errorf("%v, %q", err, report.Notes)
	}
	many := &inSlice{make([]*byPointer, 100)}
	for i := range many.models {
		many.models[i] = &byPointer{}
	}
	if _, report, _ := core.TryInstrument(many); len(report.Notes) != 20 {
		t.Errorf("%d notes", len(report.Notes))
	}
}

// TestInstrumentConcurrently: a client in use can be instrumented by several goroutines.
func TestInstrumentConcurrently(t *testing.T) {
	b := bus.New()
	n := count(t, b)
	original := newServices()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c := core.Instrument(original, core.WithBus(b))
			get(t, c.Models.owner.config.config.HTTPClient)
			get(t, original.config.config.HTTPClient)
		})
	}
	wg.Wait()
	if n() != 20 {
		t.Errorf("%d events", n())
	}
}
