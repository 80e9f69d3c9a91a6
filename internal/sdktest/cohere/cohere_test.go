package cohere

import (
	"context"
	"errors"
	"io"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/client"
	coherecore "github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/modelserver"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// The SDK sleeps half a second and more after each failed attempt, the last one too, whatever the answer says. So it has
// but one here, and the test of attempts is another one.
var chat = conformance.SDK[*client.Client]{
	New: func(url string) *client.Client { return newClient(url, 1) },
	Text: func(ctx context.Context, c *client.Client, prompt string) (string, error) {
		r, err := c.V2.Chat(ctx, &cohere.V2ChatRequest{Model: conformance.Model, Messages: messages(prompt)})
		if err != nil {
			return "", err
		}
		return r.Message.Content[0].Text.Text, nil
	},
	Stream: func(ctx context.Context, c *client.Client, prompt string, each func(string) bool) error {
		return stream(ctx, c, &cohere.V2ChatStreamRequest{Model: conformance.Model, Messages: messages(prompt)}, func(r cohere.V2ChatStreamResponse) bool {
			text := ""
			if r.ContentDelta != nil {
				text = *r.ContentDelta.Delta.Message.Content.Text
			}
			return each(text)
		})
	},
	Tool: func(ctx context.Context, c *client.Client, prompt string, streamed bool) (name, arguments string, err error) {
		tools := []*cohere.ToolV2{{Type: cohere.String("function"), Function: &cohere.ToolV2Function{Name: "weather", Parameters: map[string]any{"type": "object"}}}}
		if !streamed {
			r, err := c.V2.Chat(ctx, &cohere.V2ChatRequest{Model: conformance.Model, Messages: messages(prompt), Tools: tools})
			if err != nil {
				return "", "", err
			}
			f := r.Message.ToolCalls[0].Function
			return *f.Name, *f.Arguments, nil
		}
		request := &cohere.V2ChatStreamRequest{Model: conformance.Model, Messages: messages(prompt), Tools: tools}
		err = stream(ctx, c, request, func(r cohere.V2ChatStreamResponse) bool {
			if r.ToolCallStart != nil {
				name = *r.ToolCallStart.Delta.Message.ToolCalls.Function.Name
			}
			if r.ToolCallDelta != nil {
				arguments += *r.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments
			}
			return true
		})
		return name, arguments, err
	},
	Status: func(err error) int {
		var e *coherecore.APIError
		if errors.As(err, &e) {
			return e.StatusCode
		}
		return 0
	},

	Provider: "cohere",
	Seam:     core.SeamHTTP,
	Paths:    7,
	Refused: map[string]func() error{
		"zero": conformance.Try(&client.Client{}),
		"nil":  conformance.Try[*client.Client](nil),
	},
}

func newClient(url string, attempts uint) *client.Client {
	return client.NewClient(option.WithBaseURL(url), option.WithToken("none"), option.WithMaxAttempts(attempts))
}

func messages(prompt string) cohere.ChatMessages {
	return cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: prompt}}}}
}

func stream(ctx context.Context, c *client.Client, r *cohere.V2ChatStreamRequest, each func(cohere.V2ChatStreamResponse) bool) error {
	s, err := c.V2.ChatStream(ctx, r)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !each(r) {
			return nil
		}
	}
}

func Test(t *testing.T) { conformance.Run(t, chat) }

// TestAttempts: nothing on the wire ties the attempts of a call, so they are two calls on the bus.
func TestAttempts(t *testing.T) {
	server := conformance.Serve(t, modelserver.Script(
		modelserver.Answer{Status: 429, Text: "too many requests"}, modelserver.Answer{Text: "Yes."}))
	b := bus.New()
	events := conformance.Listen(t, b)
	c := core.Instrument(newClient(server.URL, 2), core.WithBus(b))
	if text, err := chat.Text(t.Context(), c, "Still there?"); err != nil || text != "Yes." {
		t.Fatal(text, err)
	}
	if e := events(); len(e) != 2 || e[0].CallID == e[1].CallID || e[0].Status != 429 || e[1].Status != 200 {
		t.Errorf("events = %+v", e)
	}
}
