package cassette

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
)

// knowsEOF is an error that is io.ErrUnexpectedEOF by its own word only.
type knowsEOF struct{}

func (knowsEOF) Error() string        { return "cut" }
func (knowsEOF) Is(target error) bool { return target == io.ErrUnexpectedEOF }

func TestFailureIsTheErrorItWas(t *testing.T) {
	refused := &url.Error{Op: "Post", URL: "http://127.0.0.1:1/v1", Err: &net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}}
	for _, tc := range []struct {
		err    error
		is     []error
		reason string
	}{
		{refused, []error{syscall.ECONNREFUSED}, "a chain down to the system's error"},
		{knowsEOF{}, []error{io.ErrUnexpectedEOF}, "an identity that stands in no chain"},
		{fmt.Errorf("read: %w", errors.Join(context.Canceled, io.EOF)), []error{context.Canceled, io.EOF}, "joined errors"},
		{&url.Error{Op: "Get", URL: "u", Err: context.DeadlineExceeded}, []error{context.DeadlineExceeded}, "a time-out"},
	} {
		f := newFailure(tc.err)
		if f.Error() != tc.err.Error() {
			t.Errorf("%s: text %q, want %q", tc.reason, f, tc.err)
		}
		for _, s := range tc.is {
			if !errors.Is(f.err(), s) {
				t.Errorf("%s: not %v", tc.reason, s)
			}
		}
		if errors.Is(f, http.ErrHandlerTimeout) {
			t.Errorf("%s: is what it is not", tc.reason)
		}
		var timeout net.Error
		if !errors.As(f.err(), &timeout) || timeout.Timeout() != f.TimedOut {
			t.Errorf("%s: no net.Error", tc.reason)
		}
	}
	f := newFailure(refused)
	var u *url.Error
	var op *net.OpError
	if !errors.As(f, &u) || u.Op != "Post" || u.URL != refused.URL || u.Err.Error() != refused.Err.Error() {
		t.Errorf("as a *url.Error it is %v", u)
	}
	if !errors.As(f, &op) || op.Op != "dial" || op.Net != "tcp" || !errors.Is(op.Err, syscall.ECONNREFUSED) {
		t.Errorf("as a *net.OpError it is %v", op)
	}
	if errors.As(newFailure(io.ErrNoProgress), &op) {
		t.Error("an error without one gives a *net.OpError")
	}
	if newFailure(nil) != nil {
		t.Error("no error is a failure")
	}
	if got := newFailure(io.ErrUnexpectedEOF).err(); got != io.ErrUnexpectedEOF {
		t.Errorf("%v is not the sentinel itself, which programs compare with ==", got)
	}
}

func TestAnswerOfAFileWrittenByHand(t *testing.T) {
	in := &Interaction{HTTP: &HTTPInteraction{
		Status: 200, ResponseHeader: http.Header{"Content-Length": {"40"}, "Content-Type": {"text/event-stream"}},
		Streamed: true, Response: Body{Bytes: []byte("data: 1\n\n")},
	}}
	req, _ := http.NewRequest(http.MethodGet, "http://127.0.0.1", nil)
	resp, err := in.answer(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Content-Length") != "" || resp.ContentLength != -1 || resp.Proto != "HTTP/1.1" {
		t.Errorf("the length of another body comes back: %v, %d", resp.Header, resp.ContentLength)
	}
}
