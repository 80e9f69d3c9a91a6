package core

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/mixtape-go/mixtape/bus"
)

// RoundTrip carries one HTTP request to its answer.
type RoundTrip func(*http.Request) (*http.Response, error)

// ToolRun carries one tool call, or one call of [Call], to its result.
type ToolRun func(ctx context.Context, req *ToolRequest) (json.RawMessage, error)

// ToolRequest is what a tool, or [Call], is asked.
type ToolRequest struct {
	Kind      bus.Kind // bus.KindTool, or bus.KindFunc for Call
	Name      string   // the tool's name, or the kind that was given to Call
	Arguments json.RawMessage
}

// String names what is called, in error texts.
func (r *ToolRequest) String() string {
	if r.Kind == bus.KindTool {
		return "tool " + r.Name
	}
	return "call " + r.Name
}

func (r *ToolRequest) clone() *ToolRequest {
	return &ToolRequest{r.Kind, r.Name, bytes.Clone(r.Arguments)}
}

// Interceptor stands in the way of every call on a bus. For each it may pass (call next with what it was given), answer
// (return without calling next), refuse (return an error), or change the request (call next with another). The request
// is its own copy, which it may write to.
//
// Calls that run concurrently are intercepted concurrently. An interceptor may call next more than once, concurrently
// too: each time is a call of its own on the bus, for HTTP an attempt of one call. The events show a request as the
// innermost interceptors were given it.
type Interceptor interface {
	// InterceptHTTP sees HTTP calls. The request's body is held in memory and never nil: reading it costs nothing, and
	// next gets it unread all the same. Another body may be put in its place, its length left as it was.
	InterceptHTTP(req *http.Request, next RoundTrip) (*http.Response, error)
	// InterceptTool sees tools and what Call runs.
	InterceptTool(ctx context.Context, req *ToolRequest, next ToolRun) (json.RawMessage, error)
}

// HTTPInterceptor returns an Interceptor that sees HTTP calls through fn and passes all others.
func HTTPInterceptor(fn func(req *http.Request, next RoundTrip) (*http.Response, error)) Interceptor {
	return httpInterceptor(fn)
}

type httpInterceptor func(*http.Request, RoundTrip) (*http.Response, error)

func (fn httpInterceptor) InterceptHTTP(req *http.Request, next RoundTrip) (*http.Response, error) {
	return fn(req, next)
}

func (httpInterceptor) InterceptTool(ctx context.Context, req *ToolRequest, next ToolRun) (json.RawMessage, error) {
	return next(ctx, req)
}

// ToolInterceptor returns an Interceptor that sees tools and what [Call] runs through fn and passes all others.
func ToolInterceptor(fn func(ctx context.Context, req *ToolRequest, next ToolRun) (json.RawMessage, error)) Interceptor {
	return toolInterceptor(fn)
}

type toolInterceptor func(context.Context, *ToolRequest, ToolRun) (json.RawMessage, error)

func (toolInterceptor) InterceptHTTP(req *http.Request, next RoundTrip) (*http.Response, error) {
	return next(req)
}

func (fn toolInterceptor) InterceptTool(ctx context.Context, req *ToolRequest, next ToolRun) (json.RawMessage, error) {
	return fn(ctx, req, next)
}
