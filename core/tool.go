package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/mixtape-go/mixtape/bus"
)

// Tool puts a tool on the stream of events: it returns a function that does what fn does, and publishes a
// [bus.ToolCall] each time. Where an interceptor answers, as a cassette does in a replay, fn does not run.
//
// Arguments and results travel as JSON. In and Out must survive it: a value that does not come back from its JSON as it
// was makes the event Lossy, and a recording fails on it. Live, the caller gets fn's own result and error, untouched;
// from a recording, a result decoded from JSON, or a [*ToolError].
func Tool[In, Out any](name string, fn func(context.Context, In) (Out, error), opts ...Option) func(context.Context, In) (Out, error) {
	cfg := newConfig(opts)
	return func(ctx context.Context, in In) (Out, error) {
		return runTyped(ctx, cfg, bus.KindTool, name, in, fn)
	}
}

// Call records anything else on the stream of events: a provider without HTTP, a retrieval, a memory read. It does what
// fn does, and publishes a [bus.FuncCall]. Kind says what it is ("retrieval"); kind and request together are what a
// recording is found by. Request and T must survive JSON, as for [Tool].
func Call[T any](ctx context.Context, kind string, request any, fn func(context.Context) (T, error), opts ...Option) (T, error) {
	return runTyped(ctx, newConfig(opts), bus.KindFunc, kind, request, func(ctx context.Context, _ any) (T, error) { return fn(ctx) })
}

// Dispatcher runs a tool by its name, with the raw JSON arguments that a model wrote.
type Dispatcher func(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error)

// Dispatch is [Tool] for an agent that calls its tools by name: it puts every tool that d runs on the stream of events.
// A result that is no valid JSON, an empty one too, makes the event Lossy.
func Dispatch(d Dispatcher, opts ...Option) Dispatcher {
	cfg := newConfig(opts)
	return func(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
		req := &ToolRequest{Kind: bus.KindTool, Name: name, Arguments: arguments}
		s, err := newToolSeam(ctx, cfg, req)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return d(ctx, name, arguments)
		}
		s.body = func(ctx context.Context, req *ToolRequest) (result json.RawMessage, lossy, err error) {
			result, err = d(ctx, req.Name, req.Arguments)
			if err == nil && !json.Valid(result) {
				lossy = fmt.Errorf("%s: its result of %d bytes is no valid JSON", req, len(result))
			}
			return result, lossy, err
		}
		return s.call(ctx, req)
	}
}

type toolCallIDKey struct{}

// WithToolCallID returns a context in which the next tools carry the id of the model's tool call that asked for them,
// so that subscribers can join the two. The tools that these run in turn do not carry it.
func WithToolCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, toolCallIDKey{}, id)
}

func runTyped[In, Out any](ctx context.Context, cfg *config, kind bus.Kind, name string, in In, fn func(context.Context, In) (Out, error)) (Out, error) {
	var none Out
	req := &ToolRequest{Kind: kind, Name: name}
	s, err := newToolSeam(ctx, cfg, req)
	if err != nil {
		return none, err
	}
	if s == nil {
		return fn(ctx, in)
	}
	arguments, lossyArgument := encode(reflect.ValueOf(in))
	req.Arguments = arguments

	// An interceptor may run the body more than once, concurrently too, and answer with what either run gave.
	type run struct {
		out  Out
		json json.RawMessage
		err  error
	}
	var mu sync.Mutex
	var runs []run
	s.body = func(ctx context.Context, req *ToolRequest) (result json.RawMessage, lossy, err error) {
		arg := in
		if !bytes.Equal(req.Arguments, arguments) { // an interceptor changed them
			arg = *new(In)
			if err := json.Unmarshal(req.Arguments, &arg); err != nil {
				return nil, nil, fmt.Errorf("mixtape: %s: the arguments that an interceptor gave do not fit %T: %w", req, arg, err)
			}
		} else if lossyArgument != nil {
			lossy = fmt.Errorf("%s: its argument %w", req, lossyArgument)
		}
		r := run{}
		if r.out, r.err = fn(ctx, arg); r.err == nil {
			var lossyResult error
			if r.json, lossyResult = encode(reflect.ValueOf(&r.out).Elem()); lossyResult != nil {
				lossy = errors.Join(lossy, fmt.Errorf("%s: its result %w", req, lossyResult))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		runs = append(runs, r)
		return r.json, lossy, r.err
	}
	result, err := s.call(ctx, req)

	mu.Lock()
	defer mu.Unlock()
	for _, r := range runs {
		if (r.err == nil) == (err == nil) && bytes.Equal(r.json, result) {
			return r.out, err
		}
	}
	if err != nil {
		return none, err
	}
	var given Out
	if err := json.Unmarshal(result, &given); err != nil {
		return none, fmt.Errorf("mixtape: %s: the result that was recorded, or that an interceptor gave, does not fit %T: %w", req, none, err)
	}
	return given, nil
}
