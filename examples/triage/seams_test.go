package main

import (
	"errors"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/examples/triage/agent"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

// TestSeams instruments the client in each of the four ways.
func TestSeams(t *testing.T) {
	for name, instrumented := range map[string]func() openai.Client{
		"instrument": func() openai.Client {
			//region instrument
			client := core.Instrument(openai.NewClient())
			//endregion
			return client
		},
		"per call": func() openai.Client {
			//region percall
			client := openai.NewClient(core.PerCall(option.WithMaxRetries(2)))
			//endregion
			return client
		},
		"middleware": func() openai.Client {
			//region middleware
			client := openai.NewClient(option.WithMiddleware(core.Middleware()))
			//endregion
			return client
		},
		"transport": func() openai.Client {
			//region transport
			client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: core.Transport(nil)}))
			//endregion
			return client
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := cassette.Use(t, "triage.json", cassette.Replay)
			calls := 0
			defer bus.Subscribe(s.Bus(), func(*bus.LLMCall) { calls++ })()
			if _, err := agent.Run(s.Context(t.Context()), instrumented(), message); err != nil {
				t.Fatal(err)
			}
			if calls != 3 {
				t.Errorf("%d calls were seen, want 3", calls)
			}
		})
	}
}

func TestReport(t *testing.T) {
	//region report
	client, report, err := core.TryInstrument(openai.NewClient())
	if err != nil {
		t.Fatal(err)
	}
	if report.Seam != core.SeamPerCall || len(report.Notes) > 0 {
		t.Errorf("the seam is %q; reached: %q; left alone: %q", report.Seam, report.Paths, report.Notes)
	}
	//endregion
	if len(client.Options) == 0 {
		t.Error("the client came back without its options")
	}
}

// TestRateLimited replays an error status that the SDK retried when it was recorded: the same error comes back, with no
// sleep.
func TestRateLimited(t *testing.T) {
	busy, err := modelserver.New(modelserver.Script(modelserver.Answer{
		Status: http.StatusTooManyRequests, Text: "slow down", Header: http.Header{"Retry-After-Ms": {"1"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	limited := openai.NewClient(option.WithBaseURL(busy.URL+"/v1"), option.WithAPIKey("none"))
	s := cassette.Use(t, "limited.json")

	//region errors
	_, err = agent.Run(s.Context(t.Context()), core.Instrument(limited), message)
	var failure *openai.Error
	if !errors.As(err, &failure) || failure.StatusCode != http.StatusTooManyRequests {
		t.Errorf("got %v, want the SDK's error with status 429", err)
	}
	//endregion
	if n := len(busy.Requests()); s.Mode() == cassette.Replay && n > 0 {
		t.Errorf("a replay sent %d requests", n)
	}
}
