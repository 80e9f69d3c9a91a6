package core

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/wire"
)

// attempt is one attempt of an HTTP call, from its start to the closing event.
type attempt struct {
	underway
	seam        *httpSeam
	ctx         context.Context
	start       time.Time
	intercepted bool

	// Guarded by underway.mu, until the closing event is made from them:

	exchange  bus.Exchange
	firstByte time.Duration
	upstream  *http.Response // nil until there is an answer
	streamed  bool
}

// newAttempt finds out what a request is. Its body must be held.
func (s *httpSeam) newAttempt(req *http.Request, body []byte) *attempt {
	info := &Info{
		Kind: bus.KindHTTP, Seq: bus.NextSeq(), CallID: s.call.id, Attempt: int(s.call.attempts.Add(1)) - 1, Body: body,
		call: s.call, parent: parentOf(req.Context()),
	}
	if d, ok := wire.Detect(req.Method, req.URL, body); ok {
		info.Kind = bus.KindLLM
		info.Format, info.Operation = d.Format, d.Format.Operation()
		info.Provider, info.Model, info.Streamed = d.Provider, d.Model, d.Streamed
	}
	if s.provider != "" {
		info.Kind, info.Provider = bus.KindLLM, s.provider
	}
	return &attempt{
		underway: newUnderway(s.bus, info), seam: s, ctx: req.Context(), start: time.Now(),
		exchange: bus.Exchange{Method: req.Method, URL: req.URL.String(), RequestHeader: req.Header.Clone(), Request: body},
	}
}

// begin publishes the attempt's CallStart.
func (a *attempt) begin() {
	i := a.info
	a.underway.begin(a, &bus.CallStart{
		Seq: i.Seq, CallID: i.CallID, Attempt: i.Attempt, Kind: i.Kind, Parent: i.parent,
		Provider: i.Provider, Operation: i.Operation, Model: i.Model, Start: a.start,
	})
}

// fail ends an attempt that has no answer.
func (a *attempt) fail(err error) {
	err = a.timedOut(err)
	a.finish(func() (bus.Ending, error) { return a.endingOf(err), err })
}

// answer takes the answer's head and returns what the caller gets: resp, or a copy whose body tells a what is read.
func (a *attempt) answer(resp *http.Response) *http.Response {
	if !a.head(resp) {
		return resp
	}
	switch {
	case !a.listened():
		a.close(func() any {
			a.settle(bus.EndingComplete)
			return nil
		})
		return resp
	case resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil || resp.Body == http.NoBody:
		a.finish(func() (bus.Ending, error) { return bus.EndingComplete, nil })
		return resp
	}
	// A copy, since net/http's bodies point back at their response: it would keep the body below alive for ever.
	resp = copyResponse(resp)
	body := &teeBody{a, resp}
	if resp.StatusCode >= 400 {
		resp.Body = readAll(body)
		return resp
	}
	if !inBubble() {
		runtime.AddCleanup(body, (*attempt).abandon, a)
	}
	resp.Body = body
	return resp
}

// head notes the answer's head; false when the attempt has ended already.
func (a *attempt) head(resp *http.Response) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.upstream, a.streamed = resp, wire.IsStream(resp.Header)
	a.exchange.ResponseHeader, a.exchange.Proto, a.exchange.Uncompressed = resp.Header.Clone(), resp.Proto, resp.Uncompressed
	return !a.ended
}

// listened reports whether anybody would hear the closing event.
func (a *attempt) listened() bool {
	if a.info.Kind == bus.KindLLM {
		return bus.Active[*bus.LLMCall](a.bus)
	}
	return bus.Active[*bus.HTTPCall](a.bus)
}

// inBubble reports whether the caller runs inside a synctest bubble, whose clock starts in the year 2000. A cleanup
// would publish from outside of the bubble, which the bubble's channels do not survive.
func inBubble() bool { return time.Now().Year() == 2000 }

// abandon ends an attempt whose body nobody holds any more and that was neither read to its end nor closed.
func (a *attempt) abandon() {
	if a.finish(a.endingOfClose) {
		a.upstream.Body.Close()
	}
}

// drain ends the attempt as far as it came; whoever reads its answer goes on unharmed.
func (a *attempt) drain() {
	a.finish(func() (bus.Ending, error) {
		if a.upstream == nil {
			return bus.EndingClosedEarly, errDrained
		}
		return a.endingOfClose()
	})
	<-a.published
}

// finish ends the attempt and publishes its closing event, unless it has ended; outcome, which is called with a.mu
// held, says how. It reports whether this call of it ended the attempt.
func (a *attempt) finish(outcome func() (bus.Ending, error)) bool {
	return a.close(func() any {
		ending, err := outcome()
		a.settle(ending)
		return a.event(ending, err)
	})
}

// settle keeps the attempt's mark where the SDK may try again. a.mu is held.
func (a *attempt) settle(ending bus.Ending) {
	good := ending == bus.EndingComplete || ending == bus.EndingClosedAfterTerminal
	if a.seam.marked && !(good && a.status() < 400) {
		retries.put(a.seam.mark, a.seam.call)
	}
}

// status returns the answer's status, 0 when there is none. a.mu is held.
func (a *attempt) status() int {
	if a.upstream == nil {
		return 0
	}
	return a.upstream.StatusCode
}

// event makes the closing event. a.mu is held.
func (a *attempt) event(ending bus.Ending, err error) any {
	i, duration := a.info, time.Since(a.start)
	if i.Kind == bus.KindHTTP {
		return &bus.HTTPCall{
			CallID: i.CallID, Seq: i.Seq, Attempt: i.Attempt, Parent: i.parent,
			Start: a.start, FirstByte: a.firstByte, Duration: duration,
			Status: a.status(), Ending: ending, Err: err,
			Replayed: i.replayed.Load(), Intercepted: a.intercepted, Exchange: a.exchange,
		}
	}
	call := &bus.LLMCall{
		CallID: i.CallID, Seq: i.Seq, Attempt: i.Attempt, Parent: i.parent,
		Provider: i.Provider, Operation: i.Operation, Model: i.Model, Streamed: a.streamed,
		Start: a.start, FirstByte: a.firstByte, Duration: duration,
		Status: a.status(), Ending: ending, Err: err,
		Replayed: i.replayed.Load(), Intercepted: a.intercepted, Exchange: a.exchange,
	}
	if i.Format != nil {
		call.Format, call.Decoder = i.Format.Name(), contentDecoder{i.Format, a.exchange.ResponseHeader}
	}
	return call
}
