package core

import (
	"context"
	"sync/atomic"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/wire"
)

// Info is what an innermost interceptor can learn of a call under way, and what it can say about it.
type Info struct {
	Kind    bus.Kind
	Seq     uint64 // of the events of this call
	CallID  string
	Attempt int // 0, 1, … within the call; 0 for a tool

	// Of an HTTP call:
	Provider, Operation, Model string
	Format                     wire.Format // nil when the exchange is in no known format
	Streamed                   bool        // the request asks for a stream
	Body                       []byte      // the request's body; not to be written to

	call            *logical // of an HTTP call
	parent          string   // CallID of the tool or Call that this call was made in
	carrying        atomic.Bool
	replayed, final atomic.Bool
}

type infoKey struct{}

// InfoFrom returns the Info of the innermost call that a context belongs to; nil outside of one. The context of an HTTP
// request, or of a [ToolRun], has one from the innermost interceptors on.
func InfoFrom(ctx context.Context) *Info {
	i, _ := ctx.Value(infoKey{}).(*Info)
	return i
}

// carries reports whether i is of an HTTP call that a seam further out has on its way to the wire now. Later its context
// may live on in the answer's Request and be used for another call.
func (i *Info) carries() bool { return i != nil && i.carrying.Load() }

// parentOf returns the id of the tool or Call that the caller of ctx runs in, "" outside of one.
func parentOf(ctx context.Context) string {
	i := InfoFrom(ctx)
	switch {
	case i == nil:
		return ""
	case i.Kind == bus.KindTool || i.Kind == bus.KindFunc:
		return i.CallID
	}
	return i.parent
}

// Replayed says that the answer comes from a recording. The closing event will say so too.
func (i *Info) Replayed() { i.replayed.Store(true) }

// Final says that the outcome, a failure, stands: the SDK is told not to retry it, as far as the seam reaches. The
// Stainless SDKs obey for every failure that comes through [Instrument], [Middleware] or [PerCall]. Through [Transport]
// they obey for an answer, which carries X-Should-Retry: false then, and retry an error without an answer as they see
// fit.
func (i *Info) Final() { i.final.Store(true) }
