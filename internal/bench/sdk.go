package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// sdkAsk is one way to ask a client of openai-go and to read its answer, as it came.
type sdkAsk func(context.Context, openai.Client) ([]byte, error)

// sdkClient returns a client of openai-go on a transport.
func sdkClient(rt http.RoundTripper) openai.Client {
	return openai.NewClient(option.WithAPIKey("none"), option.WithHTTPClient(&http.Client{Transport: rt}))
}

// sdkParams is a question of 2 KB.
var sdkParams = openai.ChatCompletionNewParams{
	Model: "gpt-5-mini",
	Messages: []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage(newWriter(0).text(950)), openai.UserMessage(newWriter(1).text(950)),
	},
}

// askWhole asks for an answer in one piece.
func askWhole(ctx context.Context, client openai.Client) ([]byte, error) {
	got, err := client.Chat.Completions.New(ctx, sdkParams)
	if err != nil {
		return nil, err
	}
	return []byte(got.RawJSON()), nil
}

// askStream asks for a stream, and returns the events' data one after the other.
func askStream(ctx context.Context, client openai.Client) (data []byte, err error) {
	stream := client.Chat.Completions.NewStreaming(ctx, sdkParams)
	defer closing(&err, stream.Close)
	for stream.Next() {
		event := stream.Current()
		data = append(data, event.RawJSON()...)
	}
	return data, stream.Err()
}

// dataOf returns the data of a stream's events one after the other, without its last.
func dataOf(stream []byte) (data []byte) {
	for line := range bytes.Lines(stream) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("data: ")); ok && string(rest) != "[DONE]" {
			data = append(data, rest...)
		}
	}
	return data
}

// sdkRequest returns the body that openai-go sends.
func sdkRequest(ask sdkAsk) ([]byte, error) {
	var body []byte
	errSeen := errors.New("seen")
	client := openai.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{
		Transport: tripFunc(func(req *http.Request) (_ *http.Response, err error) {
			if body, err = io.ReadAll(req.Body); err != nil {
				return nil, err
			}
			return nil, errors.Join(errSeen, req.Body.Close())
		}),
	}))
	if _, err := ask(context.Background(), client); !errors.Is(err, errSeen) {
		return nil, fmt.Errorf("the SDK sent nothing: %w", err)
	}
	return body, nil
}

// sdkLoop asks the client, and compares each answer.
func sdkLoop(b *testing.B, ctx context.Context, client openai.Client, ask sdkAsk, want []byte) error {
	for b.Loop() {
		got, err := ask(ctx, client)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("the answer is not the one that was recorded:\n%.200q\n%.200q", got, want)
		}
	}
	return nil
}

// sdkFromMemory asks openai-go on a transport in memory.
func sdkFromMemory(ask sdkAsk, answer exchange, want []byte) work {
	return func(b *testing.B) error {
		return sdkLoop(b, b.Context(), sdkClient(&memory{list: []exchange{answer}}), ask, want)
	}
}

// sdkReplayed asks the same client, instrumented, in a replay.
func (l *lab) sdkReplayed(ask sdkAsk, answer exchange, want []byte) work {
	return func(b *testing.B) (err error) {
		if answer.request, err = sdkRequest(ask); err != nil {
			return err
		}
		path, err := l.record([]exchange{answer}, ".json")
		if err != nil {
			return err
		}
		s, err := cassette.Open(path, cassette.Replay, cassette.RepeatLast(), cassette.OnBus(bus.New()))
		if err != nil {
			return err
		}
		defer closing(&err, s.Close)
		client := core.Instrument(sdkClient(unreachable{}))
		return sdkLoop(b, s.Context(b.Context()), client, ask, want)
	}
}
