package cassette

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mixtape-go/mixtape/core"
)

// Failure is an error as it is kept in a file, and as it comes back in a replay: with the text, the Timeout method and
// the identity (errors.Is) of the one that was recorded. For *url.Error and *net.OpError errors.As works too.
type Failure struct {
	Text string
	// TimedOut is what the error's Timeout method said.
	TimedOut bool
	// Chain are the error and those that it wraps, in the order in which errors.Is visits them.
	Chain []core.ErrorLink

	unknown []rawMember
}

// sentinels are what programs ask a transport's error about. An error may know one by its Is method, so that it stands
// in no chain.
var sentinels = []error{
	io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
}

// newFailure returns what is kept of err; nil for nil.
func newFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Text: err.Error(), Chain: core.ErrorChain(err)}
	var t interface{ Timeout() bool }
	f.TimedOut = errors.As(err, &t) && t.Timeout()
	for _, s := range sentinels {
		if errors.Is(err, s) && !f.Is(s) {
			f.Chain = append(f.Chain, core.ErrorChain(s)...)
		}
	}
	return f
}

// err returns the failure as the program gets it: the very value where that is a sentinel, which programs compare
// with ==, else f.
func (f *Failure) err() error {
	for _, s := range slices.Concat(sentinels, []error{context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded}) {
		if len(f.Chain) > 0 && f.Chain[0] == core.ErrorChain(s)[0] && f.Text == s.Error() {
			return s
		}
	}
	return f
}

func (f *Failure) Error() string { return f.Text }

// Timeout reports whether the recorded error was a time-out.
func (f *Failure) Timeout() bool { return f.TimedOut }

// Temporary is there for net.Error; it says what Timeout says.
func (f *Failure) Temporary() bool { return f.TimedOut }

// Is reports whether target has the type and the text of an error in the chain.
func (f *Failure) Is(target error) bool {
	return slices.Contains(f.Chain, core.ErrorChain(target)[0])
}

// As gives the standard library's own transport errors back.
func (f *Failure) As(target any) bool {
	switch target := target.(type) {
	case **url.Error:
		i := f.link("*url.Error")
		if i < 0 {
			return false
		}
		op, rest, _ := strings.Cut(f.Chain[i].Text, " ")
		u, _, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
		*target = &url.Error{Op: op, URL: u, Err: f.below(i)}
		return true
	case **net.OpError:
		i := f.link("*net.OpError")
		if i < 0 {
			return false
		}
		op, rest, _ := strings.Cut(f.Chain[i].Text, " ")
		network, _, _ := strings.Cut(rest, " ")
		*target = &net.OpError{Op: op, Net: strings.TrimSuffix(network, ":"), Err: f.below(i)}
		return true
	}
	return false
}

func (f *Failure) link(kind string) int {
	return slices.IndexFunc(f.Chain, func(l core.ErrorLink) bool { return l.Type == kind })
}

// below returns what the i-th link wraps.
func (f *Failure) below(i int) *Failure {
	b := &Failure{TimedOut: f.TimedOut, Chain: f.Chain[i+1:]}
	if len(b.Chain) > 0 {
		b.Text = b.Chain[0].Text
	}
	return b
}
