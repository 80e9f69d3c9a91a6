package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/route"
)

// via says how a request came to the seam.
type via struct {
	// logical is the call that the request is an attempt of; nil when the way it came does not tell.
	logical *logical
	// stainless says that the caller is a middleware of a Stainless SDK, which looks at an answer's X-Should-Retry even
	// when an error stands beside it.
	stainless bool
}

// logical is one call as the SDK's user sees it; its attempts share it.
type logical struct {
	id       string
	attempts atomic.Int32
}

func newLogical() *logical { return &logical{id: newCallID()} }

var callIDs atomic.Uint64

func newCallID() string { return fmt.Sprintf("call-%d", callIDs.Add(1)) }

// roundTrip carries one request through the seam: it decides the bus, lets the interceptors see the request, and
// publishes what comes of it. Where nobody listens it does nothing but call next.
func (c *config) roundTrip(req *http.Request, next RoundTrip, v via) (*http.Response, error) {
	ctx := req.Context()
	if req.URL == nil || InfoFrom(ctx).carries() {
		return next(req)
	}
	b, err := route.Resolve(ctx, c.bus, func() string { return nameOf(req) }, req.URL)
	if err != nil {
		closeBody(req)
		return v.stop(req, nil, err)
	}
	rs, outer := interceptors(b)
	if len(rs) == 0 && !bus.Active[*bus.LLMCall](b) && !bus.Active[*bus.HTTPCall](b) && !bus.Active[*bus.CallStart](b) {
		return next(req)
	}

	s := &httpSeam{config: c, bus: b, via: v, came: time.Now(), inner: rs[outer:], next: next}
	held, body, err := hold(req)
	if err == nil && held.ContentLength != req.ContentLength {
		err = &RequestBodyError{nameOf(req), fmt.Errorf("it has %d bytes, where its Content-Length says %d", len(body), req.ContentLength)}
	}
	s.identify(req, body)
	if err != nil {
		return s.unreadable(req, err)
	}
	if outer == 0 {
		return s.attempt(held)
	}
	var reached atomic.Bool
	resp, err := throughHTTP(rs[:outer], func(req *http.Request) (*http.Response, error) {
		reached.Store(true)
		return s.attempt(req)
	})(held)
	if err == nil && resp == nil {
		err = errNoAnswer
	}
	if reached.Load() {
		return resp, err
	}
	a := s.newAttempt(held, body)
	a.start, a.intercepted = s.came, true
	a.begin()
	return s.outcome(a, req, resp, err)
}

// httpSeam is the way of one request through the seam.
type httpSeam struct {
	*config
	bus   *bus.Bus
	via   via
	came  time.Time
	inner []*registration
	next  RoundTrip

	call *logical
	mark retryMark // of the request, when marked
	// marked says that the SDK put a mark on the request by which its next attempt will be known.
	marked bool
}

// attempt makes one attempt: events, innermost interceptors, wire.
func (s *httpSeam) attempt(req *http.Request) (*http.Response, error) {
	req, body, err := hold(req)
	if err != nil {
		return s.unreadable(req, err)
	}
	a := s.newAttempt(req, body)
	returned := false
	defer func() {
		if !returned { // a panic, or runtime.Goexit
			a.fail(errors.New("mixtape: the call did not return: what carries it panicked or ended its goroutine"))
		}
	}()
	a.begin()
	resp, err := a.carry(req)
	if err == nil && resp == nil {
		err = errNoAnswer
	}
	returned = true
	return s.outcome(a, req, resp, err)
}

// carry takes req through the innermost interceptors to the wire. Meanwhile the seams below know that the call is seen.
func (a *attempt) carry(req *http.Request) (*http.Response, error) {
	a.info.carrying.Store(true)
	defer a.info.carrying.Store(false)
	return throughHTTP(a.seam.inner, func(req *http.Request) (*http.Response, error) {
		req, err := release(req)
		if err != nil {
			return nil, err
		}
		return a.seam.next(req)
	})(req.WithContext(context.WithValue(req.Context(), infoKey{}, a.info)))
}

// outcome tells a how its request ended, and returns what the caller gets.
func (s *httpSeam) outcome(a *attempt, req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	final := a.info.final.Load()
	if err != nil {
		a.fail(err)
		if final {
			return s.via.stop(req, resp, err)
		}
		return resp, err
	}
	resp = a.answer(resp)
	if final {
		resp = copyResponse(resp)
		resp.Header.Set("X-Should-Retry", "false")
	}
	return resp, nil
}

// unreadable ends a call whose request body cannot be read.
func (s *httpSeam) unreadable(req *http.Request, err error) (*http.Response, error) {
	a := s.newAttempt(req, nil)
	a.begin()
	a.fail(err)
	return nil, err
}

// stop returns err so that the SDK does not retry, as far as the way the request came allows.
func (v via) stop(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if !v.stainless {
		return resp, err
	}
	// The Stainless SDKs ask the answer whether to retry before they look at the error.
	return &http.Response{
		Status: "599 not sent", StatusCode: 599, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Should-Retry": {"false"}}, Body: http.NoBody, Request: req,
	}, err
}

// nameOf names a request in error texts, without what may hold a credential: user, query and fragment.
func nameOf(req *http.Request) string {
	if req.URL == nil {
		return req.Method
	}
	return req.Method + " " + (&url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}).String()
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// copyResponse returns a copy of resp with a header of its own.
func copyResponse(resp *http.Response) *http.Response {
	c := *resp
	c.Header = resp.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	return &c
}
