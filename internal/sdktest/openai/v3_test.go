package openai

import (
	"context"
	"errors"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var chatV3 = conformance.SDK[openai.Client]{
	New: func(url string) openai.Client {
		return openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"))
	},
	Text: func(ctx context.Context, c openai.Client, prompt string) (string, error) {
		r, err := c.Chat.Completions.New(ctx, chatParamsV3(prompt))
		if err != nil {
			return "", err
		}
		return r.Choices[0].Message.Content, nil
	},
	Stream: func(ctx context.Context, c openai.Client, prompt string, each func(string) bool) error {
		stream := c.Chat.Completions.NewStreaming(ctx, chatParamsV3(prompt))
		defer stream.Close()
		for stream.Next() {
			text := ""
			for _, choice := range stream.Current().Choices {
				text += choice.Delta.Content
			}
			if !each(text) {
				break
			}
		}
		return stream.Err()
	},
	Tool: func(ctx context.Context, c openai.Client, prompt string, streamed bool) (string, string, error) {
		params := chatParamsV3(prompt)
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "weather", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
		})}
		if !streamed {
			r, err := c.Chat.Completions.New(ctx, params)
			if err != nil {
				return "", "", err
			}
			f := r.Choices[0].Message.ToolCalls[0].Function
			return f.Name, f.Arguments, nil
		}
		var all openai.ChatCompletionAccumulator
		stream := c.Chat.Completions.NewStreaming(ctx, params)
		defer stream.Close()
		for stream.Next() {
			all.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			return "", "", err
		}
		f := all.Choices[0].Message.ToolCalls[0].Function
		return f.Name, f.Arguments, nil
	},
	Status: statusV3,

	Provider: "openai",
	Seam:     core.SeamPerCall,
	Paths:    options(openai.Client{}),
	Retries:  true,
	Tied:     true,
	Refused: map[string]func() error{
		"zero":         conformance.Try(openai.Client{}),
		"zero pointer": conformance.Try(&openai.Client{}),
		"nil":          conformance.Try[*openai.Client](nil),
		"zero service": conformance.Try(openai.ChatCompletionService{}),
	},
}

func chatParamsV3(prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:         conformance.Model,
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
}

func statusV3(err error) int {
	var e *openai.Error
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}

// responsesV3 is the other API of the same client.
var responsesV3 = func() conformance.SDK[openai.Client] {
	s := chatV3
	params := func(prompt string) responses.ResponseNewParams {
		return responses.ResponseNewParams{Model: conformance.Model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)}}
	}
	s.Text = func(ctx context.Context, c openai.Client, prompt string) (string, error) {
		r, err := c.Responses.New(ctx, params(prompt))
		if err != nil {
			return "", err
		}
		return r.OutputText(), nil
	}
	s.Stream = func(ctx context.Context, c openai.Client, prompt string, each func(string) bool) error {
		stream := c.Responses.NewStreaming(ctx, params(prompt))
		defer stream.Close()
		for stream.Next() {
			text := ""
			if e := stream.Current(); e.Type == "response.output_text.delta" {
				text = e.AsResponseOutputTextDelta().Delta
			}
			if !each(text) {
				break
			}
		}
		return stream.Err()
	}
	s.Tool = func(ctx context.Context, c openai.Client, prompt string, streamed bool) (string, string, error) {
		p := params(prompt)
		p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", map[string]any{"type": "object"}, false)}
		if !streamed {
			r, err := c.Responses.New(ctx, p)
			if err != nil {
				return "", "", err
			}
			f := r.Output[0].AsFunctionCall()
			return f.Name, f.Arguments, nil
		}
		stream := c.Responses.NewStreaming(ctx, p)
		defer stream.Close()
		var name, arguments string
		for stream.Next() {
			switch e := stream.Current(); e.Type {
			case "response.output_item.added":
				name = e.AsResponseOutputItemAdded().Item.AsFunctionCall().Name
			case "response.function_call_arguments.delta":
				arguments += e.AsResponseFunctionCallArgumentsDelta().Delta
			}
		}
		return name, arguments, stream.Err()
	}
	return s
}()

func TestV3Chat(t *testing.T)      { conformance.Run(t, chatV3) }
func TestV3Responses(t *testing.T) { conformance.Run(t, responsesV3) }
