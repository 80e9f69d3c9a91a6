package core_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

type interceptFunc = func(*http.Request, core.RoundTrip) (*http.Response, error)

func intercept(t *testing.T, b *bus.Bus, fn interceptFunc, opts ...core.InterceptOption) (remove func()) {
	remove = core.Intercept(b, core.HTTPInterceptor(fn), opts...)
	t.Cleanup(remove)
	return remove
}

func TestInterceptPassAnswerRefuse(t *testing.T) {
	refused := errors.New("over budget")
	for _, tt := range []struct {
		reason      string
		fn          interceptFunc
		opts        []core.InterceptOption
		sent        int
		intercepted bool
		err         error
	}{
		{"pass", func(req *http.Request, next core.RoundTrip) (*http.Response, error) { return next(req) }, nil, 1, false, nil},
		{"answer", func(req *http.Request, _ core.RoundTrip) (*http.Response, error) { return plainly(req) }, nil, 0, true, nil},
		{"refuse", func(*http.Request, core.RoundTrip) (*http.Response, error) { return nil, refused }, nil, 0, true, refused},
		{"innermost answers: as the wire does", func(req *http.Request, _ core.RoundTrip) (*http.Response, error) { return plainly(req) }, []core.InterceptOption{core.Innermost()}, 0, false, nil},
		{"innermost refuses", func(*http.Request, core.RoundTrip) (*http.Response, error) { return nil, refused }, []core.InterceptOption{core.Innermost()}, 0, false, refused},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			intercept(t, h.bus, tt.fn, tt.opts...)
			sent := 0
			resp, err := bound(h, func(req *http.Request) (*http.Response, error) { sent++; return plainly(req) }).RoundTrip(chat(t.Context()))
			if err != tt.err {
				t.Fatal(err)
			}
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			if c := h.one(t); sent != tt.sent || c.Intercepted != tt.intercepted || c.Err != tt.err || c.Model != "gpt-4o" {
				t.Errorf("sent %d; %+v", sent, c)
			}
		})
	}
}

func TestInterceptChanges(t *testing.T) {
	h := listen()
	intercept(t, h.bus, func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		b, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(strings.NewReader(strings.Replace(string(b), "gpt-4o", "gpt-4o-mini-x", 1)))
		req.Header.Set("X-Changed", "1")
		return next(req)
	})
	req := chat(t.Context())
	mustSend(t, bound(h, func(req *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(req.Body)
		if req.ContentLength != int64(len(b)) || !strings.Contains(string(b), "gpt-4o-mini-x") {
			t.Errorf("length %d of %q", req.ContentLength, b)
		}
		return plainly(req)
	}), req)
	if c := h.one(t); c.Model != "gpt-4o-mini-x" || c.Exchange.RequestHeader.Get("X-Changed") != "1" {
		t.Errorf("the event shows %q, %v", c.Model, c.Exchange.RequestHeader)
	}
	if req.Header.Get("X-Changed") != "" {
		t.Error("the caller's header was written to")
	}
}

func TestInterceptOrder(t *testing.T) {
	parent := bus.New()
	h := listen(bus.Parent(parent))
	var got []string
	named := func(name string, b *bus.Bus, opts ...core.InterceptOption) func() {
		return intercept(t, b, func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
			got = append(got, name)
			if b, _ := io.ReadAll(req.Body); string(b) != chatBody {
				t.Errorf("%s reads %q", name, b)
			}
			req.Header.Set("X-Written", name)
			return next(req)
		}, opts...)
	}
	named("in 1", parent, core.Innermost())
	named("1", h.bus)
	remove := named("2", parent)
	named("in 2", h.bus, core.Innermost())
	named("3", h.bus)
	req := chat(t.Context())
	mustSend(t, bound(h, plainly), req)
	remove()
	remove()
	mustSend(t, bound(h, plainly), chat(t.Context()))
	if want := []string{"1", "2", "3", "in 1", "in 2", "1", "3", "in 1", "in 2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if req.Header.Get("X-Written") != "" {
		t.Error("the caller's header was written to")
	}
}

func TestInterceptNextTwice(t *testing.T) {
	h := listen()
	intercept(t, h.bus, func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		var wg sync.WaitGroup
		wg.Go(func() {
			if resp, err := next(req); err == nil {
				resp.Body.Close()
			}
		})
		resp, err := next(req)
		wg.Wait()
		return resp, err
	})
	mustSend(t, bound(h, func(req *http.Request) (*http.Response, error) {
		if b, _ := io.ReadAll(req.Body); string(b) != chatBody {
			t.Errorf("sent %q", b)
		}
		return plainly(req)
	}), chat(t.Context()))
	if len(h.llm) != 2 || h.llm[0].CallID != h.llm[1].CallID || h.llm[0].Attempt+h.llm[1].Attempt != 1 {
		t.Errorf("%+v", h.llm)
	}
}

