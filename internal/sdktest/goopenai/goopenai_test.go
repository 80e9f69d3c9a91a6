package goopenai

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/sashabaranov/go-openai"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var chat = conformance.SDK[*openai.Client]{
	New: func(url string) *openai.Client {
		config := openai.DefaultConfig("none")
		config.BaseURL = url + "/v1"
		return openai.NewClientWithConfig(config)
	},
	Text: func(ctx context.Context, c *openai.Client, prompt string) (string, error) {
		r, err := c.CreateChatCompletion(ctx, request(prompt))
		if err != nil {
			return "", err
		}
		return r.Choices[0].Message.Content, nil
	},
	Stream: func(ctx context.Context, c *openai.Client, prompt string, each func(string) bool) error {
		return stream(ctx, c, request(prompt), func(d openai.ChatCompletionStreamChoiceDelta) bool { return each(d.Content) })
	},
	Tool: func(ctx context.Context, c *openai.Client, prompt string, streamed bool) (name, arguments string, err error) {
		r := request(prompt)
		r.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "weather", Parameters: map[string]any{"type": "object"}}}}
		if !streamed {
			r, err := c.CreateChatCompletion(ctx, r)
			if err != nil {
				return "", "", err
			}
			f := r.Choices[0].Message.ToolCalls[0].Function
			return f.Name, f.Arguments, nil
		}
		err = stream(ctx, c, r, func(d openai.ChatCompletionStreamChoiceDelta) bool {
			for _, t := range d.ToolCalls {
				name += t.Function.Name
				arguments += t.Function.Arguments
			}
			return true
		})
		return name, arguments, err
	},
	Status: func(err error) int {
		var e *openai.APIError
		if errors.As(err, &e) {
			return e.HTTPStatusCode
		}
		return 0
	},

	Provider: "openai",
	Seam:     core.SeamHTTP,
	Paths:    1,
	Refused: map[string]func() error{
		"zero": conformance.Try(&openai.Client{}),
		"nil":  conformance.Try[*openai.Client](nil),
	},
}

func request(prompt string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:    conformance.Model,
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: prompt}},
	}
}

func stream(ctx context.Context, c *openai.Client, r openai.ChatCompletionRequest, each func(openai.ChatCompletionStreamChoiceDelta) bool) error {
	r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := c.CreateChatCompletionStream(ctx, r)
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
		var d openai.ChatCompletionStreamChoiceDelta
		if len(r.Choices) > 0 {
			d = r.Choices[0].Delta
		}
		if !each(d) {
			return nil
		}
	}
}

func Test(t *testing.T) { conformance.Run(t, chat) }
