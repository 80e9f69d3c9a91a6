package core

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// Instrument returns a client like client whose calls go through the seam, and panics where [TryInstrument] returns an
// error.
//
//	client := core.Instrument(openai.NewClient())
//
// It works, without an import of any SDK, for
//   - *http.Client, [http.RoundTripper], and any interface whose one method is Do;
//   - clients of the Stainless SDKs (openai-go, anthropic-sdk-go), through an option that each call runs;
//   - clients, and frameworks round clients, that hold one of these in a field, exported or not, however deep: genai,
//     go-openai, ollama, cohere, bedrockruntime, langchaingo, eino, genkit, fantasy.
//
// The client that is given is not written to, nor is anything that it shares: every struct, slice and pointer on the
// way to what is replaced is copied, once, and the rest is shared with the original. So both work, side by side. What
// was made from the client before (a chat, a tool runner, a closure) holds the original and is not instrumented.
//
// Instrumenting again changes nothing; with [WithBus] and another bus, it gives a client that is bound to that bus.
//
// A struct on the way may hold a sync.Mutex, RWMutex or Once: it is copied while these are held, and the copy gets
// idle ones of its own. One that holds another type of package sync by value is not copied, and so not followed;
// values of package sync/atomic are copied as they stand, by plain reads, so that a client that has such fields must not be
// in use by other goroutines meanwhile. Maps, channels, functions and what serves for authentication are not followed.
//
// A program that converts a client to an interface, as this does, makes the linker keep all methods of the client if
// it also uses text/template or reflect.Value.MethodByName. [Middleware], [PerCall] and [Transport] do not.
func Instrument[C any](client C, opts ...Option) C {
	c, _, err := TryInstrument(client, opts...)
	if err != nil {
		panic(err)
	}
	return c
}

// TryInstrument is [Instrument] with an error, a [*NoSeamError], in place of a panic. Its Report tells what of the
// client was reached; beside an error, the client is returned as it was given.
func TryInstrument[C any](client C, opts ...Option) (C, Report, error) {
	instrumented := client
	w := newWalk(newConfig(opts))
	w.run(reflect.ValueOf(&instrumented).Elem())
	if len(w.report.Paths) == 0 {
		return client, w.report, noSeam(reflect.TypeFor[C](), reflect.ValueOf(&client).Elem(), w.report.Notes)
	}
	return instrumented, w.report, nil
}

// Report tells what [TryInstrument] reached.
type Report struct {
	// Seam is where calls pass: the most that was found, when several were.
	Seam Seam
	// Paths are the fields that were replaced, or that were instrumented before: "client.options.HTTPClient".
	Paths []string
	// Notes say what was met and left alone, and why: the first 20.
	Notes []string
}

// Seam is a place where calls pass.
type Seam string

const (
	// SeamNone: there is none.
	SeamNone Seam = ""
	// SeamHTTP: the HTTP client, or transport. Each attempt of a call is seen, with no tie between them but the SDK's own
	// marks on the request.
	SeamHTTP Seam = "http"
	// SeamPerCall: an option that a Stainless SDK runs for each call. Attempts are tied, retries of what is replayed or
	// refused are stopped, and a replay needs no key.
	SeamPerCall Seam = "per-call option"
)

// NoSeamError says that a client has no place where its calls could be seen.
type NoSeamError struct {
	Type   string // of the client
	Reason string
	Remedy string
	Notes  []string // of the [Report]
}

func (e *NoSeamError) Error() string {
	s := fmt.Sprintf("mixtape: cannot instrument %s: %s; %s", e.Type, e.Reason, e.Remedy)
	if len(e.Notes) > 0 {
		s += " (" + strings.Join(e.Notes, "; ") + ")"
	}
	return s
}

func noSeam(t reflect.Type, client reflect.Value, notes []string) error {
	e := &NoSeamError{Type: t.String(), Notes: notes}
	if t.Kind() == reflect.Interface && !client.IsNil() {
		client = client.Elem()
		e.Type = fmt.Sprintf("%s (in %s)", client.Type(), t)
	}
	k := client.Kind()
	switch {
	case (k == reflect.Pointer || k == reflect.Interface) && client.IsNil():
		e.Reason, e.Remedy = "it is nil", "pass a client that was made with the constructor of its package"
	case client.IsZero():
		e.Reason, e.Remedy = "it is a zero value, which holds neither options nor an HTTP client",
			"pass a client that was made with the constructor of its package"
	case client.Type().Implements(reflect.TypeFor[http.RoundTripper]()):
		e.Reason, e.Remedy = "a wrapped transport has another type",
			"use core.Transport(t), or core.Instrument[http.RoundTripper](t)"
	default:
		e.Reason, e.Remedy = "it holds no *http.Client, http.RoundTripper, HTTP client interface or per-call options that can be reached",
			"give its constructor an instrumented HTTP client, core.Instrument(&http.Client{}), or wrap its calls in core.Call"
	}
	return e
}

// rebound returns what c becomes when a client bound by c is instrumented with d, and whether that differs from c.
func (c *config) rebound(d *config) (*config, bool) {
	n := *c
	if d.bus != nil {
		n.bus = d.bus
	}
	if d.provider != "" {
		n.provider = d.provider
	}
	return &n, n != *c
}
