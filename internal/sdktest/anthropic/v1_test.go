package anthropic

import (
	"context"
	"errors"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var messagesV1 = conformance.SDK[anthropic.Client]{
	New: func(url string) anthropic.Client {
		return anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"))
	},
	Text: func(ctx context.Context, c anthropic.Client, prompt string) (string, error) {
		m, err := c.Messages.New(ctx, paramsV1(prompt))
		if err != nil {
			return "", err
		}
		return m.Content[0].Text, nil
	},
	Stream: func(ctx context.Context, c anthropic.Client, prompt string, each func(string) bool) error {
		stream := c.Messages.NewStreaming(ctx, paramsV1(prompt))
		defer stream.Close()
		for stream.Next() {
			text := ""
			if e, ok := stream.Current().AsAny().(anthropic.ContentBlockDeltaEvent); ok {
				text = e.Delta.Text
			}
			if !each(text) {
				break
			}
		}
		return stream.Err()
	},
	Tool: func(ctx context.Context, c anthropic.Client, prompt string, streamed bool) (string, string, error) {
		params := paramsV1(prompt)
		params.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"city": map[string]any{"type": "string"}},
		}, "weather")}
		if !streamed {
			m, err := c.Messages.New(ctx, params)
			if err != nil {
				return "", "", err
			}
			return m.Content[0].Name, string(m.Content[0].Input), nil
		}
		var m anthropic.Message
		stream := c.Messages.NewStreaming(ctx, params)
		defer stream.Close()
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				return "", "", err
			}
		}
		if err := stream.Err(); err != nil {
			return "", "", err
		}
		return m.Content[0].Name, string(m.Content[0].Input), nil
	},
	Status: func(err error) int {
		var e *anthropic.Error
		if errors.As(err, &e) {
			return e.StatusCode
		}
		return 0
	},

	Provider: "anthropic",
	Seam:     core.SeamPerCall,
	Paths:    options(anthropic.Client{}),
	Retries:  true,
	Tied:     true,
	Refused: map[string]func() error{
		"zero":         conformance.Try(anthropic.Client{}),
		"zero pointer": conformance.Try(&anthropic.Client{}),
		"nil":          conformance.Try[*anthropic.Client](nil),
		"zero service": conformance.Try(anthropic.MessageService{}),
	},
}

func paramsV1(prompt string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: conformance.Model, MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
}

func TestV1(t *testing.T) { conformance.Run(t, messagesV1) }
