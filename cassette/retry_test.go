package cassette_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// attempt makes one request; a count of 0 or more marks it as the Stainless SDKs do.
func attempt(ctx context.Context, client *http.Client, url string, count int) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(chatRequest))
	if err != nil {
		panic(err)
	}
	if count >= 0 {
		req.Header.Set("X-Stainless-Retry-Count", fmt.Sprint(count))
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", string(body), " ", resp.Header.Get("X-Should-Retry")))
}

// answers is a server that gives these statuses one after the other, each with its number as the body.
func answers(t *testing.T, statuses ...int) *httptest.Server {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(statuses[n])
		n++
		fmt.Fprint(w, n)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestRetriesReplayAtOnce records the attempts of calls, and replays them with the attempts that an SDK makes then.
func TestRetriesReplayAtOnce(t *testing.T) {
	for _, tc := range []struct {
		name             string
		statuses         []int
		recorded, played []int // the retry count of each attempt; -1 for no mark
		want             []string
		served           int
		reason           string
	}{
		{"429 429 200", []int{429, 429, 200}, []int{0, 1, 2}, []int{0}, []string{"200 3"}, 1, "the first attempt gets what the call came to, and the swallowed ones count as used"},
		{"Fault83 last outcome is an error", []int{429, 429}, []int{0, 1}, []int{0}, []string{"429 2 false"}, 1, "the SDK is told not to retry, so that a Retry-After costs no sleep"},
		{"retried all the same", []int{503, 503}, []int{0, 1}, []int{0, 1, 2, 3}, []string{"503 2 false", "503 2 false", "503 2 false", "503 2 false"}, 1, "a retry that comes all the same is no miss"},
		{"no mark", []int{429, 200}, []int{-1, -1}, []int{-1, -1}, []string{"429 1 false", "200 2"}, 2, "without a mark of the SDK's two requests are two calls, in their order"},
		{"Fault82 404 then 200", []int{404, 200}, []int{0, 0}, []int{0, 0}, []string{"404 1 false", "200 2"}, 2, "errors are recorded, and the next call is another call"},
		{"two calls that look alike", []int{429, 429, 200, 200}, []int{0, 0, 1, 1}, []int{0, 0}, []string{"200 4", "200 3"}, 2, "an attempt is tied to the latest one before it, once"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := answers(t, tc.statuses...)
			client := core.Instrument(server.Client())
			dir := t.TempDir()
			t.Run("record", func(t *testing.T) {
				s := cassette.Use(t, "retries", cassette.Dir(dir))
				for i, count := range tc.recorded {
					want := fmt.Sprint(tc.statuses[i], " ", i+1)
					if got := attempt(s.Context(t.Context()), client, server.URL, count); got != want {
						t.Errorf("live: %q, want %q", got, want)
					}
				}
			})
			server.Close()
			t.Run("replay", func(t *testing.T) {
				s := cassette.Use(t, "retries", cassette.Dir(dir))
				var got []string
				for _, count := range tc.played {
					got = append(got, attempt(s.Context(t.Context()), client, server.URL, count))
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("replayed %q, want %q: %s", got, tc.want, tc.reason)
				}
				if r := s.Report(); r.Served != tc.served || r.Unused != 0 || r.Missed != 0 {
					t.Errorf("report %+v, want %d served: %s", r, tc.served, tc.reason)
				}
			})
		})
	}
}

// TestFault107RecordingNeverAnswersItself extends an empty cassette by two equal requests: the second is not answered
// with what was recorded for the first.
func TestFault107RecordingNeverAnswersItself(t *testing.T) {
	server := answers(t, 429, 200, 200)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for pass, want := range [][]string{{"429 1", "200 2"}, {"429 1 false", "200 2", "200 3"}} {
		t.Run(fmt.Sprint("pass ", pass), func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir), cassette.Extend)
			var got []string
			for range want {
				got = append(got, attempt(s.Context(t.Context()), client, server.URL, -1))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	f, err := cassette.Load(dir + "/call.json")
	if err != nil || f.Len() != 3 {
		t.Fatalf("%v interactions, %v; want 3", f.Len(), err)
	}
}

// TestMissIsNotRetried asks through a Stainless middleware for what was not recorded: beside the error stands an answer
// that tells the SDK not to try again.
func TestMissIsNotRetried(t *testing.T) {
	dir := t.TempDir()
	server := answers(t, 200)
	t.Run("record", func(t *testing.T) {
		s := cassette.Use(t, "call", cassette.Dir(dir))
		attempt(s.Context(t.Context()), core.Instrument(server.Client()), server.URL, -1)
	})
	ft := &quietT{T: t}
	s := cassette.Use(ft, "call", cassette.Dir(dir), cassette.AllowUnused())
	req, _ := http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(`{"model":"other","messages":[]}`))
	resp, err := core.Middleware()(req, func(*http.Request) (*http.Response, error) {
		t.Error("the call went out")
		return nil, io.EOF
	})
	if err == nil || resp == nil || resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("answer %v, error %v; want both", resp, err)
	}
	if len(ft.errors) != 1 {
		t.Errorf("the test heard %q, want the miss once", ft.errors)
	}
}

// quietT is a test that only notes what fails it.
type quietT struct {
	*testing.T
	errors []string
}

func (q *quietT) Errorf(format string, args ...any) {
	q.errors = append(q.errors, fmt.Sprintf(format, args...))
}
func (q *quietT) Failed() bool { return len(q.errors) > 0 }

// TestEqualCallInsideAndOutsideOfATool makes the same request inside of a tool and after it. In the replay the tool's
// body does not run, and the request after it gets its own answer, not the one of the request inside.
func TestEqualCallInsideAndOutsideOfATool(t *testing.T) {
	server := answers(t, 200, 200)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	research := core.Tool("research", func(ctx context.Context, topic string) (string, error) {
		return attempt(ctx, client, server.URL, -1), nil
	})
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		t.Run(mode.String(), func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir), mode)
			ctx := s.Context(t.Context())
			if got, err := research(ctx, "lamps"); got != "200 1" || err != nil {
				t.Errorf("the tool gives %q, %v", got, err)
			}
			if got := attempt(ctx, client, server.URL, -1); got != "200 2" {
				t.Errorf("after the tool: %q, want the second answer", got)
			}
		})
	}
	f, err := cassette.Load(dir + "/call.json")
	if err != nil || f.Len() != 3 || f.Interaction(1).Within != 1 || f.Interaction(2).Within != 0 {
		t.Errorf("%+v, %v: want the tool, the call inside of it, and the one after it", f, err)
	}
}
