package openai

import (
	"testing"

	openaiv1 "github.com/openai/openai-go"
	openaiv2 "github.com/openai/openai-go/v2"
	openaiv3 "github.com/openai/openai-go/v3"

	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// TestShape: what the per-call seam rests on, beside what core.PerCall checks when this package is compiled and run.
func TestShape(t *testing.T) {
	for _, client := range []any{openaiv1.Client{}, openaiv2.Client{}, openaiv3.Client{}} {
		if n, hidden := conformance.Stainless(client); n < 10 || len(hidden) > 0 {
			t.Errorf("%T: %d fields of options, hidden: %q", client, n, hidden)
		}
	}
}

func options(client any) int {
	n, _ := conformance.Stainless(client)
	return n
}
