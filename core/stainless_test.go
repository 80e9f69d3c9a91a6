package core_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// What follows has the shape of a Stainless SDK: options in the client and in each service, functions of a config, and a
// loop of attempts over a chain of middlewares.
type (
	stainless struct {
		Options []requestOption
		Chat    struct {
			Options     []requestOption
			Completions struct{ Options []requestOption }
		}
		Files *struct{ Options []requestOption }
	}
	requestOption     interface{ Apply(*requestConfig) error }
	requestOptionFunc func(*requestConfig) error
	optionLayer       []requestOption
	credentialOption  struct{ Credential requestOption }

	requestConfig struct {
		MaxRetries  int
		Request     *http.Request
		HTTPClient  doer
		Middlewares []func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)
	}
)

func (f requestOptionFunc) Apply(c *requestConfig) error { return f(c) }
func (o credentialOption) Apply(c *requestConfig) error  { return o.Credential.Apply(c) }
func (l optionLayer) Apply(c *requestConfig) error {
	for _, o := range l {
		if err := o.Apply(c); err != nil {
			return err
		}
	}
	return nil
}

func withHTTPClient(d doer) requestOption {
	return requestOptionFunc(func(c *requestConfig) error { c.HTTPClient = d; return nil })
}

// newStainless keeps its options in a layer in a struct, as the newest of them do.
func newStainless() stainless {
	options := []requestOption{optionLayer{credentialOption{withHTTPClient(client)}}}
	c := stainless{Options: options, Files: &struct{ Options []requestOption }{options}}
	c.Chat.Options, c.Chat.Completions.Options = options, nil
	return c
}

func stainlessCalls(c stainless) []func(*testing.T) {
	var calls []func(*testing.T)
	for _, options := range [][]requestOption{c.Options, c.Chat.Options, append(slices.Clone(c.Options), c.Chat.Options...), c.Files.Options} {
		calls = append(calls, func(t *testing.T) {
			get(t, answerFunc(func(req *http.Request) (*http.Response, error) { return send(req, options...) }))
		})
	}
	return calls
}

// send is what the SDK does with a call.
func send(req *http.Request, options ...requestOption) (*http.Response, error) {
	cfg, err := configure(req, options...)
	if err != nil {
		return nil, err
	}
	return cfg.execute()
}

func configure(req *http.Request, options ...requestOption) (*requestConfig, error) {
	cfg := &requestConfig{MaxRetries: 2, Request: req}
	return cfg, optionLayer(options).Apply(cfg)
}

func (cfg *requestConfig) execute() (resp *http.Response, err error) {
	handler := cfg.HTTPClient.Do
	for _, m := range slices.Backward(cfg.Middlewares) {
		next := handler
		handler = func(req *http.Request) (*http.Response, error) { return m(req, next) }
	}
	for n := 0; n <= cfg.MaxRetries; n++ {
		req := cfg.Request.Clone(cfg.Request.Context())
		req.Header.Set("X-Stainless-Retry-Count", strconv.Itoa(n))
		resp, err = handler(req)
		if resp != nil && (resp.Header.Get("X-Should-Retry") == "false" || resp.StatusCode < 400) {
			break
		}
	}
	return resp, err
}

func newRequest(t *testing.T) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// failing answers 429 until the nth request.
func failing(n int) doer {
	return answerFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := answer{}.RoundTrip(req)
		if n--; n > 0 {
			resp.StatusCode = 429
		}
		return resp, err
	})
}

// perCallOptions are the two ways to the same option.
func perCallOptions(t *testing.T, b *bus.Bus, options ...requestOption) map[string][]requestOption {
	var typed requestOption = core.PerCall(options[0], core.WithBus(b))
	return map[string][]requestOption{
		"PerCall":    append(slices.Clone(options[1:]), typed),
		"Instrument": core.Instrument(stainless{Options: options}, core.WithBus(b)).Options,
	}
}

