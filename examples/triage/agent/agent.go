// Package agent is a support agent of a small web shop: a loop over chat completions with two tools. Nothing in it
// knows of tests or of recordings.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"

	"github.com/mixtape-go/mixtape/core"
)

const (
	model        = openai.ChatModelGPT5_4Mini
	maxTurns     = 8
	instructions = "You are the support agent of a small web shop. Look an order up before you say anything about it. " +
		"Refund what was charged by mistake, and nothing else. Answer in two sentences."
)

// Run answers a customer's message, over an order book of its own.
func Run(ctx context.Context, client openai.Client, message string) (string, error) {
	return New(client, SampleOrders()).Run(ctx, message)
}

// Agent answers customers. It is safe for concurrent use.
type Agent struct {
	client openai.Client
	lookup func(context.Context, Lookup) (Order, error)
	refund func(context.Context, Refund) (Receipt, error)
}

//region tools

// New returns an agent that asks the model through client and works on orders.
func New(client openai.Client, orders *Orders) *Agent {
	return &Agent{
		client: client,
		lookup: core.Tool("lookup_order", orders.Lookup),
		refund: core.Tool("refund", orders.Refund),
	}
}

//endregion

// Run answers a customer's message.
func (a *Agent) Run(ctx context.Context, message string) (string, error) {
	return a.converse(ctx, message, a.ask)
}

// Stream is Run; it passes the model's words to onText as they come.
func (a *Agent) Stream(ctx context.Context, message string, onText func(string)) (string, error) {
	return a.converse(ctx, message, func(ctx context.Context, p openai.ChatCompletionNewParams) (openai.ChatCompletionMessage, error) {
		return a.stream(ctx, p, onText)
	})
}

type asker func(context.Context, openai.ChatCompletionNewParams) (openai.ChatCompletionMessage, error)

// converse lets the model and the tools take turns until the model has an answer.
func (a *Agent) converse(ctx context.Context, message string, ask asker) (string, error) {
	params := openai.ChatCompletionNewParams{
		Model:    model,
		Tools:    definitions,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(message)},
	}
	for range maxTurns {
		reply, err := ask(ctx, params)
		if err != nil {
			return "", err
		}
		if len(reply.ToolCalls) == 0 {
			return reply.Content, nil
		}
		params.Messages = append(params.Messages, reply.ToParam())
		for _, call := range reply.ToolCalls {
			result, err := a.use(ctx, call)
			if err != nil {
				return "", err
			}
			params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
		}
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

func (a *Agent) ask(ctx context.Context, params openai.ChatCompletionNewParams) (openai.ChatCompletionMessage, error) {
	completion, err := a.client.Chat.Completions.New(ctx, params)
	if err != nil {
		return openai.ChatCompletionMessage{}, err
	}
	return first(completion)
}

func (a *Agent) stream(ctx context.Context, params openai.ChatCompletionNewParams, onText func(string)) (openai.ChatCompletionMessage, error) {
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := a.client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		sum.AddChunk(chunk)
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			onText(chunk.Choices[0].Delta.Content)
		}
	}
	if err := stream.Err(); err != nil {
		return openai.ChatCompletionMessage{}, err
	}
	return first(&sum.ChatCompletion)
}

func first(c *openai.ChatCompletion) (openai.ChatCompletionMessage, error) {
	if len(c.Choices) == 0 {
		return openai.ChatCompletionMessage{}, errors.New("the model gave no answer")
	}
	return c.Choices[0].Message, nil
}

// use runs the tool that the model asks for and returns what the model is told. What the model can put right itself (an
// order that is not there, arguments that do not fit) it is told as well.
func (a *Agent) use(ctx context.Context, call openai.ChatCompletionMessageToolCallUnion) (string, error) {
	ctx = core.WithToolCallID(ctx, call.ID)
	var result any
	var err error
	switch arguments := []byte(call.Function.Arguments); call.Function.Name {
	case "lookup_order":
		result, err = run(ctx, a.lookup, arguments)
	case "refund":
		result, err = run(ctx, a.refund, arguments)
	default:
		err = fmt.Errorf("%w: there is no tool %s", errMistake, call.Function.Name)
	}
	switch {
	case errors.Is(err, ErrNoOrder), errors.Is(err, ErrNotDue), errors.Is(err, errMistake):
		result = map[string]string{"error": err.Error()}
	case err != nil:
		return "", err
	}
	text, err := json.Marshal(result)
	return string(text), err
}

var errMistake = errors.New("mistaken tool call")

func run[In, Out any](ctx context.Context, tool func(context.Context, In) (Out, error), arguments []byte) (Out, error) {
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		var none Out
		return none, fmt.Errorf("%w: %w", errMistake, err)
	}
	return tool(ctx, in)
}
