package core_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/mixtape-go/mixtape/core"
)

var errSoldOut = errors.New("sold out")

func recorded(err error) error {
	return &core.ToolError{Text: err.Error(), Chain: core.ErrorChain(err)}
}

func TestToolError(t *testing.T) {
	_, missing := os.Open("testdata/no such file")
	for _, tt := range []struct {
		reason string
		err    error
		is     []error
		not    []error
	}{
		{"a sentinel", errSoldOut, []error{errSoldOut}, []error{io.EOF, nil}},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", errSoldOut)), []error{errSoldOut}, []error{io.EOF}},
		{"joined", errors.Join(io.EOF, fmt.Errorf("b: %w", errSoldOut)), []error{errSoldOut, io.EOF}, []error{io.ErrUnexpectedEOF}},
		{"wrapped together", fmt.Errorf("%w and %w", io.EOF, errSoldOut), []error{errSoldOut, io.EOF}, nil},
		{"the same text, another type", errSoldOut, nil, []error{fmt.Errorf("sold out: %w", io.EOF), typedError("sold out")}},
		{"known by a method", missing, []error{fs.ErrNotExist, os.ErrNotExist}, []error{fs.ErrExist}},
		{"a time-out", fmt.Errorf("a: %w", context.DeadlineExceeded), []error{context.DeadlineExceeded}, []error{context.Canceled}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			again := fmt.Errorf("tool: %w", recorded(tt.err))
			for _, e := range tt.is {
				if !errors.Is(again, e) {
					t.Errorf("it is not %v", e)
				}
			}
			for _, e := range tt.not {
				if errors.Is(again, e) {
					t.Errorf("it is %v", e)
				}
			}
			var te *core.ToolError
			if !errors.As(again, &te) || te.Error() != tt.err.Error() || te.Timeout() != errors.Is(tt.err, context.DeadlineExceeded) {
				t.Errorf("%+v", te)
			}
		})
	}
	if core.ErrorChain(nil) != nil {
		t.Error("nil has a chain")
	}
	if errors.Is(recorded(errSoldOut), (*pointerError)(nil)) {
		t.Error("it is a nil pointer")
	}
}

type typedError string

func (e typedError) Error() string { return string(e) }

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }
