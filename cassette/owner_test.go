package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// loopback returns the address of a model on this machine, and a client for it.
func loopback(t *testing.T) (url string, client *http.Client) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, completion("from loopback"))
	}))
	t.Cleanup(server.Close)
	return server.URL, core.Instrument(server.Client())
}

// refusedWith checks that a call to the provider in ctx is refused with an error that says all of want.
func refusedWith(t *testing.T, ctx context.Context, want ...string) {
	t.Helper()
	_, err := chat(ctx, unreachable(t).client(), provider, "hi")
	if err == nil {
		t.Fatal("the call was answered")
	}
	checkText(t, err.Error())
	wantText(t, err.Error(), want...)
}

func TestNoSessionOpen(t *testing.T) {
	t.Run("a call that would leave the machine is refused", func(t *testing.T) {
		refusedWith(t, t.Context(), "POST https://api.openai.com/v1/chat/completions was refused", "no cassette is open",
			"cassette.Use", "cassette.Unrecorded", "CASSETTE_MODE=live")
	})
	t.Run("loopback passes", func(t *testing.T) {
		url, client := loopback(t)
		if _, err := chat(t.Context(), client, url, "hi"); err != nil {
			t.Error(err)
		}
		if _, err := chat(t.Context(), client, strings.Replace(url, "127.0.0.1", "LOCALHOST", 1), "hi"); err != nil {
			t.Error(err)
		}
	})
	t.Run("what looks like loopback does not", func(t *testing.T) {
		for _, host := range []string{"localhost.example.com", "127.0.0.1.example.com", "10.0.0.1", "0.0.0.0", "[::]", "notlocalhost"} {
			if _, err := chat(t.Context(), unreachable(t).client(), "http://"+host, "hi"); err == nil {
				t.Errorf("a call to %s was answered", host)
			}
		}
	})
	t.Run("all of 127/8 and ::1 do", func(t *testing.T) {
		for _, host := range []string{"127.8.9.10:1", "[::1]:80", "[::ffff:127.0.0.1]", "a.localhost"} {
			if _, err := chat(t.Context(), answering("x").client(), "http://"+host, "hi"); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	})
	t.Run("Unrecorded passes", func(t *testing.T) {
		ask(t, cassette.Unrecorded(t.Context()), answering("x").client(), "hi")
	})
	t.Run("CASSETTE_MODE=live passes", func(t *testing.T) {
		t.Setenv("CASSETTE_MODE", "live")
		ask(t, t.Context(), answering("x").client(), "hi")
	})
	t.Run("an unknown CASSETTE_MODE does not", func(t *testing.T) {
		t.Setenv("CASSETTE_MODE", "LIVE")
		refusedWith(t, t.Context(), `unknown mode "LIVE"`)
	})
	t.Run("tools and calls run and are published", func(t *testing.T) {
		b := bus.New()
		heard := 0
		bus.Subscribe(b, func(*bus.ToolCall) { heard++ })
		bus.Subscribe(b, func(*bus.FuncCall) { heard++ })
		tool := core.Tool("t", func(context.Context, int) (int, error) { return 7, nil }, core.WithBus(b))
		if v, err := tool(t.Context(), 1); v != 7 || err != nil {
			t.Errorf("the tool gives %v, %v", v, err)
		}
		v, err := core.Call(t.Context(), "memory", "k", func(context.Context) (string, error) { return "v", nil }, core.WithBus(b))
		if v != "v" || err != nil || heard != 2 {
			t.Errorf("the call gives %v, %v; %d events", v, err, heard)
		}
	})
	t.Run("a secret in the address is not shown", func(t *testing.T) {
		_, err := unreachable(t).client().Do(get(t.Context(), "https://api.example.org/bot/"+canaries[1]+"/send"))
		var refusal interface{ Unwrap() error }
		if !errors.As(err, &refusal) {
			t.Fatal("no error")
		}
		checkText(t, refusal.Unwrap().Error()) // net/http puts the address before it
	})
}

func TestOwnership(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	record(t, dir, "b.json", "hi")
	open := func(t *testing.T, f *fakeT, name string, opts ...cassette.Option) *cassette.Session {
		s := cassette.Use(f, name, append(opts, cassette.Dir(dir), cassette.Replay, cassette.AllowUnused())...)
		t.Cleanup(func() { f.fail(); f.end() })
		return s
	}
	served := func(t *testing.T, s *cassette.Session, want int) {
		t.Helper()
		if r := s.Report(); r.Served != want {
			t.Errorf("%s served %d calls, want %d", s.Path(), r.Served, want)
		}
	}

	t.Run("0 Unrecorded belongs to none", func(t *testing.T) {
		s := open(t, newT(t, "TestA"), "a.json")
		wire := answering("live")
		heard := 0
		t.Cleanup(bus.Subscribe(bus.Default(), func(*bus.LLMCall) { heard++ }))
		if got := ask(t, cassette.Unrecorded(s.Context(t.Context())), wire.client(), "hi"); got != completion("live") {
			t.Errorf("the answer is %s", got)
		}
		ask(t, cassette.Unrecorded(t.Context()), wire.client(core.WithBus(s.Bus())), "hi")
		served(t, s, 0)
		if heard != 2 {
			t.Errorf("the default bus heard %d calls, want 2", heard)
		}
		ask(t, s.Context(cassette.Unrecorded(t.Context())), unreachable(t).client(), "hi")
		served(t, s, 1)
	})
	t.Run("1 the context wins over the client", func(t *testing.T) {
		a, b := open(t, newT(t, "TestA"), "a.json"), open(t, newT(t, "TestB"), "b.json")
		ask(t, a.Context(t.Context()), unreachable(t).client(core.WithBus(b.Bus())), "hi")
		served(t, a, 1)
		served(t, b, 0)
	})
	t.Run("1 the inner context wins", func(t *testing.T) {
		a, b := open(t, newT(t, "TestA"), "a.json"), open(t, newT(t, "TestB"), "b.json")
		ask(t, a.Context(b.Context(t.Context())), unreachable(t).client(), "hi")
		served(t, a, 1)
		served(t, b, 0)
	})
	t.Run("2 the client's bus", func(t *testing.T) {
		a, b := open(t, newT(t, "TestA"), "a.json"), open(t, newT(t, "TestB"), "b.json")
		ask(t, t.Context(), unreachable(t).client(core.WithBus(b.Bus())), "hi")
		ask(t, context.Background(), unreachable(t).client(core.WithBus(bus.New(bus.Parent(a.Bus())))), "hi")
		served(t, a, 1)
		served(t, b, 1)
	})
	t.Run("3 the only one open", func(t *testing.T) {
		s := open(t, newT(t, "TestA"), "a.json")
		ask(t, context.Background(), unreachable(t).client(), "hi")
		served(t, s, 1)
	})
	t.Run("3 a test's comes before one of Open", func(t *testing.T) {
		o, err := cassette.Open(filepath.Join(dir, "b.json"), cassette.Replay)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		s := open(t, newT(t, "TestA"), "a.json")
		ask(t, context.Background(), unreachable(t).client(), "hi")
		served(t, s, 1)
		served(t, o, 0)
	})
	t.Run("3 one of Open on its own", func(t *testing.T) {
		o, err := cassette.Open(filepath.Join(dir, "b.json"), cassette.Replay)
		if err != nil {
			t.Fatal(err)
		}
		ask(t, context.Background(), unreachable(t).client(), "hi")
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("3 only on its own bus", func(t *testing.T) {
		own := bus.New()
		s := open(t, newT(t, "TestA"), "a.json", cassette.OnBus(own))
		refusedWith(t, t.Context(), "no cassette is open")
		ask(t, t.Context(), unreachable(t).client(core.WithBus(own)), "hi")
		served(t, s, 1)
	})
	t.Run("4 strict", func(t *testing.T) {
		for _, v := range []string{"1", "true", "yes"} {
			t.Setenv("CASSETTE_STRICT", v)
			f := newT(t, "TestA")
			s := open(t, f, "a.json")
			refusedWith(t, t.Context(), "CASSETTE_STRICT", "TestA", "s.Context", "core.WithBus")
			f.wantError("CASSETTE_STRICT", "TestA")
			ask(t, s.Context(t.Context()), unreachable(t).client(), "hi")
			f.fail()
			f.end()
		}
	})
	t.Run("4 strict off", func(t *testing.T) {
		for _, v := range []string{"0", "false", ""} {
			t.Setenv("CASSETTE_STRICT", v)
			f := newT(t, "TestA")
			open(t, f, "a.json")
			ask(t, t.Context(), unreachable(t).client(), "hi")
			f.end().wantPass()
		}
	})
	t.Run("4 two open", func(t *testing.T) {
		f, g := newT(t, "TestA/x"), newT(t, "TestB/y")
		a, b := open(t, f, "a.json"), open(t, g, "b.json")
		refusedWith(t, t.Context(), "TestA/x and TestB/y", "s.Context", "core.WithBus", "t.Parallel before Use")
		f.wantError("TestA/x and TestB/y")
		g.wantError("TestA/x and TestB/y")
		if a.Report().Refused != 1 || b.Report().Refused != 1 {
			t.Errorf("the reports are %+v and %+v", a.Report(), b.Report())
		}
		url, client := loopback(t)
		if _, err := chat(t.Context(), client, url, "hi"); err == nil {
			t.Error("a call that may be either's went to loopback")
		}
		ran := false
		tool := core.Tool("t", func(context.Context, int) (int, error) { ran = true; return 7, nil })
		if _, err := tool(t.Context(), 1); err == nil || ran {
			t.Errorf("a tool that may be either's ran: %v, %v", ran, err)
		}
	})
	t.Run("5 none open any more", func(t *testing.T) {
		f := newT(t, "TestA")
		s := open(t, f, "a.json")
		f.fail()
		f.end()
		refusedWith(t, s.Context(t.Context()), "belongs to TestA, which has ended")
		_, err := chat(t.Context(), unreachable(t).client(core.WithBus(s.Bus())), provider, "hi")
		if err == nil {
			t.Error("a client of a closed session's bus was answered")
		}
		if _, err := chat(s.Context(t.Context()), unreachable(t).client(), "http://127.0.0.1:1", "hi"); err == nil {
			t.Error("a closed session's call went to loopback")
		}
		ran := false
		tool := core.Tool("t", func(context.Context, int) (int, error) { ran = true; return 7, nil })
		if _, err := tool(s.Context(t.Context()), 1); err == nil || ran {
			t.Errorf("a closed session's tool ran: %v, %v", ran, err)
		}
		ask(t, cassette.Unrecorded(s.Context(t.Context())), answering("x").client(), "hi")
		if n := s.Report().Refused; n != 4 {
			t.Errorf("%d refused calls were counted, want 4", n)
		}
		if len(f.errors) != 0 {
			t.Errorf("the ended test heard of it: %s", f.errorText())
		}
	})
	t.Run("5 none open, although one is on its way in", func(t *testing.T) {
		// The session ends while an interceptor of the user's holds the call.
		f := newT(t, "TestA")
		s := open(t, f, "a.json")
		remove := core.Intercept(bus.Default(), core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
			f.fail()
			f.end()
			return next(req)
		}))
		defer remove()
		refusedWith(t, s.Context(t.Context()), "TestA, which has ended")
	})
	t.Run("Pass", func(t *testing.T) {
		f := newT(t, "TestA")
		s := open(t, f, "a.json", cassette.Pass("Telemetry.example.com", "localhost:99"))
		wire := answering("live")
		for _, url := range []string{"https://telemetry.EXAMPLE.com:8443", "http://localhost:99"} {
			if _, err := chat(s.Context(t.Context()), wire.client(), url, "hi"); err != nil {
				t.Error(err)
			}
		}
		if r := s.Report(); wire.requests() != 2 || r.Live != 2 || r.Served != 0 {
			t.Errorf("%d requests, the report is %+v", wire.requests(), r)
		}
		f.wantPass()
		_, err := unreachable(t).client().Do(get(s.Context(t.Context()), "http://localhost:98/"))
		if err == nil {
			t.Error("another port was let through")
		}
	})
}

// Sessions record each call once and subscribers above hear each once, whoever named the session.
func TestSubscribersHearOnce(t *testing.T) {
	dir := folder(t)
	own := bus.New(bus.Parent(bus.Default()))
	heard := map[string]int{}
	t.Cleanup(bus.Subscribe(bus.Default(), func(c *bus.LLMCall) { heard["default"]++ }))
	bus.Subscribe(own, func(c *bus.LLMCall) { heard["own"]++ })
	f := newT(t, "TestA")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.OnBus(own))
	bus.Subscribe(s.Bus(), func(c *bus.LLMCall) { heard["session"]++ })
	wire := answering("x")
	ask(t, s.Context(t.Context()), wire.client(), "one")
	ask(t, t.Context(), wire.client(core.WithBus(s.Bus())), "two")
	ask(t, t.Context(), wire.client(core.WithBus(own)), "three")
	ask(t, t.Context(), core.Instrument(wire.client(core.WithBus(own)), core.WithBus(own)), "four")
	if fmt.Sprint(heard) != "map[default:4 own:4 session:4]" || s.Report().Recorded != 4 {
		t.Errorf("heard %v, recorded %d", heard, s.Report().Recorded)
	}
	f.end().wantPass()
}

