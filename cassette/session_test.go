package cassette_test

import (
	"context"
	"encoding/json"
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

// TestMain makes the tests independent of where they run: those of recording would fail in CI.
func TestMain(m *testing.M) {
	for _, name := range []string{"CI", "CASSETTE_MODE", "CASSETTE_DIR", "CASSETTE_STRICT", "CASSETTE_RERECORD"} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// chat asks a chat completions endpoint for one answer and returns the body.
func chat(ctx context.Context, client *http.Client, url, prompt string) (string, error) {
	body := fmt.Sprintf(`{"model":"gpt-5","messages":[{"role":"user","content":%q}]}`, prompt)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-live-0123456789abcdef0123456789abcdef")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestRecordThenReplay(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"chatcmpl-%d","model":"gpt-5","choices":[{"message":{"role":"assistant","content":"hello %d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, n, n)
	}))
	client := core.Instrument(server.Client())
	refund := core.Tool("refund", func(_ context.Context, in struct{ Amount json.Number }) (string, error) {
		return "refunded " + in.Amount.String(), nil
	})
	dir := t.TempDir()
	run := func(t *testing.T, mode cassette.Mode) (out string) {
		s := cassette.Use(t, "triage.json", cassette.Dir(dir))
		if s.Mode() != mode {
			t.Fatalf("mode %v, want %v", s.Mode(), mode)
		}
		for range 2 {
			a, err := chat(s.Context(t.Context()), client, server.URL, "hi")
			if err != nil {
				t.Fatal(err)
			}
			out += a
		}
		r, err := refund(s.Context(t.Context()), struct{ Amount json.Number }{"9007199254740993"})
		if err != nil {
			t.Fatal(err)
		}
		return out + r
	}
	var live, replayed string
	t.Run("same", func(t *testing.T) { live = run(t, cassette.Record) })
	server.Close()
	t.Run("same", func(t *testing.T) { replayed = run(t, cassette.Replay) })
	if live != replayed {
		t.Errorf("replayed %q, recorded %q", replayed, live)
	}
	b, _ := os.ReadFile(dir + "/triage.json")
	t.Logf("%s", b)
}
