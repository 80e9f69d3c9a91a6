package bus_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// decoder counts how often it is asked.
type decoder struct {
	requests, responses atomic.Int32
	request             func([]byte) (bus.DecodedRequest, error)
	response            func([]byte, int, bool) (bus.DecodedResponse, error)
}

func (d *decoder) DecodeRequest(body []byte) (bus.DecodedRequest, error) {
	d.requests.Add(1)
	if d.request == nil {
		return bus.DecodedRequest{}, nil
	}
	return d.request(body)
}

func (d *decoder) DecodeResponse(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	d.responses.Add(1)
	if d.response == nil {
		return bus.DecodedResponse{}, nil
	}
	return d.response(body, status, streamed)
}

func text(role, s string) bus.Message {
	return bus.Message{Role: role, Parts: []bus.Part{bus.TextPart{Content: s}}}
}

// all calls every accessor that decodes.
func all(c *bus.LLMCall) {
	c.Input()
	c.Output()
	c.Text()
	c.ToolCalls()
	c.Usage()
	c.FinishReasons()
	c.ResponseID()
	c.ResponseModel()
	c.ProviderError()
	c.Extra()
	_ = c.DecodeErr()
}

func TestLLMCallDecodesNothingUnasked(t *testing.T) {
	d := &decoder{}
	c := &bus.LLMCall{Decoder: d, Status: 200, Exchange: bus.Exchange{Request: []byte("q"), Response: []byte("a")}}
	b := bus.New()
	bus.Subscribe(b, func(*bus.LLMCall) {})
	bus.Publish(b, c)
	if string(c.RequestBody()) != "q" || string(c.ResponseBody()) != "a" {
		t.Error("bodies are not the exchange's")
	}
	if d.requests.Load() != 0 || d.responses.Load() != 0 {
		t.Error("decoded, though nobody asked")
	}
	c.Input()
	if d.responses.Load() != 0 {
		t.Error("the answer was decoded for the question")
	}
}

func TestLLMCallDecodesOnce(t *testing.T) {
	d := &decoder{request: func([]byte) (bus.DecodedRequest, error) {
		return bus.DecodedRequest{Messages: []bus.Message{text(bus.RoleUser, "q")}}, nil
	}}
	c := &bus.LLMCall{Decoder: d, Status: 200}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			all(c)
			if len(c.Input()) != 1 {
				t.Error("a goroutine saw no messages")
			}
		})
	}
	wg.Wait()
	if d.requests.Load() != 1 || d.responses.Load() != 1 {
		t.Errorf("decoded %d and %d times", d.requests.Load(), d.responses.Load())
	}
}

func TestLLMCallAccessors(t *testing.T) {
	call := func(id string) bus.ToolCallPart {
		return bus.ToolCallPart{ID: id, Name: "refund", Arguments: json.RawMessage(`{"n":9007199254740993}`)}
	}
	extra := map[string]json.RawMessage{"service_tier": json.RawMessage(`"flex"`)}
	d := &decoder{
		request: func(body []byte) (bus.DecodedRequest, error) {
			return bus.DecodedRequest{Messages: []bus.Message{text(bus.RoleSystem, string(body)), text(bus.RoleUser, "q")}}, nil
		},
		response: func(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
			if string(body) != "answer" || status != 201 || !streamed {
				t.Errorf("decoder got %q, %d, %t", body, status, streamed)
			}
			return bus.DecodedResponse{
				ID: "id", Model: "m-1",
				Messages: []bus.Message{
					{FinishReason: "tool_calls", Parts: []bus.Part{
						bus.ReasoningPart{Content: "hm"}, bus.TextPart{Content: "a"}, call("1"), bus.TextPart{Content: "b"}, call("2")}},
					{Parts: []bus.Part{bus.TextPart{Content: "cut"}}},
					{FinishReason: "stop", Parts: []bus.Part{call("3")}},
				},
				Usage: &bus.Usage{Input: 10, CacheRead: 4},
				Error: json.RawMessage(`{"type":"overloaded_error"}`),
				Extra: extra,
			}, nil
		},
	}
	c := &bus.LLMCall{Decoder: d, Status: 201, Streamed: true,
		Exchange: bus.Exchange{Request: []byte("be brief"), Response: []byte("answer")}}
	usage, said := c.Usage()
	for _, tt := range []struct {
		reason    string
		got, want any
	}{
		{"system first", c.Input()[0].Role + ": " + c.Input()[0].Text(), "system: be brief"},
		{"one message a choice", len(c.Output()), 3},
		{"the first choice, without its reasoning", c.Text(), "ab"},
		{"tool calls of all choices, in order", c.ToolCalls(), []bus.ToolCallPart{call("1"), call("2"), call("3")}},
		{"a choice without a reason is left out", c.FinishReasons(), []string{"tool_calls", "stop"}},
		{"usage", usage, bus.Usage{Input: 10, CacheRead: 4}},
		{"usage was said", said, true},
		{"id", c.ResponseID(), "id"},
		{"model", c.ResponseModel(), "m-1"},
		{"error inside a stream", string(c.ProviderError()), `{"type":"overloaded_error"}`},
		{"what was not understood", c.Extra(), extra},
		{"no error", c.DecodeErr(), nil},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.reason, tt.got, tt.want)
		}
	}
}

func TestLLMCallAbsent(t *testing.T) {
	boom := errors.New("boom")
	failing := &decoder{
		request: func([]byte) (bus.DecodedRequest, error) {
			return bus.DecodedRequest{Messages: []bus.Message{text(bus.RoleUser, "half")}}, boom
		},
	}
	for _, tt := range []struct {
		reason string
		call   *bus.LLMCall
		input  int
		err    string
	}{
		{"no decoder", &bus.LLMCall{Status: 200}, 0, ""},
		{"no answer", &bus.LLMCall{Decoder: &decoder{response: func([]byte, int, bool) (bus.DecodedResponse, error) {
			return bus.DecodedResponse{}, errors.New("asked to decode nothing")
		}}}, 0, ""},
		{"the provider said nothing", &bus.LLMCall{Decoder: &decoder{}, Status: 200}, 0, ""},
		{"as much as was understood, beside the error", &bus.LLMCall{Decoder: failing, Status: 200}, 1, "boom"},
		{"the answer's error", &bus.LLMCall{Decoder: &decoder{response: func([]byte, int, bool) (bus.DecodedResponse, error) {
			return bus.DecodedResponse{}, boom
		}}, Status: 200}, 0, "boom"},
		{"a decoder that panics", &bus.LLMCall{Decoder: &decoder{response: func(b []byte, _ int, _ bool) (bus.DecodedResponse, error) {
			return bus.DecodedResponse{ID: string(b[4:8])}, nil
		}}, Status: 200}, 0, "the decoder panicked"},
	} {
		all(tt.call)
		if u, said := tt.call.Usage(); said || u != (bus.Usage{}) {
			t.Errorf("%s: usage %v, %t: absent is not zero", tt.reason, u, said)
		}
		if tt.call.Text() != "" || tt.call.ToolCalls() != nil || tt.call.FinishReasons() != nil || tt.call.Extra() != nil ||
			tt.call.ProviderError() != nil || tt.call.Output() != nil {
			t.Errorf("%s: not all is absent", tt.reason)
		}
		if got := len(tt.call.Input()); got != tt.input {
			t.Errorf("%s: %d messages, want %d", tt.reason, got, tt.input)
		}
		switch err := tt.call.DecodeErr(); {
		case tt.err == "" && err != nil, tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: DecodeErr is %v, want %q", tt.reason, err, tt.err)
		}
	}
}
