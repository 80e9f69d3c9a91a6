package core_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// TestFault21FirstByte, and 22 to 24: the first bytes pass before the server has sent the next, in the reads in which
// they came.
func TestFault21FirstByte(t *testing.T) {
	next := make(chan struct{})
	events := []string{delta, ": 4 bytes\n\n", "da", "ta: [DONE]\n\n"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for _, e := range events {
			<-next
			_, _ = io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	h := listen()
	resp, err := core.Transport(server.Client().Transport, core.WithBus(h.bus)).RoundTrip(chatTo(t.Context(), server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 1<<10)
	var cuts []int
	for _, e := range events {
		next <- struct{}{}
		n, err := resp.Body.Read(buf)
		if err == io.EOF {
			err = nil
		}
		if err != nil || string(buf[:n]) != e {
			t.Fatalf("read %q, %v; sent %q", buf[:n], err, e)
		}
		cuts = append(cuts, n)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	c := h.one(t)
	var got []int
	for _, chunk := range c.Exchange.Chunks {
		got = append(got, chunk.Len)
	}
	if !slices.Equal(got, cuts) || string(c.ResponseBody()) != strings.Join(events, "") || c.Ending != bus.EndingComplete || !c.Streamed {
		t.Errorf("cuts %v, want %v; ending %s; body %q", got, cuts, c.Ending, c.ResponseBody())
	}
}

var errReset = errors.New("connection reset")

// TestEndings covers faults 17, 19, 78, 79, 80 and 114 as far as the seam goes: one closing event for every way in
// which a call ends, and what it says.
func TestEndings(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	const (
		read  = "read"
		close = "close"
		drain = "drain"
	)
	for _, tt := range []struct {
		reason string
		ctx    context.Context // as it is when the call ends
		stream bool
		pieces []string
		err    error // of the read after them
		reads  int   // before the end; -1: all
		end    string
		want   bus.Ending
		errIs  error
	}{
		{"read to its end", nil, true, []string{delta, done}, io.EOF, -1, read, bus.EndingComplete, nil},
		{"fault 79: the marker seen, the end not read", nil, true, []string{delta, done}, io.EOF, 2, close, bus.EndingClosedAfterTerminal, nil},
		{"the marker seen, then cancelled", cancelled, true, []string{delta, done}, context.Canceled, -1, read, bus.EndingClosedAfterTerminal, context.Canceled},
		{"the marker seen, then drained", nil, true, []string{delta, done}, io.EOF, 2, drain, bus.EndingClosedAfterTerminal, nil},
		{"fault 80: closed after the first event", nil, true, []string{delta, done}, io.EOF, 1, close, bus.EndingClosedEarly, nil},
		{"closed before the first event", nil, true, []string{delta, done}, io.EOF, 0, close, bus.EndingClosedEarly, nil},
		{"closed after what would be a whole plain body", nil, true, []string{"{}", done}, io.EOF, 1, close, bus.EndingClosedEarly, nil},
		{"drained half way", nil, true, []string{delta, done}, io.EOF, 1, drain, bus.EndingClosedEarly, nil},
		{"fault 78: cancelled, the read fails", cancelled, true, []string{delta}, context.Canceled, -1, read, bus.EndingCancelled, context.Canceled},
		{"cancelled, the read fails with another error", cancelled, true, []string{delta}, errReset, -1, read, bus.EndingCancelled, errReset},
		{"cancelled, then closed", cancelled, true, []string{delta}, io.EOF, 1, close, bus.EndingCancelled, context.Canceled},
		{"fault 114: too late, the read fails", late, true, []string{delta}, context.DeadlineExceeded, -1, read, bus.EndingError, context.DeadlineExceeded},
		{"too late, then closed", late, true, []string{delta}, io.EOF, 1, close, bus.EndingError, context.DeadlineExceeded},
		{"a read that timed out", nil, true, []string{delta}, os.ErrDeadlineExceeded, -1, read, bus.EndingError, os.ErrDeadlineExceeded},
		{"cut by the server", nil, true, []string{delta}, io.ErrUnexpectedEOF, -1, read, bus.EndingUpstreamAborted, io.ErrUnexpectedEOF},
		{"reset by the server", nil, true, []string{delta}, errReset, -1, read, bus.EndingUpstreamAborted, errReset},
		{"fault 19: ended by the server without a marker", nil, true, []string{delta}, io.EOF, -1, read, bus.EndingUpstreamAborted, nil},
		{"nothing at all", nil, true, nil, io.EOF, -1, read, bus.EndingUpstreamAborted, nil},
		{"fault 17: an error event, read to the end", nil, true, []string{delta, failure}, io.EOF, -1, read, bus.EndingError, nil},
		{"an error event, closed", nil, true, []string{delta, failure}, io.EOF, 2, close, bus.EndingError, nil},
		{"an error event, then cut", nil, true, []string{delta, failure}, errReset, -1, read, bus.EndingError, errReset},

		{"plain: read to its end", nil, false, []string{chatAnswer}, io.EOF, -1, read, bus.EndingComplete, nil},
		{"plain: one whole value read, as a json.Decoder does", nil, false, []string{chatAnswer, "\n"}, io.EOF, 1, close, bus.EndingComplete, nil},
		{"plain: one whole value read, then cancelled", cancelled, false, []string{chatAnswer, "\n"}, io.EOF, 1, close, bus.EndingComplete, nil},
		{"plain: half read", nil, false, []string{`{"a":`, `1}`}, io.EOF, 1, close, bus.EndingClosedEarly, nil},
		{"plain: not read", nil, false, []string{chatAnswer}, io.EOF, 0, close, bus.EndingClosedEarly, nil},
		{"plain: cut", nil, false, []string{`{"a":`}, io.ErrUnexpectedEOF, -1, read, bus.EndingUpstreamAborted, io.ErrUnexpectedEOF},
		{"plain: ends before its value does", nil, false, []string{`{"a":`}, io.EOF, -1, read, bus.EndingComplete, nil},
		{"plain: drained", nil, false, []string{chatAnswer, "\n"}, io.EOF, 1, drain, bus.EndingComplete, nil},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			body := &pieces{left: slices.Clone(tt.pieces), err: tt.err}
			resp, err := bound(h, func(*http.Request) (*http.Response, error) {
				contentType := "application/json"
				if tt.stream {
					contentType = "text/event-stream"
				}
				resp := respond(200, contentType, nil)
				resp.Body = body
				return resp, nil
			}).RoundTrip(chat(ctx))
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 4<<10)
			for i := 0; i != tt.reads; i++ {
				n, err := resp.Body.Read(buf)
				if err != nil {
					if err != tt.err || tt.reads > 0 {
						t.Fatalf("read %d: %v", i, err)
					}
					break
				}
				if string(buf[:n]) != tt.pieces[i] {
					t.Errorf("read %d: %q", i, buf[:n])
				}
			}
			if tt.end == drain {
				core.Drain(h.bus)
			}
			if tt.end == close {
				if h.closings() != 0 {
					t.Error("ended before it was closed")
				}
				resp.Body.Close()
				if !body.closed {
					t.Error("the server's body was not closed")
				}
			}
			c := h.one(t)
			if c.Ending != tt.want || !errors.Is(c.Err, tt.errIs) || c.Err != nil && tt.errIs == nil {
				t.Errorf("%s, %v; want %s, %v", c.Ending, c.Err, tt.want, tt.errIs)
			}
			rest, _ := io.ReadAll(resp.Body)
			if tt.end == drain && string(rest) != strings.Join(tt.pieces[tt.reads:], "") {
				t.Errorf("after the drain the reader got %q", rest)
			}
			resp.Body.Close()
			core.Drain(h.bus)
			if h.one(t) != c {
				t.Error("another closing event")
			}
		})
	}
}

func TestFailures(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		reason string
		ctx    context.Context
		err    error
		want   bus.Ending
	}{
		{"refused", t.Context(), errors.New("connection refused"), bus.EndingError},
		{"cancelled", cancelled, context.Canceled, bus.EndingCancelled},
		{"cancelled, told in other words", cancelled, errReset, bus.EndingCancelled},
		{"a cancellation that is not the caller's", t.Context(), fmt.Errorf("dial: %w", context.Canceled), bus.EndingCancelled},
		{"timed out", t.Context(), context.DeadlineExceeded, bus.EndingError},
		{"timed out, then cancelled", cancelled, context.DeadlineExceeded, bus.EndingError},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			_, err := bound(h, func(*http.Request) (*http.Response, error) { return nil, tt.err }).RoundTrip(chat(tt.ctx))
			if c := h.one(t); err != tt.err || c.Err != tt.err || c.Ending != tt.want || c.Status != 0 {
				t.Errorf("%v; heard %s, %v, status %d", err, c.Ending, c.Err, c.Status)
			}
		})
	}
}

