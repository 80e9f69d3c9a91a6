package anthropic

import (
	"testing"

	anthropicv1 "github.com/anthropics/anthropic-sdk-go"
	anthropicv2 "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// TestShape: what the per-call seam rests on, beside what core.PerCall checks when this package is compiled and run.
func TestShape(t *testing.T) {
	for _, client := range []any{anthropicv1.Client{}, anthropicv2.Client{}} {
		if n, hidden := conformance.Stainless(client); n < 10 || len(hidden) > 0 {
			t.Errorf("%T: %d fields of options, hidden: %q", client, n, hidden)
		}
	}
}

func options(client any) int {
	n, _ := conformance.Stainless(client)
	return n
}
