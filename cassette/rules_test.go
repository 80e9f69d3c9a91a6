package cassette_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// numbered is a server that answers with the number of the request.
func numbered(t *testing.T) *httptest.Server {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprint(w, n)
	}))
	t.Cleanup(server.Close)
	return server
}

// prompt asks one thing of a chat endpoint and returns what came.
func prompt(ctx context.Context, client *http.Client, url, text string) string {
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text)
	resp, err := client.Do(must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	return string(must(io.ReadAll(resp.Body)))
}

// TestRulesThatChanged records under one set of rules and replays under another: a stored placeholder is equal to live
// text of its fingerprint, and what is hidden now is hidden on both sides.
func TestRulesThatChanged(t *testing.T) {
	customer := cassette.Redact(redact.Pattern("customer", regexp.MustCompile(`CUST-\d{6}`)))
	for _, tc := range []struct {
		name             string
		recorded, played []cassette.Option
	}{
		{"a rule of the user's was dropped", []cassette.Option{customer}, nil},
		{"a rule of the user's was added", nil, []cassette.Option{customer}},
		{"the built-in rules were turned off", nil, []cassette.Option{cassette.NoRedaction()}},
		{"the built-in rules were turned on", []cassette.Option{cassette.NoRedaction()}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := numbered(t)
			client := core.Instrument(server.Client())
			dir := t.TempDir()
			texts := []string{"first CUST-111111 at ann@corp.io", "second CUST-222222 at bob@corp.io", "third CUST-333333 at eve@corp.io"}
			t.Run("record", func(t *testing.T) {
				s := cassette.Use(t, "call", append(tc.recorded, cassette.Dir(dir))...)
				for _, text := range texts {
					prompt(s.Context(t.Context()), client, server.URL, text)
				}
			})
			t.Run("replay", func(t *testing.T) {
				s := cassette.Use(t, "call", append(tc.played, cassette.Dir(dir))...)
				for _, i := range []int{2, 0, 1} {
					if got, want := prompt(s.Context(t.Context()), client, server.URL, texts[i]), fmt.Sprint(i+1); got != want {
						t.Errorf("%q is answered with %s, want %s", texts[i], got, want)
					}
				}
			})
		})
	}
}

// TestValuesWithFingerprintsThatBeginAlike records two requests that differ in nothing but a hidden value, with values
// whose placeholders would be the same: each replays to its own answer, in either order.
func TestValuesWithFingerprintsThatBeginAlike(t *testing.T) {
	seen := map[string]string{}
	var one, two string
	for i := 0; one == ""; i++ {
		value := fmt.Sprintf("user%d@corp.io", i)
		short := redact.WholeFingerprint([]byte(value))[:4]
		if other, ok := seen[short]; ok {
			one, two = other, value
		}
		seen[short] = value
	}
	server := numbered(t)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, order := range [][]string{{one, two}, {two, one}, {one, two}} {
		t.Run(order[0], func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			for _, value := range order {
				want := map[string]string{one: "1", two: "2"}[value]
				if got := prompt(s.Context(t.Context()), client, server.URL, "mail "+value); got != want {
					t.Errorf("%s: %s is answered with %s, want %s", s.Mode(), value, got, want)
				}
			}
		})
	}
}

// TestAnotherModelIsAnotherCall has an interceptor fall back to another model: the two requests are attempts of one call
// to the SDK, and each replays to its own answer.
func TestAnotherModelIsAnotherCall(t *testing.T) {
	server := answers(t, 500, 200)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		t.Run(mode.String(), func(t *testing.T) {
			s := cassette.Use(t, "call", mode, cassette.Dir(dir))
			var seen []int
			defer core.Intercept(s.Bus(), core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
				resp, err := next(req)
				if err != nil {
					return nil, err
				}
				seen = append(seen, resp.StatusCode)
				if resp.StatusCode != 500 {
					return resp, nil
				}
				resp.Body.Close()
				fallback := req.Clone(req.Context())
				fallback.Body = io.NopCloser(strings.NewReader(`{"model":"other","messages":[]}`))
				resp, err = next(fallback)
				if err == nil {
					seen = append(seen, resp.StatusCode)
				}
				return resp, err
			}))()
			if got := attempt(s.Context(t.Context()), client, server.URL, -1); got != "200 2" {
				t.Errorf("the program gets %q", got)
			}
			if fmt.Sprint(seen) != "[500 200]" {
				t.Errorf("the interceptor sees %v", seen)
			}
		})
	}
}

// TestReplayObeysTheContext asks with a context that has ended already: the call ends as it would live.
func TestReplayObeysTheContext(t *testing.T) {
	server := numbered(t)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	t.Run("record", func(t *testing.T) {
		s := cassette.Use(t, "call", cassette.Dir(dir))
		prompt(s.Context(t.Context()), client, server.URL, "hello")
	})
	s := cassette.Use(t, "call", cassette.Dir(dir))
	ctx, cancel := context.WithCancel(s.Context(t.Context()))
	cancel()
	req := must(http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)))
	if _, err := core.Transport(nil).RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestEncodedRequests records a request whose body is compressed: the file holds it decoded, and the same request,
// compressed otherwise, is the same.
func TestEncodedRequests(t *testing.T) {
	server := numbered(t)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, level := range []int{gzip.BestSpeed, gzip.BestCompression, gzip.NoCompression} {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			var body bytes.Buffer
			w := must(gzip.NewWriterLevel(&body, level))
			io.WriteString(w, chatRequest)
			w.Close()
			s := cassette.Use(t, "call", cassette.Dir(dir))
			req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, server.URL+"/v1/chat/completions", &body))
			req.Header.Set("Content-Encoding", "gzip")
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		})
	}
	if in := onlyInteraction(t, dir).HTTP.Request; string(in.Bytes) != chatRequest || in.Encoding != "gzip" {
		t.Errorf("the file holds %q, %q", in.Bytes, in.Encoding)
	}
}

// TestSecretInTheModelsName hides it where the file names the model, too.
func TestSecretInTheModelsName(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	server := numbered(t)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for range 2 {
		t.Run("pass", func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(`{"model":"`+secret+`","messages":[]}`)))
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	if in := onlyInteraction(t, dir); strings.Contains(in.Model, secret) || strings.Contains(string(in.HTTP.Request.Bytes), secret) {
		t.Errorf("the secret is in the file: %s", in.Model)
	}
}

// TestClosedSessionRefusesAtOnce calls with the context of a session that has ended: the call is refused before any
// interceptor could answer it.
func TestClosedSessionRefusesAtOnce(t *testing.T) {
	server := numbered(t)
	client := core.Instrument(server.Client())
	s, err := cassette.Open("call.json", cassette.Dir(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	defer core.Intercept(s.Bus(), core.HTTPInterceptor(func(*http.Request, core.RoundTrip) (*http.Response, error) {
		t.Error("an interceptor was asked")
		return nil, io.EOF
	}))()
	if got := prompt(s.Context(t.Context()), client, server.URL, "hello"); !strings.Contains(got, "was refused") {
		t.Errorf("the call came to %q", got)
	}
}
