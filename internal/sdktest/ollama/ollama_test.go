package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var chat = conformance.SDK[*api.Client]{
	New: func(base string) *api.Client {
		u, err := url.Parse(base)
		if err != nil {
			panic(err)
		}
		return api.NewClient(u, http.DefaultClient)
	},
	Text: func(ctx context.Context, c *api.Client, prompt string) (text string, err error) {
		err = c.Chat(ctx, request(prompt, false), func(r api.ChatResponse) error {
			text += r.Message.Content
			return nil
		})
		return text, err
	},
	Stream: func(ctx context.Context, c *api.Client, prompt string, each func(string) bool) error {
		stop := errors.New("stop")
		err := c.Chat(ctx, request(prompt, true), func(r api.ChatResponse) error {
			if !each(r.Message.Content) {
				return stop
			}
			return nil
		})
		if errors.Is(err, stop) {
			return nil
		}
		return err
	},
	Tool: func(ctx context.Context, c *api.Client, prompt string, streamed bool) (name, arguments string, err error) {
		r := request(prompt, streamed)
		r.Tools = api.Tools{{Type: "function", Function: api.ToolFunction{Name: "weather"}}}
		err = c.Chat(ctx, r, func(r api.ChatResponse) error {
			for _, t := range r.Message.ToolCalls {
				b, err := json.Marshal(t.Function.Arguments)
				if err != nil {
					return err
				}
				name, arguments = t.Function.Name, string(b)
			}
			return nil
		})
		return name, arguments, err
	},
	Status: func(err error) int {
		var e api.StatusError
		if errors.As(err, &e) {
			return e.StatusCode
		}
		return 0
	},

	Provider: "ollama",
	Seam:     core.SeamHTTP,
	Paths:    1,
	Silent:   true,
	Refused: map[string]func() error{
		"zero": conformance.Try(&api.Client{}),
		"nil":  conformance.Try[*api.Client](nil),
	},
}

func request(prompt string, stream bool) *api.ChatRequest {
	return &api.ChatRequest{Model: conformance.Model, Stream: &stream, Messages: []api.Message{{Role: "user", Content: prompt}}}
}

func Test(t *testing.T) { conformance.Run(t, chat) }
