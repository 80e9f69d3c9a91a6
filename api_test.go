// Package mixtape_test holds the public names against what users type: it fails to compile when one of them moves.
package mixtape_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

type event struct{}

var (
	_ func(...bus.Option) *bus.Bus                                                       = bus.New
	_ func() *bus.Bus                                                                    = bus.Default
	_ func(*bus.Bus) bus.Option                                                          = bus.Parent
	_ func(*bus.Bus, *event)                                                             = bus.Publish[*event]
	_ func(*bus.Bus, func(*event)) func()                                                = bus.Subscribe[*event]
	_ func(*bus.Bus, func(*event), ...bus.AsyncOption) *bus.Subscription                 = bus.SubscribeAsync[*event]
	_ func(*bus.Bus) bool                                                                = bus.Active[*event]
	_ func(*http.Client, ...core.Option) *http.Client                                    = core.Instrument[*http.Client]
	_ func(*http.Client, ...core.Option) (*http.Client, core.Report, error)              = core.TryInstrument[*http.Client]
	_ func(http.RoundTripper, ...core.Option) http.RoundTripper                          = core.Transport
	_ func(core.Dispatcher, ...core.Option) core.Dispatcher                              = core.Dispatch
	_ core.Dispatcher                                                                    = func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	_ core.RoundTrip                                                                     = func(*http.Request) (*http.Response, error) { return nil, nil }
	_ func(func(*http.Request, core.RoundTrip) (*http.Response, error)) core.Interceptor = core.HTTPInterceptor
	_ func(*bus.Bus)                                                                     = core.Drain
	_ func(*bus.Bus) core.Option                                                         = core.WithBus
	_ func(string) core.Option                                                           = core.WithProvider
	_ error                                                                              = (*core.ToolError)(nil)

	_ func(string, *regexp.Regexp) redact.Rule = redact.Pattern
	_ func(...string) redact.Rule              = redact.Field
	_ func(...string) redact.Rule              = redact.Path
	_ func(...string) redact.Rule              = redact.Value
	_ func(redact.Rule) redact.Rule            = redact.Rule.Opaque

	_ func(cassette.T, string, ...cassette.Option) *cassette.Session                    = cassette.Use
	_ func(string, ...cassette.Option) (*cassette.Session, error)                       = cassette.Open
	_ func(string) (*cassette.File, error)                                              = cassette.Load
	_ func(*testing.T, string, func(*testing.T, *cassette.Session), ...cassette.Option) = cassette.Bubble
	_ func(context.Context) context.Context                                             = cassette.Unrecorded
	_ func(*cassette.Session, context.Context) context.Context                          = (*cassette.Session).Context
	_ func(*cassette.Session) *bus.Bus                                                  = (*cassette.Session).Bus
	_ func(*cassette.Session) error                                                     = (*cassette.Session).Close
	_ func(*cassette.Session) cassette.Mode                                             = (*cassette.Session).Mode
	_ func(*cassette.Session) string                                                    = (*cassette.Session).Path
	_ func(*cassette.Session) cassette.Report                                           = (*cassette.Session).Report
	_ error                                                                             = (*cassette.MissError)(nil)
	_ error                                                                             = (*cassette.FileError)(nil)
	_ cassette.T                                                                        = (*testing.T)(nil)
	_ cassette.T                                                                        = (*testing.B)(nil)
	_                                                                                   = cassette.Report{Served: 0, Recorded: 0, Unused: 0, Missed: 0, Refused: 0, Live: 0}
	_                                                                                   = []cassette.Option{
		cassette.Auto, cassette.Record, cassette.Replay, cassette.Extend, cassette.Verify, cassette.Live,
		cassette.MatchMessages(), cassette.Ignore("$.metadata.run_id"), cassette.Normalize(func(r *cassette.Request) { r.Body = nil }),
		cassette.RepeatLast(), cassette.Redact(redact.Value("x")), cassette.RedactFields("ssn"), cassette.NoRedaction(),
		cassette.AllowUnused(), cassette.AllowErrors(), cassette.Pass("localhost"), cassette.Dir("x"), cassette.OnBus(bus.New()),
	}
	_ = cassette.Request{Provider: "", Operation: "", Method: "", Path: "", Body: nil}
)

// The fields and methods of the events.
func _(c *bus.LLMCall, tool *bus.ToolCall) {
	_ = bus.LLMCall{
		CallID: "", Seq: 0, Attempt: 0, Provider: "", Operation: "", Model: "", Streamed: false, Start: time.Time{},
		FirstByte: 0, Duration: 0, Status: 0, Ending: "", Err: nil, Replayed: false,
	}
	_ = bus.CallStart{Seq: 0, CallID: ""}
	_ = bus.ToolCall{ID: "", Name: "", Arguments: nil, Result: nil, Err: nil, Start: time.Time{}, Duration: 0, Replayed: false}
	_ = bus.Usage{Input: 0, Output: 0, CacheRead: 0, CacheWrite: 0, Reasoning: 0}
	_ = bus.Message{Role: "", Parts: []bus.Part{bus.ToolCallPart{ID: "", Name: "", Arguments: nil}}}
	var (
		_ []bus.Message              = c.Input()
		_ []bus.Message              = c.Output()
		_ string                     = c.Text()
		_ []bus.ToolCallPart         = c.ToolCalls()
		_ []string                   = c.FinishReasons()
		_ map[string]json.RawMessage = c.Extra()
		_ []byte                     = c.RequestBody()
		_ []byte                     = c.ResponseBody()
	)
	var usage bus.Usage
	var ok bool
	usage, ok = c.Usage()
	_, _ = usage, ok
}

// The generic functions, as users call them.
func _(ctx context.Context) {
	double := core.Tool("double", func(_ context.Context, n int) (int, error) { return 2 * n, nil }, core.WithBus(bus.New()))
	_, _ = double(ctx, 1)
	_, _ = core.Call(ctx, "retrieval", "query", func(context.Context) ([]string, error) { return nil, nil })
	remove := core.Intercept(bus.Default(), core.ToolInterceptor(func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
		_, _ = req.Name, req.Arguments
		return next(ctx, req)
	}), core.Innermost())
	remove()
	_, _ = core.Middleware(core.WithProvider("x"))(nil, nil)
}

func TestEndingsHaveTheirNames(t *testing.T) {
	for ending, want := range map[bus.Ending]string{
		bus.EndingComplete: "complete", bus.EndingClosedAfterTerminal: "closed_after_terminal", bus.EndingClosedEarly: "closed_early",
		bus.EndingCancelled: "cancelled", bus.EndingUpstreamAborted: "upstream_aborted", bus.EndingError: "error",
	} {
		if string(ending) != want {
			t.Errorf("%q, want %q", ending, want)
		}
	}
}
