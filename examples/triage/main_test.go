package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutput compares what a replay prints with testdata/output.txt, which was printed at the root of the repository.
func TestOutput(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "output.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(golden), "examples/triage/", "")
	var out strings.Builder
	if err := run(t.Context(), &out, false, false); err != nil {
		t.Fatal(err)
	}
	if got := filepath.ToSlash(out.String()); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

func TestLiveNeedsKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	err := run(t.Context(), new(strings.Builder), false, true)
	if err == nil || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Errorf("got %v, want an error that says what to set", err)
	}
}
