package modelserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/internal/modelserver"
)

func start(t *testing.T, answers ...modelserver.Answer) *modelserver.Server {
	t.Helper()
	s, err := modelserver.New(modelserver.Script(answers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(t *testing.T, url, body string) (*http.Response, string, error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

var requests = []struct{ format, path, body, streamPath, streamBody string }{
	{"openai.chat", "/v1/chat/completions", `{"model":"m"}`, "/v1/chat/completions", `{"model":"m","stream":true}`},
	{"openai.responses", "/v1/responses", `{"model":"m"}`, "/v1/responses", `{"model":"m","stream":true}`},
	{"anthropic.messages", "/v1/messages", `{"model":"m"}`, "/v1/messages", `{"model":"m","stream":true}`},
	{"cohere.chat", "/v2/chat", `{"model":"m"}`, "/v2/chat", `{"model":"m","stream":true}`},
	{"ollama.chat", "/api/chat", `{"model":"m","stream":false}`, "/api/chat", `{"model":"m"}`},
	{"gemini.generate_content", "/v1beta/models/m:generateContent", `{}`, "/v1beta/models/m:streamGenerateContent", `{}`},
	{"bedrock.converse", "/model/m/converse", `{}`, "/model/m/converse-stream", `{}`},
}

func TestFormats(t *testing.T) {
	for _, r := range requests {
		t.Run(r.format, func(t *testing.T) {
			s := start(t, modelserver.Answer{
				Text: "Hello.", Tools: []modelserver.ToolCall{{ID: "call_1", Name: "weather", Arguments: `{"city":"Riga"}`}},
			})
			resp, body, err := post(t, s.URL+r.path, r.body)
			if err != nil || resp.StatusCode != 200 || !json.Valid([]byte(body)) || !strings.Contains(body, "Hello.") || !strings.Contains(body, "weather") {
				t.Errorf("plain: %v, %s", err, body)
			}
			resp, body, err = post(t, s.URL+r.streamPath, r.streamBody)
			if err != nil || resp.Header.Get("Content-Type") == "application/json" || !strings.Contains(body, "Hell") || !strings.Contains(body, "weather") {
				t.Errorf("streamed: %v, %s", err, body)
			}
			for i, seen := range s.Requests() {
				if seen.N != i || seen.Format != r.format || seen.Model != "m" || seen.Streamed != (i == 1) {
					t.Errorf("request %d is logged as %+v", i, seen)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	chat, stream := `{"model":"m"}`, `{"model":"m","stream":true}`
	s := start(t,
		modelserver.Answer{Status: 429, Text: "slow down", Header: http.Header{"retry-after-ms": {"1"}}},
		modelserver.Answer{Drop: true},
		modelserver.Answer{Text: "Hello.", Cut: true},
		modelserver.Answer{Text: "Hello.", Cut: true},
	)
	url := s.URL + "/v1/chat/completions"
	resp, body, err := post(t, url, chat)
	if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After-Ms") != "1" || !strings.Contains(body, "slow down") {
		t.Errorf("status: %v, %s", err, body)
	}
	if resp, _, err := post(t, url, chat); err == nil {
		t.Errorf("dropped: %v", resp.Status)
	}
	for _, body := range []string{chat, stream} {
		if resp, got, err := post(t, url, body); resp == nil || err == nil || got == "" {
			t.Errorf("cut: %v, %q", err, got)
		}
	}
	if resp, _, err := post(t, s.URL+"/nowhere", chat); err != nil || resp.StatusCode != 404 || len(s.Requests()) != 4 {
		t.Errorf("unknown path: %v, %v", resp, err)
	}
}

func TestGate(t *testing.T) {
	gate := make(chan struct{})
	s := start(t, modelserver.Answer{Text: "Hello.", Gate: gate})
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 4096)
	n, err := resp.Body.Read(first)
	if err != nil || !strings.Contains(string(first[:n]), "message_start") {
		t.Fatalf("%q, %v", first[:n], err)
	}
	close(gate)
	if rest, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(rest), "message_stop") {
		t.Errorf("%q, %v", rest, err)
	}
}