// Calls from workers that carry no context are the session's; when two are open they are refused, and never live.
func TestFault106Workers(t *testing.T) {
	dir := folder(t)
	prompts := make([]string, 20)
	for i := range prompts {
		prompts[i] = fmt.Sprint("job ", i)
	}
	pool := func(client *http.Client) (failed int) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		jobs := make(chan string)
		for range 4 {
			wg.Go(func() {
				for p := range jobs {
					if _, err := chat(context.Background(), client, provider, p); err != nil {
						mu.Lock()
						failed++
						mu.Unlock()
					}
				}
			})
		}
		for _, p := range prompts {
			jobs <- p
		}
		close(jobs)
		wg.Wait()
		return failed
	}
	f := newT(t, "TestA")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	if n := pool(answering("x").client()); n != 0 || s.Report().Recorded != 20 {
		t.Errorf("%d failed, %d recorded", n, s.Report().Recorded)
	}
	f.end().wantPass()

	f = newT(t, "TestA")
	cassette.Use(f, "a.json", cassette.Dir(dir))
	if n := pool(unreachable(t).client()); n != 0 {
		t.Errorf("%d failed", n)
	}
	f.end().wantPass()

	f, g := newT(t, "TestA"), newT(t, "TestB")
	cassette.Use(f, "a.json", cassette.Dir(dir))
	cassette.Use(g, "b.json", cassette.Dir(dir))
	if n := pool(unreachable(t).client()); n != 20 {
		t.Errorf("%d refused", n)
	}
	f.end()
	g.end()
	if !f.Failed() || !g.Failed() {
		t.Error("a test whose calls were refused passed")
	}
}

