package conformance

import (
	"context"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

// Framework says how a framework, whose client or model has type C, is driven.
type Framework[C any] struct {
	New      func(t *testing.T, url string) C
	Text     func(ctx context.Context, c C, prompt string) (string, error)
	Provider string    // in events
	Seam     core.Seam // in the Report
}

// RunFramework checks that one call of f goes through the seam once, and that the original is left alone.
func RunFramework[C any](t *testing.T, f Framework[C]) {
	server := Serve(t, modelserver.Script(modelserver.Answer{Text: answer}))
	b := bus.New()
	events, elsewhere := Listen(t, b), Listen(t, bus.Default())
	original := f.New(t, server.URL)
	c, report, err := core.TryInstrument(original, core.WithBus(b))
	if err != nil {
		t.Fatal(err)
	}
	if report.Seam != f.Seam {
		t.Errorf("seam = %s at %q, want %s", report.Seam, report.Paths, f.Seam)
	}
	for _, client := range []C{original, c} {
		text, err := f.Text(t.Context(), client, prompt)
		if err != nil || text != answer {
			t.Errorf("%q, %v", text, err)
		}
	}
	SDK[C]{Provider: f.Provider}.one("", 200, answer)(t, events())
	if len(elsewhere()) != 0 {
		t.Error("the original was changed")
	}
}
