package anthropic

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

func TestPerCall(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Yes."}))
	b := bus.New()
	events := conformance.Listen(t, b)
	c := anthropic.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"), core.PerCall(option.WithMaxRetries(2), core.WithBus(b)))
	if text, err := messagesV2.Text(t.Context(), c, "Still there?"); err != nil || text != "Yes." || len(events()) != 1 {
		t.Errorf("%q, %v, %d events", text, err, len(events()))
	}
}

// TestNoKey: what answers in the place of the provider needs no key, and the SDK still refuses to send without one.
func TestNoKey(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID"} {
		t.Setenv(name, "")
	}
	t.Setenv("ANTHROPIC_CONFIG_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	server := conformance.Serve(t, modelserver.Script(modelserver.Answer{Text: "Yes."}))
	b := bus.New()
	c := core.Instrument(anthropic.NewClient(option.WithBaseURL(server.URL), option.WithMaxRetries(0)), core.WithBus(b))

	if _, err := messagesV2.Text(t.Context(), c, "Still there?"); err == nil || len(server.Requests()) != 0 {
		t.Errorf("without a key: %v, %d requests", err, len(server.Requests()))
	}

	t.Cleanup(core.Intercept(b, core.HTTPInterceptor(func(req *http.Request, _ core.RoundTrip) (*http.Response, error) {
		return &http.Response{
			StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: -1,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   io.NopCloser(strings.NewReader(`{"type":"message","role":"assistant","content":[{"type":"text","text":"Yes."}]}`)),
		}, nil
	})))
	if text, err := messagesV2.Text(t.Context(), c, "Still there?"); err != nil || text != "Yes." {
		t.Errorf("answered in its place: %q, %v", text, err)
	}
}
