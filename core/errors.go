package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

var errNoAnswer = errors.New("mixtape: an interceptor or a transport returned neither an answer nor an error")

// RequestBodyError says that the body of a request could not be read, so that nothing was sent.
type RequestBodyError struct {
	Request string // method and address, without query
	Err     error
}

func (e *RequestBodyError) Error() string {
	return fmt.Sprintf("mixtape: the body of %s cannot be read, so nothing was sent: %v", e.Request, e.Err)
}

func (e *RequestBodyError) Unwrap() error { return e.Err }

// ToolError is an error of a tool, or of [Call], that comes from a recording. The error that was recorded, and those
// that it wrapped, were values of another process; what is left of them are their types and texts, so that errors.Is
// holds for a sentinel, and errors.As for no type but this one.
type ToolError struct {
	Text  string
	Chain []ErrorLink // as [ErrorChain] made it
}

func (e *ToolError) Error() string { return e.Text }

// Is reports whether target has the type and the text of an error in the chain, as the same sentinel has.
func (e *ToolError) Is(target error) bool {
	return target != nil && slices.Contains(e.Chain, linkOf(target))
}

// Timeout reports whether the recorded error was a time-out.
func (e *ToolError) Timeout() bool {
	return e.Is(context.DeadlineExceeded) || e.Is(os.ErrDeadlineExceeded)
}

// ErrorLink is one error of a chain, as a recording keeps it.
type ErrorLink struct {
	Type string // as %T prints it
	Text string
}

// linkOf formats err with %v, which a nil pointer in it survives, as err.Error() may not.
func linkOf(err error) ErrorLink { return ErrorLink{fmt.Sprintf("%T", err), fmt.Sprintf("%v", err)} }

// sentinels are those of the standard library that errors know by an Is method, so that they stand in no chain.
var sentinels = []error{
	context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded,
	fs.ErrExist, fs.ErrNotExist, fs.ErrPermission, errors.ErrUnsupported,
}

// ErrorChain returns the links of err and of all that it wraps, in the order in which errors.Is visits them, and then
// the sentinels of the standard library that it is by a method of its own, as an error of the file system is
// [fs.ErrNotExist]. It returns nil for nil.
func ErrorChain(err error) []ErrorLink {
	chain := appendChain(nil, err)
	for _, s := range sentinels {
		if l := linkOf(s); errors.Is(err, s) && !slices.Contains(chain, l) {
			chain = append(chain, l)
		}
	}
	return chain
}

func appendChain(chain []ErrorLink, err error) []ErrorLink {
	if err == nil {
		return chain
	}
	chain = append(chain, linkOf(err))
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		chain = appendChain(chain, w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range w.Unwrap() {
			chain = appendChain(chain, e)
		}
	}
	return chain
}