func TestInterceptPanic(t *testing.T) {
	for _, opts := range [][]core.InterceptOption{nil, {core.Innermost()}} {
		h := listen()
		intercept(t, h.bus, func(*http.Request, core.RoundTrip) (*http.Response, error) { panic("boom") }, opts...)
		func() {
			defer func() { _ = recover() }()
			_, _ = bound(h, plainly).RoundTrip(chat(t.Context()))
		}()
		if len(h.starts) != h.closings() {
			t.Errorf("%d starts, %d ends", len(h.starts), h.closings())
		}
	}
}

func TestInterceptNoAnswer(t *testing.T) {
	nothing := func(*http.Request, core.RoundTrip) (*http.Response, error) { return nil, nil }
	swallow := func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		_, _ = next(req)
		return nil, nil
	}
	for name, fn := range map[string]interceptFunc{"nothing": nothing, "swallowed": swallow} {
		h := listen()
		intercept(t, h.bus, fn)
		if resp, err := bound(h, plainly).RoundTrip(chat(t.Context())); resp != nil || err == nil {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
	}
}

func TestInfo(t *testing.T) {
	failed := errors.New("recorded failure")
	for _, tt := range []struct {
		reason string
		status int // 0: an error
		mark   string
	}{{"an error", 0, "false"}, {"an error status", 429, "false"}, {"an answer that breaks off", 200, "false"}} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			intercept(t, h.bus, func(req *http.Request, _ core.RoundTrip) (*http.Response, error) {
				i := core.InfoFrom(req.Context())
				if i.Kind != bus.KindLLM || i.Model != "gpt-4o" || string(i.Body) != chatBody || i.Format == nil || i.Provider != "openai" {
					t.Errorf("%+v", i)
				}
				i.Replayed()
				i.Final()
				if tt.status == 0 {
					return nil, failed
				}
				return respond(tt.status, "application/json", strings.NewReader("{}")), nil
			}, core.Innermost())
			for _, stainless := range []bool{true, false} {
				var resp *http.Response
				var err error
				if stainless {
					resp, err = core.Middleware(core.WithBus(h.bus))(chat(t.Context()), plainly)
				} else {
					resp, err = bound(h, plainly).RoundTrip(chat(t.Context()))
				}
				if (err != nil) != (tt.status == 0) {
					t.Fatal(err)
				}
				if resp == nil && (stainless || err == nil) || resp != nil && resp.Header.Get("X-Should-Retry") != tt.mark {
					t.Errorf("stainless %t: %+v", stainless, resp)
				}
				if resp != nil {
					_, _ = io.Copy(io.Discard, resp.Body)
				}
			}
			for _, c := range h.llm {
				if !c.Replayed || c.Intercepted || c.Exchange.ResponseHeader.Get("X-Should-Retry") != "" {
					t.Errorf("%+v", c)
				}
			}
			if len(h.llm) != 2 {
				t.Errorf("%d calls", len(h.llm))
			}
		})
	}
}

// TestFinalCopies: what an interceptor answers with stays its own, whether anybody listens or not.
func TestFinalCopies(t *testing.T) {
	for _, b := range []*bus.Bus{bus.New(), listen().bus} {
		mine := respond(500, "application/json", strings.NewReader("{}"))
		intercept(t, b, func(req *http.Request, _ core.RoundTrip) (*http.Response, error) {
			core.InfoFrom(req.Context()).Final()
			return mine, nil
		}, core.Innermost())
		resp, _ := mustSend(t, core.Transport(tripFunc(plainly), core.WithBus(b)), chat(t.Context()))
		if resp.Header.Get("X-Should-Retry") != "false" || mine.Header.Get("X-Should-Retry") != "" {
			t.Errorf("the caller got %v, the interceptor's answer has %v", resp.Header, mine.Header)
		}
	}
}

// TestAttemptsUnheard: attempts are tied where an interceptor sees them and nobody listens.
func TestAttemptsUnheard(t *testing.T) {
	b := bus.New()
	var calls []string
	intercept(t, b, func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		calls = append(calls, core.InfoFrom(req.Context()).CallID)
		return next(req)
	}, core.Innermost())
	for _, count := range []string{"0", "1"} {
		req := chat(t.Context())
		req.Header.Set("X-Stainless-Retry-Count", count)
		mustSend(t, core.Transport(tripFunc(overloaded), core.WithBus(b)), req)
	}
	if calls[0] != calls[1] {
		t.Errorf("two calls: %v", calls)
	}
}