// Two parallel subtests on one shared client, 20 goroutines each, by context and by bus, recording and replaying.
func TestParallelSessions(t *testing.T) {
	dir := folder(t)
	before := runtime.NumGoroutine()
	for _, way := range []string{"context", "bus"} {
		for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
			t.Run(fmt.Sprint(way, " ", mode), func(t *testing.T) {
				network := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
					return response(200, "application/json", completion("to "+body)), nil
				}}
				if mode == cassette.Replay {
					network = unreachable(t)
				}
				shared := network.client()
				for _, name := range []string{"one", "two"} {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						s := cassette.Use(t, way+"-"+name, cassette.Dir(dir), mode)
						client, ctx := shared, s.Context(t.Context())
						if way == "bus" {
							client, ctx = core.Instrument(shared, core.WithBus(s.Bus())), t.Context()
						}
						var wg sync.WaitGroup
						for i := range 20 {
							wg.Go(func() {
								prompt := fmt.Sprintf("%s %d", name, i)
								if got := ask(t, ctx, client, prompt); !strings.Contains(got, prompt) {
									t.Errorf("%s got %s", prompt, got)
								}
							})
						}
						wg.Wait()
						if r := s.Report(); r.Served+r.Recorded != 20 {
							t.Errorf("the report is %+v", r)
						}
					})
				}
			})
		}
	}
	for range 1_000_000 { // the goroutines of subtests that have ended may still be on their way out
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// A client that is not instrumented goes round the cassette: a replay that served nothing fails.
func TestFault105NothingServed(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	f := newT(t, "TestA")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.AllowUnused())
	ask(t, s.Context(t.Context()), &http.Client{Transport: answering("live")}, "hi")
	f.end().wantError("a.json: nothing was served", "core.Instrument")
}