// TestFault82ErrorStatus: the body of an error status is read at once, and comes back to the reader as it came.
func TestFault82ErrorStatus(t *testing.T) {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		h := listen()
		body := &pieces{left: []string{`{"error":`, `{"message":"slow down"}}`}, err: end}
		resp, err := bound(h, func(*http.Request) (*http.Response, error) {
			resp := respond(429, "application/json", nil)
			resp.Body = body
			return resp, nil
		}).RoundTrip(chat(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		c := h.one(t) // before anything is read
		want := bus.EndingComplete
		if end != io.EOF {
			want = bus.EndingUpstreamAborted
		}
		if c.Status != 429 || c.Ending != want || !body.closed {
			t.Errorf("status %d, %s; closed: %t", c.Status, c.Ending, body.closed)
		}
		buf := make([]byte, 8)
		var reads []string
		for err == nil {
			var n int
			n, err = resp.Body.Read(buf)
			reads = append(reads, string(buf[:n]))
		}
		if err != end || !slices.Equal(reads, []string{`{"error"`, `:`, `{"messag`, `e":"slow`, ` down"}}`, ""}) {
			t.Errorf("reads %q, %v", reads, err)
		}
	}
}

func TestErrorStatusThatStreams(t *testing.T) {
	h := listen()
	_, body := mustSend(t, bound(h, func(*http.Request) (*http.Response, error) {
		return respond(529, "text/event-stream", strings.NewReader(failure)), nil
	}), chat(t.Context()))
	if c := h.one(t); c.Ending != bus.EndingComplete || body != failure {
		t.Errorf("%s %q", c.Ending, body)
	}
}

// TestDrainedErrorStatus drains while the seam reads the body of an error status: the caller gets all of it.
func TestDrainedErrorStatus(t *testing.T) {
	h := listen()
	r, w := io.Pipe()
	var body string
	var wg sync.WaitGroup
	wg.Go(func() {
		_, body = mustSend(t, bound(h, func(*http.Request) (*http.Response, error) { return respond(500, "text/plain", r), nil }), chat(t.Context()))
	})
	_, _ = io.WriteString(w, "first ")
	core.Drain(h.bus)
	_, _ = io.WriteString(w, "second")
	w.Close()
	wg.Wait()
	if c := h.one(t); body != "first second" || c.Ending != bus.EndingClosedEarly || c.Status != 500 {
		t.Errorf("%q; %s", body, c.Ending)
	}
}

func TestBodyless(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/204":
			w.WriteHeader(204)
		case "/304":
			w.WriteHeader(304)
		case "/head":
			w.Header().Set("Content-Length", "5")
		}
	}))
	defer server.Close()
	for _, path := range []string{"/204", "/304", "/head", "/empty"} {
		h := listen()
		method := http.MethodGet
		if path == "/head" {
			method = http.MethodHead
		}
		req, _ := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		resp, err := core.Transport(server.Client().Transport, core.WithBus(h.bus)).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.http) != 1 || h.http[0].Ending != bus.EndingComplete || h.http[0].Status != resp.StatusCode || resp.Body != http.NoBody {
			t.Errorf("%s: %+v", path, h.http)
		}
	}
}

