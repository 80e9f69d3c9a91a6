package core

import "net/http"

// Transport returns an http.RoundTripper that carries requests through the seam to base, or to
// [http.DefaultTransport] when base is nil.
//
// It sees each attempt on the wire, after the SDK's middlewares and its authentication. It cannot stop an SDK from
// retrying after a transport error, nor name the logical call where the SDK puts no mark of its own on the request; a
// replayed error status carries X-Should-Retry: false, which the Stainless SDKs obey. An SDK that wants a key before it
// sends needs one, real or not, in a replay too. Where these matter, use [Instrument] or [PerCall].
func Transport(base http.RoundTripper, opts ...Option) http.RoundTripper {
	return &transport{base: base, cfg: newConfig(opts)}
}

type transport struct {
	base http.RoundTripper // nil: http.DefaultTransport, as it is when a request is sent
	cfg  *config
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.cfg.roundTrip(req, t.next().RoundTrip, via{})
}

func (t *transport) next() http.RoundTripper {
	if t.base == nil {
		return http.DefaultTransport
	}
	return t.base
}

// CloseIdleConnections closes those of the transport below, for http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Middleware returns a middleware for the Stainless SDKs (openai-go, anthropic-sdk-go): pass it to
// option.WithMiddleware of the SDK.
//
// It sees each attempt, outside of the SDK's own middlewares that were given after it. It stops retries of what it
// replays or refuses. It cannot name the logical call where the SDK puts no mark on the request; [PerCall] can.
func Middleware(opts ...Option) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	cfg := newConfig(opts)
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return cfg.roundTrip(req, next, via{stainless: true})
	}
}
