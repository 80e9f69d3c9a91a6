package docs

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

const question = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

// TestDrift records, and verifies against a server that says something else by then.
func TestDrift(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		s := cassette.Use(t, "drift.json")
		post(t, s.Context(t.Context()), url, question)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"something else"}}]}`))
	}))
	defer server.Close()

	s := cassette.Use(t, "drift.json", cassette.Verify)
	post(t, s.Context(t.Context()), server.URL+"/v1/chat/completions", question)
	//region drift
	drifts, err := s.Drift()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		t.Logf("%s answers differently", d.Call)
	}
	//endregion
	if len(drifts) != 1 {
		t.Errorf("%d drifts, want 1", len(drifts))
	}
}

// patient asks until it gets an answer, with a wait in between, as agents do above their SDK.
func patient(ctx context.Context, url string) (*http.Response, error) {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(question))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil || resp.StatusCode == http.StatusOK {
			return resp, err
		}
		resp.Body.Close()
		time.Sleep(20 * time.Millisecond)
	}
}

func TestBubble(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	url := server.URL + "/v1/chat/completions"
	bubble := func(t *testing.T) {
		//region bubble
		cassette.Bubble(t, "patient.json", func(t *testing.T, s *cassette.Session) {
			resp, err := patient(s.Context(t.Context()), url)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		})
		//endregion
	}
	t.Run("record", bubble)
	server.Close()
	t.Run("replay", bubble)
}

func TestUnrecorded(t *testing.T) {
	fake := httptest.NewServer(http.NotFoundHandler())
	defer fake.Close()
	ctx := t.Context()
	//region unrecorded
	req, err := http.NewRequestWithContext(cassette.Unrecorded(ctx), http.MethodGet, fake.URL, nil)
	//endregion
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// TestCall records what does not go over HTTP.
func TestCall(t *testing.T) {
	search := func(context.Context, string) ([]string, error) { return []string{"returns.md"}, nil }
	passes(t, func(t *testing.T, pass int, url string) {
		if pass == 1 {
			search = func(context.Context, string) ([]string, error) { return nil, errors.New("should not run") }
		}
		s := cassette.Use(t, "call.json")
		ctx := s.Context(t.Context())
		//region call
		pages, err := core.Call(ctx, "retrieval", "how to return a lamp", func(ctx context.Context) ([]string, error) {
			return search(ctx, "how to return a lamp")
		})
		//endregion
		if err != nil || len(pages) != 1 {
			t.Errorf("%q, %v", pages, err)
		}
	})
}
