package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

// Run checks all that s must do.
func Run[C any](t *testing.T, s SDK[C]) {
	for _, sc := range s.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			plain := s.play(t, sc, nil)
			if plain.works() != sc.Works {
				t.Fatalf("the SDK does not do what the scenario wants: %+v", plain)
			}
			b := bus.New()
			events := Listen(t, b)
			if instrumented := s.play(t, sc, b); instrumented != plain {
				t.Errorf("the client sees %+v, without the seam %+v", instrumented, plain)
			}
			sc.Check(t, events())
			s.replay(t, sc)
		})
	}
	t.Run("report", s.report)
	t.Run("binding", s.binding)
	t.Run("concurrent", s.concurrent)
	t.Run("final", s.final)
	for name, try := range s.Refused {
		t.Run("refused/"+name, func(t *testing.T) {
			var no *core.NoSeamError
			if err := try(); !errors.As(err, &no) {
				t.Errorf("err = %v, want a *core.NoSeamError", err)
			}
		})
	}
}

// Listen returns a function that returns the calls heard on b so far. A call whose wire format is not decoded is shown as
// a model call without what decoding would tell.
func Listen(t *testing.T, b *bus.Bus) func() []*bus.LLMCall {
	var mu sync.Mutex
	var calls []*bus.LLMCall
	note := func(c *bus.LLMCall) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, c)
	}
	t.Cleanup(bus.Subscribe(b, note))
	t.Cleanup(bus.Subscribe(b, func(c *bus.HTTPCall) {
		note(&bus.LLMCall{
			CallID: c.CallID, Seq: c.Seq, Attempt: c.Attempt, Start: c.Start, FirstByte: c.FirstByte, Duration: c.Duration,
			Status: c.Status, Ending: c.Ending, Err: c.Err, Replayed: c.Replayed, Exchange: c.Exchange,
		})
	}))
	return func() []*bus.LLMCall {
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
}

// Serve starts a model server for the duration of the test.
func Serve(t *testing.T, script func(modelserver.Request) modelserver.Answer) *modelserver.Server {
	t.Helper()
	server, err := modelserver.New(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// play runs sc with a client that is instrumented on b, or with a plain one when b is nil.
func (s SDK[C]) play(t *testing.T, sc Scenario[C], b *bus.Bus) Outcome {
	t.Helper()
	script, run := sc.Start()
	server := Serve(t, script)
	c := s.New(server.URL)
	if b != nil {
		c = core.Instrument(c, core.WithBus(b))
	}
	o := run(t.Context(), t, c)
	o.Error = strings.ReplaceAll(o.Error, strings.TrimPrefix(server.URL, "http://"), "server")
	return o
}

func (s SDK[C]) report(t *testing.T) {
	_, report, err := core.TryInstrument(s.New("http://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	if report.Seam != s.Seam || len(report.Paths) != s.Paths {
		t.Errorf("seam = %s, want %s; %d paths, want %d: %q", report.Seam, s.Seam, len(report.Paths), s.Paths, report.Paths)
	}
}

// binding checks that a client belongs to the bus it was last bound to, and the original to none.
func (s SDK[C]) binding(t *testing.T) {
	server := Serve(t, modelserver.Script(modelserver.Answer{Text: answer}))
	one, two := bus.New(), bus.New()
	first, second, elsewhere := Listen(t, one), Listen(t, two), Listen(t, bus.Default())
	transport := http.DefaultClient.Transport
	original := s.New(server.URL)
	c := core.Instrument(original, core.WithBus(one))
	twice := core.Instrument(c, core.WithBus(one))
	other := core.Instrument(twice, core.WithBus(two))

	steps := []struct {
		client   C
		one, two int
		reason   string
	}{
		{original, 0, 0, "the original was changed"},
		{c, 1, 0, "an instrumented client"},
		{twice, 2, 0, "twice is once"},
		{other, 2, 1, "bound to another bus"},
		{c, 3, 1, "the one it was made from stays bound"},
		{original, 3, 1, "the original was changed"},
	}
	for i, step := range steps {
		if _, err := s.Text(t.Context(), step.client, prompt); err != nil {
			t.Fatal(err)
		}
		if len(first()) != step.one || len(second()) != step.two || len(elsewhere()) != 0 {
			t.Errorf("step %d, %s: %d, %d and %d events, want %d, %d and 0",
				i, step.reason, len(first()), len(second()), len(elsewhere()), step.one, step.two)
		}
	}
	if http.DefaultClient.Transport != transport {
		t.Error("http.DefaultClient was changed")
	}
}

// concurrent checks that 20 goroutines get each its own answer.
func (s SDK[C]) concurrent(t *testing.T) {
	server := Serve(t, func(r modelserver.Request) modelserver.Answer {
		_, n, _ := strings.Cut(string(r.Body), "say ")
		n, _, _ = strings.Cut(n, ".")
		return modelserver.Answer{Text: "I say " + n}
	})
	b := bus.New()
	events := Listen(t, b)
	c := core.Instrument(s.New(server.URL), core.WithBus(b))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			text, err := s.Text(t.Context(), c, fmt.Sprintf("say %d.", i))
			if want := fmt.Sprintf("I say %d", i); err != nil || text != want {
				t.Errorf("%q, %v, want %q", text, err, want)
			}
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for _, e := range events() {
		ids[e.CallID] = true
	}
	if len(events()) != 20 || len(ids) != 20 {
		t.Errorf("%d events of %d calls, want 20", len(events()), len(ids))
	}
}

// final checks that an outcome that stands, as a replayed one does, is not retried.
func (s SDK[C]) final(t *testing.T) {
	outcomes := []struct {
		name   string
		answer core.RoundTrip
	}{
		{"miss", func(*http.Request) (*http.Response, error) { return nil, refusal{} }},
		{"429", func(req *http.Request) (*http.Response, error) {
			return respond(req, 429, `{"message":"too many"}`, nil), nil
		}},
		{"cut", func(req *http.Request) (*http.Response, error) { return respond(req, 200, `{"id":"`, errCut), nil }},
	}
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			b := bus.New()
			asked := 0
			t.Cleanup(core.Intercept(b, core.HTTPInterceptor(func(req *http.Request, _ core.RoundTrip) (*http.Response, error) {
				asked++
				core.InfoFrom(req.Context()).Final()
				return o.answer(req)
			}), core.Innermost()))
			c := core.Instrument(s.New("http://127.0.0.1:1"), core.WithBus(b))
			_, err := s.Text(context.Background(), c, prompt)
			if err == nil || asked != 1 {
				t.Errorf("%d attempts, %v", asked, err)
			}
			if o.name == "miss" && !errors.As(err, new(refusal)) {
				t.Errorf("err = %v: errors.As does not find the miss", err)
			}
		})
	}
}

// refusal is an error like that of a miss.
type refusal struct{}

func (refusal) Error() string        { return "not recorded" }
func (refusal) RetryableError() bool { return false }

var errCut = errors.New("connection reset")

func respond(req *http.Request, status int, body string, err error) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   &brokenBody{strings.NewReader(body), err},
	}
}

// brokenBody is a body that ends in an error.
type brokenBody struct {
	*strings.Reader
	err error
}

func (b *brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && b.err != nil {
		err = b.err
	}
	return n, err
}

func (b *brokenBody) Close() error { return nil }
