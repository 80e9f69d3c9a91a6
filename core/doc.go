// Package core is the seam between a program and the models and tools that it calls: it publishes every call on a
// [bus.Bus], and lets interceptors answer, change or refuse a call before it runs.
//
//	client := core.Instrument(openai.NewClient())       // production and tests: the same client
//	refund := core.Tool("refund", shop.Refund)          // a tool on the same stream of events
//
//	bus.Subscribe(bus.Default(), func(c *bus.LLMCall) { log.Println(c.Model, c.Duration, c.Ending) })
//	core.Intercept(bus.Default(), core.HTTPInterceptor(limiter))
//
// # Ways in
//
// What each can and cannot stop, besides answering and refusing, which all can:
//
//   - [Instrument] takes a client of any SDK and reaches for the best of the seams below.
//   - [PerCall] is an option of a Stainless SDK. It knows which attempts are one call, stops the SDK's retries of what an
//     interceptor declares final, and stands before authentication: an answer from a recording needs no key.
//   - [Middleware] does the same but for the call's identity, for which it needs the SDK's mark on the request.
//   - [Transport] is an http.RoundTripper. It cannot stop an SDK from retrying, and sleeping, after an error without an
//     answer, and stands after authentication.
//   - [Tool], [Dispatch] and [Call] wrap what is no HTTP exchange. An interceptor that answers keeps the body from running.
//
// # What passes
//
// Where nobody listens or intercepts, a call passes as it is. Else its request is held in memory and sent as it would
// have been, byte for byte; the answer's bytes pass as they arrive, in the reads in which they arrive, and a copy of them
// goes into the closing event. Only the body of an error status is read before the caller gets it. No goroutine is
// started. A request whose body waits for its own answer, as in a duplex stream, must not pass an instrumented client.
//
// A call publishes a [bus.CallStart] when it starts and one closing event when it ends: its answer was read to the end,
// failed, was closed, or was let go of and found by the collector; [Drain] ends those that are left. The event is
// published on the goroutine that ends the call.
//
// The bus is that of the call's context, else the one given with [WithBus], else [bus.Default].
package core
