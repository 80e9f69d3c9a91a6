package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

// Outcome is what an SDK's user sees of a call.
type Outcome struct {
	Text            string
	Tool, Arguments string
	// Error is the type and the text of the error, with the server's address replaced.
	Error  string
	Status int // in an error of the SDK's own type
	// TimedOut and Cancelled say what errors.Is says.
	TimedOut, Cancelled bool
}

// Scenario is one conversation.
type Scenario[C any] struct {
	Name string
	// Start begins the scenario anew: it returns what the server answers and what the client does.
	Start func() (script func(modelserver.Request) modelserver.Answer, run func(context.Context, *testing.T, C) Outcome)
	// Works says that the client gets the whole answer.
	Works bool
	// Check looks at the events of one run.
	Check func(*testing.T, []*bus.LLMCall)
}

const (
	prompt    = "What is the weather in Riga?"
	answer    = "It is seven degrees and raining."
	toolID    = "call_1"
	tool      = "weather"
	arguments = `{"city":"Riga"}`
)

// Scenarios returns all scenarios that s can play.
func (s SDK[C]) Scenarios() []Scenario[C] {
	scenarios := []Scenario[C]{
		{
			Name:  "plain",
			Works: true,
			Start: steps(func(ctx context.Context, _ *testing.T, c C) Outcome {
				text, err := s.Text(ctx, c, prompt)
				return s.outcome(Outcome{Text: text}, err)
			}, modelserver.Answer{Text: answer}),
			Check: s.one(bus.EndingComplete, 200, answer),
		},
		{
			Name:  "streamed",
			Works: true,
			Start: func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
				gate := make(chan struct{})
				return modelserver.Script(modelserver.Answer{Text: answer, Gate: gate}), func(ctx context.Context, t *testing.T, c C) Outcome {
					var o Outcome
					first := true
					err := s.Stream(ctx, c, prompt, func(text string) bool {
						if first {
							// The server sends the rest when the client has had the first event: a seam that held bytes back would never end.
							close(gate)
							first = false
						}
						o.Text += text
						return true
					})
					return s.outcome(o, err)
				}
			},
			Check: s.one("", 200, answer),
		},
		{
			Name: "stream closed by the client",
			Start: func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
				gate := make(chan struct{})
				return modelserver.Script(modelserver.Answer{Text: answer, Gate: gate}), func(ctx context.Context, t *testing.T, c C) Outcome {
					defer close(gate)
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					return s.outcome(Outcome{}, s.Stream(ctx, c, prompt, func(string) bool { return false }))
				}
			},
			Check: s.one(bus.EndingClosedEarly, 200, ""),
		},
		{
			Name: "stream cut by the server",
			Start: steps(func(ctx context.Context, _ *testing.T, c C) Outcome {
				var o Outcome
				err := s.Stream(ctx, c, prompt, func(text string) bool { o.Text += text; return true })
				return s.outcome(o, err)
			}, modelserver.Answer{Text: answer, Cut: true}),
			Check: s.one(bus.EndingUpstreamAborted, 200, ""),
		},
		{
			Name: "stream cancelled",
			Start: func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
				return modelserver.Script(modelserver.Answer{Text: answer, Gate: make(chan struct{})}), func(ctx context.Context, t *testing.T, c C) Outcome {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					return s.outcome(Outcome{}, s.Stream(ctx, c, prompt, func(string) bool { cancel(); return true }))
				}
			},
			Check: s.one(bus.EndingCancelled, 200, ""),
		},
		{
			Name: "API error",
			Start: steps(func(ctx context.Context, _ *testing.T, c C) Outcome {
				_, err := s.Text(ctx, c, prompt)
				return s.outcome(Outcome{}, err)
			}, modelserver.Answer{Status: 400, Text: "no such model"}),
			Check: s.one(bus.EndingComplete, 400, ""),
		},
		{
			Name: "time-out",
			Start: func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
				e := &expiring{Context: context.Background(), done: make(chan struct{})}
				script := func(modelserver.Request) modelserver.Answer {
					e.expire()
					return modelserver.Answer{Gate: make(chan struct{})}
				}
				return script, func(ctx context.Context, t *testing.T, c C) Outcome {
					e.Context = ctx
					_, err := s.Text(e, c, prompt)
					return s.outcome(Outcome{}, err)
				}
			},
			Check: s.one(bus.EndingError, 0, ""),
		},
		{
			Name: "cancelled",
			Start: func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
				arrived := make(chan struct{})
				script := func(modelserver.Request) modelserver.Answer {
					close(arrived)
					return modelserver.Answer{Gate: make(chan struct{})}
				}
				return script, func(ctx context.Context, t *testing.T, c C) Outcome {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					go func() {
						select {
						case <-arrived:
							cancel()
						case <-ctx.Done():
						}
					}()
					_, err := s.Text(ctx, c, prompt)
					return s.outcome(Outcome{}, err)
				}
			},
			Check: s.one(bus.EndingCancelled, 0, ""),
		},
		{
			Name:  "429, then 200",
			Works: s.Retries,
			Start: steps(func(ctx context.Context, _ *testing.T, c C) Outcome {
				text, err := s.Text(ctx, c, prompt)
				return s.outcome(Outcome{Text: text}, err)
			}, tooMany, modelserver.Answer{Text: answer}),
			Check: s.attempts,
		},
	}
	if s.Tool != nil {
		for _, streamed := range []bool{false, true} {
			name := map[bool]string{false: "tool call", true: "tool call, streamed"}[streamed]
			scenarios = append(scenarios, Scenario[C]{
				Name:  name,
				Works: true,
				Start: steps(func(ctx context.Context, _ *testing.T, c C) Outcome {
					name, args, err := s.Tool(ctx, c, prompt, streamed)
					return s.outcome(Outcome{Tool: name, Arguments: args}, err)
				}, modelserver.Answer{Tools: []modelserver.ToolCall{{ID: toolID, Name: tool, Arguments: arguments}}}),
				Check: s.toolCall,
			})
		}
	}
	return scenarios
}

