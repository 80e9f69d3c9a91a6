// Package plain tests a program that talks to its provider with net/http alone.
package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// client is the program's HTTP client, instrumented once, for production and tests.
var client = core.Instrument(&http.Client{})

// ask is the program: it sends one question to a chat completions endpoint.
func ask(ctx context.Context, baseURL, question string) (answer string, err error) {
	body, err := json.Marshal(map[string]any{
		"model":    "gpt-5.4-mini",
		"messages": []map[string]string{{"role": "user", "content": question}},
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", errors.New("no answer")
	}
	return reply.Choices[0].Message.Content, nil
}

func TestAsk(t *testing.T) {
	// The model to record from: here a stand-in, for you the provider's address and your key.
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Red."}}]}`)
	}))
	defer model.Close()

	s := cassette.Use(t, "ask.json")
	if s.Mode() == cassette.Replay {
		model.Close() // nobody is there to ask
	}
	answer, err := ask(s.Context(t.Context()), model.URL+"/v1", "Name a primary color.")
	if err != nil {
		t.Fatal(err)
	}
	if answer != "Red." {
		t.Errorf("answer %q", answer)
	}
}
