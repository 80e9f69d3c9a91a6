package conformance

import (
	"context"

	"github.com/mixtape-go/mixtape/core"
)

// Model is the model that an SDK is to ask for.
const Model = "test-model-1"

// SDK says how one SDK, with a client of type C, is driven.
type SDK[C any] struct {
	// New makes a client for a server at url, a base without a path. It retries as the SDK does by default, without waiting
	// long.
	New func(url string) C

	// Text asks for an answer to prompt.
	Text func(ctx context.Context, c C, prompt string) (string, error)
	// Stream asks for a streamed answer and calls each for every event that the SDK hands out, with the text in it, as it
	// comes. When each returns false it closes the stream.
	Stream func(ctx context.Context, c C, prompt string, each func(text string) bool) error
	// Tool offers the tool "weather" with one string parameter "city", and returns the call that the model asks for, streamed
	// or not. Nil when the SDK has no tools.
	Tool func(ctx context.Context, c C, prompt string, streamed bool) (name, arguments string, err error)
	// Status returns the HTTP status in an error of the SDK's own type, found by errors.As; 0 when it is none.
	Status func(error) int

	Provider string    // in events
	Seam     core.Seam // in the Report
	Paths    int       // in the Report

	// Retries says that the SDK retries a 429, and Tied that the attempts can be told to be those of one call.
	Retries, Tied bool
	// Silent says that the SDK does not tell its user that a stream was cut or cancelled.
	Silent bool

	// Refused are clients that cannot be instrumented: zero values, nil pointers. See [Try].
	Refused map[string]func() error
}

// Try returns a function that instruments c and returns the error.
func Try[C any](c C) func() error {
	return func() error {
		_, _, err := core.TryInstrument(c)
		return err
	}
}