// What Close returns is what would have failed a test.
func TestCloseReturnsProblems(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi", "again")
	s, err := cassette.Open(filepath.Join(dir, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	ask(t, s.Context(t.Context()), unreachable(t).client(), "hi")
	if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "other"); err == nil {
		t.Error("a miss was answered")
	}
	err = s.Close()
	var miss *cassette.MissError
	if !errors.As(err, &miss) {
		t.Errorf("Close returns %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the second Close returns %v", err)
	}
	s, err = cassette.Open(filepath.Join(dir, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	ask(t, s.Context(t.Context()), unreachable(t).client(), "hi")
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 of 2 recorded calls") {
		t.Errorf("Close returns %v", err)
	}
}

// A session that ends while calls run lets none of them out, and logs nothing to a test that is over.
func TestEndWhileCallsRun(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Extend} {
		f := newT(t, "TestEnds/"+mode.String())
		s := cassette.Use(f, "a.json", cassette.Dir(dir), mode, cassette.RepeatLast())
		client := unreachable(t).client()
		clients := []func() error{
			func() error { _, err := chat(s.Context(context.Background()), client, provider, "hi"); return err },
			func() error {
				_, err := chat(context.Background(), client, provider, "hi") // refused as nobody's after the end
				return err
			},
		}
		var running, wg sync.WaitGroup
		for i := range 8 {
			running.Add(1)
			wg.Go(func() {
				call := clients[i%len(clients)]
				if err := call(); err != nil {
					t.Error(err)
				}
				running.Done()
				for call() == nil {
				}
			})
		}
		running.Wait()
		f.end().wantPass()
		wg.Wait()
	}
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
}

// TestTwoSessionsOfOneTest tells them apart by their cassettes.
func TestTwoSessionsOfOneTest(t *testing.T) {
	dir := folder(t)
	f := newT(t, "TestTwo")
	cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	cassette.Use(f, "b.json", cassette.Dir(dir), cassette.Record)
	_, err := chat(t.Context(), unreachable(t).client(), provider, "x")
	wantText(t, fmt.Sprint(err), "TestTwo with "+filepath.Join(dir, "a.json"), "TestTwo with "+filepath.Join(dir, "b.json"))
	f.end()
}