var tooMany = modelserver.Answer{Status: 429, Text: "too many requests", Header: http.Header{"Retry-After-Ms": {"1"}}}

// steps is the Start of a scenario that keeps no state.
func steps[C any](run func(context.Context, *testing.T, C) Outcome, answers ...modelserver.Answer) func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
	return func() (func(modelserver.Request) modelserver.Answer, func(context.Context, *testing.T, C) Outcome) {
		return modelserver.Script(answers...), run
	}
}

// works reports whether o is the whole answer.
func (o Outcome) works() bool {
	return o.Error == "" && (o.Text == answer || o.Tool == tool && strings.ReplaceAll(o.Arguments, " ", "") == arguments)
}

func (s SDK[C]) outcome(o Outcome, err error) Outcome {
	if err == nil {
		return o
	}
	o.Error = fmt.Sprintf("%T: %v", err, err)
	o.Status = s.Status(err)
	o.TimedOut, o.Cancelled = errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled)
	return o
}

// expiring is a context whose deadline passes when expire is called.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e *expiring) expire() {
	select {
	case <-e.done:
	default:
		close(e.done)
	}
}

func (e *expiring) Done() <-chan struct{}       { return e.done }
func (e *expiring) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }
func (e *expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// one checks that there was one attempt. An empty ending stands for either of those that a whole stream can have.
func (s SDK[C]) one(ending bus.Ending, status int, text string) func(*testing.T, []*bus.LLMCall) {
	return func(t *testing.T, calls []*bus.LLMCall) {
		if len(calls) != 1 {
			t.Fatalf("%d events for one call", len(calls))
		}
		c := calls[0]
		s.common(t, c)
		if c.Ending != ending && !(ending == "" && (c.Ending == bus.EndingComplete || c.Ending == bus.EndingClosedAfterTerminal)) {
			t.Errorf("ending = %s (%v), want %s", c.Ending, c.Err, ending)
		}
		if c.Status != status {
			t.Errorf("status = %d, want %d", c.Status, status)
		}
		if text == "" || !s.decoded(t, c) {
			return
		}
		if c.Text() != text {
			t.Errorf("text = %q, want %q", c.Text(), text)
		}
		s.usage(t, c)
	}
}

// undecoded are the providers whose wire formats are not decoded yet: their calls are recorded and replayed as bytes.
var undecoded = map[string]bool{"gcp.gemini": true, "ollama": true, "cohere": true, "aws.bedrock": true}

// decoded reports whether c can be asked what it says; it fails the test when undecoded is wrong about it.
func (s SDK[C]) decoded(t *testing.T, c *bus.LLMCall) bool {
	t.Helper()
	if (c.Decoder == nil) != undecoded[s.Provider] {
		t.Errorf("%s: decoder %v, and the list of what is not decoded says %v", s.Provider, c.Decoder, undecoded[s.Provider])
	}
	return c.Decoder != nil
}

func (s SDK[C]) common(t *testing.T, c *bus.LLMCall) {
	t.Helper()
	if !s.decoded(t, c) {
		return
	}
	if c.Provider != s.Provider || c.Operation != "chat" || c.Model != Model {
		t.Errorf("provider, operation, model = %q, %q, %q", c.Provider, c.Operation, c.Model)
	}
	var in string
	for _, m := range c.Input() {
		in += m.Text()
	}
	if !strings.Contains(in, prompt) {
		t.Errorf("input = %+v, want the prompt in it", c.Input())
	}
	if err := c.DecodeErr(); err != nil && c.Ending == bus.EndingComplete {
		t.Error("decoding:", err)
	}
}

func (s SDK[C]) usage(t *testing.T, c *bus.LLMCall) {
	t.Helper()
	u, ok := c.Usage()
	if !ok || u.Input != modelserver.InputTokens || u.Output != modelserver.OutputTokens {
		t.Errorf("usage = %+v, %v", u, ok)
	}
}

func (s SDK[C]) toolCall(t *testing.T, calls []*bus.LLMCall) {
	if len(calls) != 1 {
		t.Fatalf("%d events for one call", len(calls))
	}
	s.common(t, calls[0])
	if !s.decoded(t, calls[0]) {
		return
	}
	s.usage(t, calls[0])
	tools := calls[0].ToolCalls()
	if len(tools) != 1 || tools[0].Name != tool || string(tools[0].Arguments) != arguments {
		t.Errorf("tool calls = %+v", tools)
	}
}

// attempts checks a call whose first attempt got a 429.
func (s SDK[C]) attempts(t *testing.T, calls []*bus.LLMCall) {
	if !s.Retries {
		s.one(bus.EndingComplete, 429, "")(t, calls)
		return
	}
	if len(calls) != 2 {
		t.Fatalf("%d events for two attempts", len(calls))
	}
	for i, c := range calls {
		s.common(t, c)
		if want := []int{429, 200}[i]; c.Status != want {
			t.Errorf("attempt %d: status = %d, want %d", i, c.Status, want)
		}
		if s.Tied && (c.Attempt != i || c.CallID != calls[0].CallID) {
			t.Errorf("attempt %d of %s, want %d of %s", c.Attempt, c.CallID, i, calls[0].CallID)
		}
		if !s.Tied && (c.Attempt != 0 || i > 0 && c.CallID == calls[0].CallID) {
			t.Errorf("attempt %d of %s: tied to another by a guess", c.Attempt, c.CallID)
		}
	}
}