func TestPerCallAttempts(t *testing.T) {
	b := bus.New()
	var events []*bus.HTTPCall
	t.Cleanup(bus.Subscribe(b, func(c *bus.HTTPCall) { events = append(events, c) }))
	for name, options := range perCallOptions(t, b, withHTTPClient(failing(3))) {
		t.Run(name, func(t *testing.T) {
			options = append(options, withHTTPClient(failing(3)))
			events = nil
			resp, err := send(newRequest(t), options...)
			if err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
			resp.Body.Close()
			if len(events) != 3 {
				t.Fatalf("%d events for 3 attempts", len(events))
			}
			for i, e := range events {
				if e.Attempt != i || e.CallID != events[0].CallID {
					t.Errorf("attempt %d of %s, want %d of %s", e.Attempt, e.CallID, i, events[0].CallID)
				}
			}
		})
	}
}

// TestPerCallPages: a config that is used for the next page of a list is another call.
func TestPerCallPages(t *testing.T) {
	b := bus.New()
	var events []*bus.HTTPCall
	t.Cleanup(bus.Subscribe(b, func(c *bus.HTTPCall) { events = append(events, c) }))
	cfg, err := configure(newRequest(t), core.PerCall(withHTTPClient(client), core.WithBus(b)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		resp, err := cfg.execute()
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if len(events) != 2 || events[0].CallID == events[1].CallID || events[1].Attempt != 0 {
		t.Errorf("the second page is no call of its own: %+v", events)
	}
}

// TestPerCallOutermost: the seam stands outside of the SDK's middlewares, and does not change their number.
func TestPerCallOutermost(t *testing.T) {
	b := bus.New()
	sign := requestOptionFunc(func(c *requestConfig) error {
		c.Middlewares = append(c.Middlewares, func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			req.Header.Set("Authorization", "signed")
			return next(req)
		})
		return nil
	})
	var seen http.Header
	t.Cleanup(bus.Subscribe(b, func(c *bus.HTTPCall) { seen = c.Exchange.RequestHeader }))
	for name, options := range perCallOptions(t, b, withHTTPClient(client), withHTTPClient(client), sign) {
		t.Run(name, func(t *testing.T) {
			seen = nil
			cfg, err := configure(newRequest(t), options...)
			if err != nil || len(cfg.Middlewares) != 1 {
				t.Fatalf("%v, %d middlewares", err, len(cfg.Middlewares))
			}
			resp, err := cfg.execute()
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if seen == nil || seen.Get("Authorization") != "" {
				t.Errorf("the seam saw %v", seen)
			}
		})
	}
}

// TestPerCallFinal: a failure that stands is not retried.
func TestPerCallFinal(t *testing.T) {
	stands := errors.New("stands")
	b := bus.New()
	asked := 0
	t.Cleanup(core.Intercept(b, core.HTTPInterceptor(func(req *http.Request, _ core.RoundTrip) (*http.Response, error) {
		asked++
		core.InfoFrom(req.Context()).Final()
		return nil, stands
	}), core.Innermost()))
	for name, options := range perCallOptions(t, b, withHTTPClient(client), withHTTPClient(client)) {
		t.Run(name, func(t *testing.T) {
			asked = 0
			if _, err := send(newRequest(t), options...); !errors.Is(err, stands) || asked != 1 {
				t.Errorf("%v after %d attempts", err, asked)
			}
		})
	}
}

func TestPerCallExampleFails(t *testing.T) {
	bad := errors.New("bad option")
	if _, err := send(newRequest(t), core.PerCall(requestOption(requestOptionFunc(func(*requestConfig) error { return bad })))); !errors.Is(err, bad) {
		t.Error(err)
	}
}

type otherOption struct{}

func (otherOption) Apply(*context.Context) error { return nil }

func TestPerCallOtherSDK(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "core.Transport") {
			t.Error(err)
		}
	}()
	core.PerCall(otherOption{})
}
