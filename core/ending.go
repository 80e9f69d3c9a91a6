package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/wire"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// endingOf returns the ending of a call that err ended: a time-out is an error.
func (a *attempt) endingOf(err error) bus.Ending {
	if errors.Is(err, context.DeadlineExceeded) {
		return bus.EndingError
	}
	// A cut connection may well be how a transport tells of a cancellation.
	if errors.Is(err, context.Canceled) || errors.Is(a.ctx.Err(), context.Canceled) {
		return bus.EndingCancelled
	}
	return bus.EndingError
}

// timedOut returns err with the deadline in it, where the call's deadline has passed and err does not say so: a Timeout
// of http.Client comes to the transport as a cancellation, and is told to be a time-out further out only.
func (a *attempt) timedOut(err error) error {
	deadline, ok := a.ctx.Deadline()
	if !ok || err == io.EOF || time.Now().Before(deadline) || isTimeout(err) {
		return err
	}
	return fmt.Errorf("%w: %w", err, context.DeadlineExceeded)
}

// endingOfRead returns how a body ended whose last read returned err. a.mu is held.
func (a *attempt) endingOfRead(err error) (bus.Ending, error) {
	progress, known := a.progress()
	if err == io.EOF {
		switch {
		case progress == wire.Failed:
			return bus.EndingError, nil
		case known && progress == wire.Unfinished:
			return bus.EndingUpstreamAborted, nil
		}
		return bus.EndingComplete, nil
	}
	switch {
	case progress == wire.Failed:
		return bus.EndingError, err
	case progress == wire.Terminal:
		return bus.EndingClosedAfterTerminal, err
	case a.endingOf(err) == bus.EndingCancelled:
		return bus.EndingCancelled, err
	case isTimeout(err):
		return bus.EndingError, err
	}
	return bus.EndingUpstreamAborted, err
}

// endingOfClose returns how a body ended whose reader goes away before its end. a.mu is held.
func (a *attempt) endingOfClose() (bus.Ending, error) {
	switch progress, _ := a.progress(); {
	case progress == wire.Failed:
		return bus.EndingError, nil
	case progress == wire.Terminal:
		return bus.EndingClosedAfterTerminal, nil
	case !a.streamed && a.whole():
		return bus.EndingComplete, nil
	}
	if err := a.ctx.Err(); err != nil {
		return a.endingOf(err), err
	}
	return bus.EndingClosedEarly, nil
}

// progress returns how far a stream got, and whether that is known: it is not where the answer is no stream, its format
// is unknown, or its content encoding is. An error status ends where its bytes do.
func (a *attempt) progress() (p wire.Progress, known bool) {
	if !a.streamed || a.info.Format == nil || a.upstream.StatusCode >= 400 {
		return wire.Unfinished, false
	}
	stream, ok := decodedContent(a.exchange.ResponseHeader, a.exchange.Response)
	if !ok {
		return wire.Unfinished, false
	}
	return a.info.Format.Ended(stream), true
}

// whole reports whether all of a plain body was read although its end was not.
func (a *attempt) whole() bool {
	n := int64(len(a.exchange.Response))
	if n == 0 || n == a.upstream.ContentLength {
		return n == a.upstream.ContentLength
	}
	body, _ := decodedContent(a.exchange.ResponseHeader, a.exchange.Response)
	return jsonlex.Valid(body)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
