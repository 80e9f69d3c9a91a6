package docs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// TestMain keeps the cassettes of these tests out of the tree, and the tests apart from the environment.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	for _, v := range []string{"CI", "CASSETTE_MODE", "CASSETTE_STRICT", "CASSETTE_RERECORD"} {
		os.Unsetenv(v)
	}
	dir, err := os.MkdirTemp("", "mixtape-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("CASSETTE_DIR", dir)
	return m.Run()
}

var client = core.Instrument(&http.Client{})

// passes runs fn as a test that records, and once more as one that replays with the server gone.
func passes(t *testing.T, fn func(t *testing.T, pass int, url string)) {
	served := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"answer %d"}}]}`, served)
	}))
	defer server.Close()
	t.Run("record", func(t *testing.T) { fn(t, 0, server.URL+"/v1/chat/completions") })
	server.Close()
	t.Run("replay", func(t *testing.T) { fn(t, 1, server.URL+"/v1/chat/completions") })
}

// post sends a request and returns the answer's body.
func post(t *testing.T, ctx context.Context, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantMode checks that a pass did what it is there for.
func wantMode(t *testing.T, s *cassette.Session, pass int) {
	t.Helper()
	if want := []cassette.Mode{cassette.Record, cassette.Replay}[pass]; s.Mode() != want {
		t.Fatalf("mode %v, want %v", s.Mode(), want)
	}
}