func TestSwitchingProtocols(t *testing.T) {
	h := listen()
	want := respond(101, "", strings.NewReader(""))
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://llm.test/live", nil)
	resp, err := bound(h, func(*http.Request) (*http.Response, error) { return want, nil }).RoundTrip(req)
	if resp != want || err != nil {
		t.Errorf("not the very answer: %v", err)
	}
	if len(h.http) != 1 || h.http[0].Status != 101 || h.http[0].Ending != bus.EndingComplete {
		t.Errorf("%+v", h.http)
	}
}

// TestTrailers covers a trailer that the server announced and one that comes unannounced.
func TestTrailers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Announced")
		_, _ = io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Announced", "1")
	}))
	defer server.Close()
	h := listen()
	resp, _ := mustSend(t, core.Transport(server.Client().Transport, core.WithBus(h.bus)), chatTo(t.Context(), server.URL))
	if resp.Trailer.Get("X-Announced") != "1" || h.one(t).Exchange.Trailer.Get("X-Announced") != "1" {
		t.Errorf("client %v, event %v", resp.Trailer, h.llm[0].Exchange.Trailer)
	}

	h = listen()
	late := respond(200, "text/plain", nil)
	late.Body = io.NopCloser(readFunc(func([]byte) (int, error) {
		late.Trailer = http.Header{"X-Late": {"1"}} // as net/http does
		return 0, io.EOF
	}))
	resp, _ = mustSend(t, bound(h, func(*http.Request) (*http.Response, error) { return late, nil }), chat(t.Context()))
	if resp.Trailer.Get("X-Late") != "1" || h.one(t).Exchange.Trailer.Get("X-Late") != "1" {
		t.Errorf("client %v, event %v", resp.Trailer, h.llm[0].Exchange.Trailer)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

func TestContentEncoding(t *testing.T) {
	for _, tt := range []struct {
		reason, encoding, contentType string
		body                          []byte
		end                           error
		want                          bus.Ending
		text                          string
	}{
		{"gzip", "gzip", "application/json", zipped(chatAnswer), io.EOF, bus.EndingComplete, "Hello"},
		{"a gzip stream", "gzip", "text/event-stream", zipped(delta + done), io.EOF, bus.EndingComplete, "Hello"},
		{"gzip, its marker seen", "GZIP", "text/event-stream", zipped(delta + done), errReset, bus.EndingClosedAfterTerminal, "Hello"},
		{"gzip without the marker", "gzip", "text/event-stream", zipped(delta), io.EOF, bus.EndingUpstreamAborted, "Hello"},
		{"gzip that is none", "gzip", "text/event-stream", []byte("x"), io.EOF, bus.EndingUpstreamAborted, ""},
		{"an encoding that nobody here knows", "dcb", "text/event-stream", []byte("???"), io.EOF, bus.EndingComplete, ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			resp, err := bound(h, func(*http.Request) (*http.Response, error) {
				resp := respond(200, tt.contentType, nil)
				resp.Header.Set("Content-Encoding", tt.encoding)
				resp.Body = &pieces{left: []string{string(tt.body)}, err: tt.end}
				return resp, nil
			}).RoundTrip(chat(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(resp.Body); !bytes.Equal(b, tt.body) {
				t.Errorf("the client got %q", b)
			}
			c := h.one(t)
			if c.Ending != tt.want || c.Text() != tt.text || !bytes.Equal(c.ResponseBody(), tt.body) {
				t.Errorf("%s, text %q", c.Ending, c.Text())
			}
			if tt.text == "" && c.DecodeErr() == nil {
				t.Error("it decodes without an error")
			}
		})
	}
}

// TestReadAndCloseConcurrently reads on one goroutine and closes on another, as the AWS SDK does.
func TestReadAndCloseConcurrently(t *testing.T) {
	for range 200 {
		h := listen()
		r, w := io.Pipe()
		resp, err := bound(h, func(*http.Request) (*http.Response, error) { return respond(200, "text/event-stream", r), nil }).RoundTrip(chat(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.WriteString(w, delta+done); w.Close() })
		wg.Go(func() { _, _ = io.Copy(io.Discard, resp.Body) })
		wg.Go(func() { resp.Body.Close(); r.Close() })
		wg.Go(func() { core.Drain(h.bus) })
		wg.Wait()
		h.one(t)
	}
}

// TestAbandoned lets go of a stream. Only the collector finds it.
func TestAbandoned(t *testing.T) {
	h := listen()
	body := &pieces{left: []string{delta, done}, err: io.EOF}
	func() {
		resp, err := bound(h, func(req *http.Request) (*http.Response, error) {
			resp := respond(200, "text/event-stream", nil)
			resp.Body = struct { // as net/http's bodies do
				io.ReadCloser
				resp *http.Response
			}{body, resp}
			return resp, nil
		}).RoundTrip(chat(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = resp.Body.Read(make([]byte, len(delta)))
	}()
	for h.closings() == 0 {
		runtime.GC()
		runtime.Gosched()
	}
	if c := h.one(t); c.Ending != bus.EndingClosedEarly || string(c.ResponseBody()) != delta {
		t.Errorf("%s %q", c.Ending, c.ResponseBody())
	}
}

// TestInBubble shows that nothing of a stream that was let go of in a bubble comes from outside of it, and that no
// goroutine is left.
func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listen()
		for range 10 {
			_, err := bound(h, func(*http.Request) (*http.Response, error) {
				return respond(200, "text/event-stream", strings.NewReader(delta)), nil
			}).RoundTrip(chat(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		synctest.Wait()
		if h.closings() != 0 {
			t.Errorf("%d events of streams that nobody ended", h.closings())
		}
		core.Drain(h.bus)
		if h.closings() != 10 {
			t.Errorf("the drain ended %d of 10", h.closings())
		}
	})
}

func TestNoGoroutine(t *testing.T) {
	h := listen()
	before := runtime.NumGoroutine()
	resp, err := bound(h, func(*http.Request) (*http.Response, error) {
		return respond(200, "text/event-stream", strings.NewReader(delta+done)), nil
	}).RoundTrip(chat(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines while streaming, %d before", n, before)
	}
	resp.Body.Close()
}
