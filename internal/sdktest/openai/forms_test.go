package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// TestForms: every way to instrument a client gives one event an attempt, and so do several at once.
func TestForms(t *testing.T) {
	b := bus.New()
	on := core.WithBus(b)
	tests := []struct {
		name string
		make func(...option.RequestOption) openai.Client
	}{
		{"PerCall", func(opts ...option.RequestOption) openai.Client {
			return openai.NewClient(append(opts, core.PerCall(option.WithMaxRetries(2), on))...)
		}},
		{"Middleware", func(opts ...option.RequestOption) openai.Client {
			return openai.NewClient(append(opts, option.WithMiddleware(core.Middleware(on)))...)
		}},
		{"Transport", func(opts ...option.RequestOption) openai.Client {
			return openai.NewClient(append(opts, option.WithHTTPClient(&http.Client{Transport: core.Transport(nil, on)}))...)
		}},
		{"Instrument of an HTTP client", func(opts ...option.RequestOption) openai.Client {
			return openai.NewClient(append(opts, option.WithHTTPClient(core.Instrument(http.DefaultClient, on)))...)
		}},
		{"all of them", func(opts ...option.RequestOption) openai.Client {
			return core.Instrument(openai.NewClient(append(opts,
				core.PerCall(option.WithMaxRetries(2), on),
				option.WithMiddleware(core.Middleware(on)),
				option.WithHTTPClient(core.Instrument(http.DefaultClient, on)))...), on)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := conformance.Serve(t, modelserver.Script(
				modelserver.Answer{Status: 429, Text: "too many", Header: http.Header{"Retry-After-Ms": {"1"}}},
				modelserver.Answer{Text: "Yes."}))
			events := conformance.Listen(t, b)
			c := tt.make(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("none"))
			if text, err := chatV3.Text(t.Context(), c, "Still there?"); err != nil || text != "Yes." {
				t.Fatal(text, err)
			}
			e := events()
			if len(e) != 2 {
				t.Fatalf("%d events for two attempts", len(e))
			}
			if e[0].CallID != e[1].CallID || e[0].Attempt != 0 || e[1].Attempt != 1 {
				t.Errorf("attempt %d of %s, attempt %d of %s", e[0].Attempt, e[0].CallID, e[1].Attempt, e[1].CallID)
			}
		})
	}
}

// TestPerRequest: an option for one request, and options of the user's after Instrument, do not go round the seam.
func TestPerRequest(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Yes."}))
	b := bus.New()
	events := conformance.Listen(t, b)
	c := core.Instrument(openai.NewClient(option.WithBaseURL("http://127.0.0.1:1"), option.WithAPIKey("none")), core.WithBus(b))
	_, err := c.Chat.Completions.New(t.Context(), chatParamsV3("Still there?"),
		option.WithBaseURL(server.URL+"/v1"), option.WithHTTPClient(&http.Client{}), option.WithMiddleware(core.Middleware(core.WithBus(b))))
	if err != nil || len(events()) != 1 {
		t.Errorf("%v, %d events", err, len(events()))
	}
}

// TestRawBody: the GetBody of a raw request rewinds the one reader that is also the body.
func TestRawBody(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(
		modelserver.Answer{Status: 429, Text: "too many", Header: http.Header{"Retry-After-Ms": {"1"}}},
		modelserver.Answer{Text: "Yes."}))
	b := bus.New()
	events := conformance.Listen(t, b)
	c := core.Instrument(openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("none")), core.WithBus(b))
	body := `{"model":"test-model-1","messages":[{"role":"user","content":"Still there?"}]}`
	var answer json.RawMessage
	if err := c.Post(t.Context(), "chat/completions", bytes.NewReader([]byte(body)), &answer); err != nil {
		t.Fatal(err)
	}
	for i, r := range server.Requests() {
		if string(r.Body) != body || string(events()[i].RequestBody()) != body {
			t.Errorf("attempt %d: sent %q, heard of %q", i, r.Body, events()[i].RequestBody())
		}
	}
}

// TestTLS: a client with a transport of its own keeps it.
func TestTLS(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Yes."}))
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(u))
	defer proxy.Close()
	b := bus.New()
	events := conformance.Listen(t, b)
	c := core.Instrument(openai.NewClient(option.WithBaseURL(proxy.URL+"/v1"), option.WithAPIKey("none"), option.WithHTTPClient(proxy.Client())), core.WithBus(b))
	if _, err := chatV3.Text(t.Context(), c, "Still there?"); err != nil || len(events()) != 1 {
		t.Errorf("%v, %d events", err, len(events()))
	}
}
