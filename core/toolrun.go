package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/route"
)

// toolSeam is the way of one call of a tool, or of what Call wraps, through the seam.
type toolSeam struct {
	bus          *bus.Bus
	outer, inner []*registration
	body         toolBody
	came         time.Time
}

// toolBody runs the tool itself. lossy says why the run cannot be replayed truly.
type toolBody func(ctx context.Context, req *ToolRequest) (result json.RawMessage, lossy, err error)

// newToolSeam returns the seam that a call goes through; nil when nobody would notice.
func newToolSeam(ctx context.Context, cfg *config, req *ToolRequest) (*toolSeam, error) {
	b, err := route.Resolve(ctx, cfg.bus, req.String, nil)
	if err != nil {
		return nil, err
	}
	rs, outer := interceptors(b)
	if len(rs) == 0 && !bus.Active[*bus.ToolCall](b) && !bus.Active[*bus.FuncCall](b) && !bus.Active[*bus.CallStart](b) {
		return nil, nil
	}
	return &toolSeam{bus: b, outer: rs[:outer], inner: rs[outer:], came: time.Now()}, nil
}

// call takes req through the interceptors to the body.
func (s *toolSeam) call(ctx context.Context, req *ToolRequest) (json.RawMessage, error) {
	if len(s.outer) == 0 {
		return s.run(ctx, req)
	}
	var reached atomic.Bool
	result, err := throughTool(s.outer, func(ctx context.Context, req *ToolRequest) (json.RawMessage, error) {
		reached.Store(true)
		return s.run(ctx, req)
	})(ctx, req)
	if reached.Load() {
		return result, err
	}
	if result == nil && err == nil {
		err = errNoAnswer
	}
	r := s.newRun(ctx, req)
	r.start, r.intercepted = s.came, true
	r.begin()
	r.finish(result, err)
	return result, err
}

// run makes one run: events, innermost interceptors, body.
func (s *toolSeam) run(ctx context.Context, req *ToolRequest) (result json.RawMessage, err error) {
	r := s.newRun(ctx, req)
	// What stands when the body, or an interceptor, does not return.
	err = fmt.Errorf("%s did not return: it panicked or ended its goroutine", req)
	defer func() { r.finish(result, err) }()
	r.begin()

	// The model asked for this tool, not for those that it runs.
	ctx = WithToolCallID(context.WithValue(ctx, infoKey{}, r.info), "")
	var ran atomic.Bool
	result, err = throughTool(s.inner, func(ctx context.Context, req *ToolRequest) (json.RawMessage, error) {
		ran.Store(true)
		result, lossy, err := s.body(ctx, req)
		r.note(lossy)
		return result, err
	})(ctx, req)
	if result == nil && err == nil && !ran.Load() {
		err = errNoAnswer
	}
	return result, err
}

// toolRun is one run of a tool, from its start to the closing event.
type toolRun struct {
	underway
	request     *ToolRequest // a copy that nobody else holds
	toolCallID  string
	start       time.Time
	intercepted bool
	lossy       error // guarded by underway.mu
}

func (s *toolSeam) newRun(ctx context.Context, req *ToolRequest) *toolRun {
	info := &Info{Kind: req.Kind, Seq: bus.NextSeq(), CallID: newCallID(), parent: parentOf(ctx)}
	r := &toolRun{underway: newUnderway(s.bus, info), request: req.clone(), start: time.Now()}
	r.toolCallID, _ = ctx.Value(toolCallIDKey{}).(string)
	return r
}

// begin publishes the run's CallStart.
func (r *toolRun) begin() {
	i := r.info
	r.underway.begin(r, &bus.CallStart{
		Seq: i.Seq, CallID: i.CallID, Parent: i.parent, Kind: i.Kind, Name: r.request.Name, Start: r.start,
	})
}

// note keeps why the run cannot be replayed truly.
func (r *toolRun) note(lossy error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lossy = errors.Join(r.lossy, lossy)
}

// drain ends the run for its listeners; it goes on for its caller.
func (r *toolRun) drain() {
	r.finish(nil, errDrained)
	<-r.published
}

// finish ends the run and publishes its closing event, unless it has ended.
func (r *toolRun) finish(result json.RawMessage, err error) {
	r.close(func() any {
		if err != nil {
			result = nil
		}
		return r.event(bytes.Clone(result), err)
	})
}

// event makes the closing event. r.mu is held.
func (r *toolRun) event(result json.RawMessage, err error) any {
	ending := bus.EndingComplete
	switch {
	case err == errDrained:
		ending = bus.EndingClosedEarly
	case errors.Is(err, context.Canceled):
		ending = bus.EndingCancelled
	case err != nil:
		ending = bus.EndingError
	}
	i, duration := r.info, time.Since(r.start)
	if i.Kind == bus.KindFunc {
		return &bus.FuncCall{
			CallID: i.CallID, Seq: i.Seq, Parent: i.parent, Name: r.request.Name, Request: r.request.Arguments, Result: result, Err: err,
			Start: r.start, Duration: duration, Ending: ending,
			Replayed: i.replayed.Load(), Intercepted: r.intercepted, Lossy: r.lossy,
		}
	}
	return &bus.ToolCall{
		ID: r.toolCallID, CallID: i.CallID, Seq: i.Seq, Parent: i.parent, Name: r.request.Name, Arguments: r.request.Arguments, Result: result, Err: err,
		Start: r.start, Duration: duration, Ending: ending,
		Replayed: i.replayed.Load(), Intercepted: r.intercepted, Lossy: r.lossy,
	}
}
