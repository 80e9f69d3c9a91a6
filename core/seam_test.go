package core_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/route"
)

func TestNobodyListens(t *testing.T) {
	var got *http.Request
	want := respond(200, "text/plain", strings.NewReader("ok"))
	rt := core.Transport(tripFunc(func(req *http.Request) (*http.Response, error) { got = req; return want, nil }), core.WithBus(bus.New()))
	req := chat(t.Context())
	resp, err := rt.RoundTrip(req)
	if got != req || resp != want || err != nil {
		t.Errorf("the seam changed something: request %t, answer %t, error %v", got != req, resp != want, err)
	}
}

func TestBadRequests(t *testing.T) {
	h := listen()
	failed := errors.New("no URL")
	rt := bound(h, func(*http.Request) (*http.Response, error) { return nil, failed })
	if _, err := rt.RoundTrip(&http.Request{}); err != failed {
		t.Errorf("a request without a URL: %v", err)
	}
	rt = bound(h, plainly)
	if _, err := rt.RoundTrip(&http.Request{URL: &url.URL{}}); err != nil {
		t.Errorf("a request of nothing: %v", err)
	}
}

func TestEvents(t *testing.T) {
	h := listen()
	resp, body := mustSend(t, bound(h, plainly), chat(t.Context()))
	if resp.StatusCode != 200 || body != chatAnswer {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	c, s := h.one(t), h.starts[0]
	if c.Provider != "openai" || c.Operation != "chat" || c.Model != "gpt-4o" || c.Format != "openai.chat" || c.Status != 200 ||
		c.Ending != bus.EndingComplete || c.Err != nil || c.Streamed || c.Replayed || c.Intercepted || c.Attempt != 0 || c.CallID == "" {
		t.Errorf("%+v", c)
	}
	if s.Kind != bus.KindLLM || s.Provider != c.Provider || s.Operation != c.Operation || s.Model != c.Model || !s.Start.Equal(c.Start) || s.Parent != "" {
		t.Errorf("%+v", s)
	}
	x := c.Exchange
	if x.Method != "POST" || x.URL != "http://llm.test/v1/chat/completions" || string(x.Request) != chatBody || string(x.Response) != chatAnswer ||
		x.RequestHeader.Get("Content-Type") != "application/json" || x.ResponseHeader.Get("Content-Type") != "application/json" || x.Proto != "HTTP/1.1" {
		t.Errorf("%+v", x)
	}
	if c.Text() != "Hello" {
		t.Errorf("text %q", c.Text())
	}
}

func TestKinds(t *testing.T) {
	h := listen()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api.test/weather", nil)
	mustSend(t, bound(h, plainly), req)
	if len(h.http) != 1 || h.starts[0].Kind != bus.KindHTTP {
		t.Fatalf("an exchange in no format: %d HTTP calls", len(h.http))
	}
	mustSend(t, core.Transport(tripFunc(plainly), core.WithBus(h.bus), core.WithProvider("mine")), req)
	if len(h.llm) != 1 || h.llm[0].Provider != "mine" || h.llm[0].Format != "" {
		t.Errorf("an exchange with a named provider: %+v", h.llm)
	}
}

func TestOptionTwice(t *testing.T) {
	for name, o := range map[string]core.Option{"WithBus": core.WithBus(bus.New()), "WithProvider": core.WithProvider("a")} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("an option given twice is taken in silence")
				}
			}()
			core.Transport(nil, o, o)
		})
	}
}

func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listen()
		r, w := io.Pipe()
		rt := bound(h, func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			go func() {
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, delta)
				time.Sleep(time.Second)
				_, _ = io.WriteString(w, done)
				w.Close()
			}()
			return respond(200, "text/event-stream", r), nil
		})
		mustSend(t, rt, chat(t.Context()))
		c := h.one(t)
		if c.FirstByte != 2*time.Second || c.Duration != 3*time.Second {
			t.Errorf("first byte after %v, end after %v", c.FirstByte, c.Duration)
		}
		if ch := c.Exchange.Chunks; len(ch) != 2 || ch[0] != (bus.Chunk{At: 2 * time.Second, Len: len(delta)}) || ch[1].At != 3*time.Second {
			t.Errorf("chunks %v", ch)
		}
	})
}

// TestFault61Order: calls are numbered as they start, not as they end.
func TestFault61Order(t *testing.T) {
	h := listen()
	gate := map[string]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{})}
	started := make(chan struct{})
	rt := bound(h, func(req *http.Request) (*http.Response, error) {
		started <- struct{}{}
		<-gate[req.Header.Get("N")]
		return plainly(req)
	})
	var wg sync.WaitGroup
	for _, n := range []string{"1", "2"} {
		req := chat(t.Context())
		req.Header.Set("N", n)
		wg.Go(func() { mustSend(t, rt, req) })
		<-started
	}
	close(gate["2"])
	<-h.closed
	close(gate["1"])
	wg.Wait()
	if first, second := h.llm[0], h.llm[1]; first.Exchange.RequestHeader.Get("N") != "2" || first.Seq <= second.Seq {
		t.Errorf("ended first: %s with %d; second: %d", first.Exchange.RequestHeader.Get("N"), first.Seq, second.Seq)
	}
}

func TestConcurrently(t *testing.T) {
	h := listen()
	rt := bound(h, plainly)
	const n = 50
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { mustSend(t, rt, chat(t.Context())) })
	}
	wg.Wait()
	open := map[uint64]string{}
	for _, s := range h.starts {
		open[s.Seq] = s.CallID
	}
	if len(open) != n || len(h.llm) != n {
		t.Fatalf("%d starts and %d ends", len(open), len(h.llm))
	}
	for _, c := range h.llm {
		if open[c.Seq] != c.CallID {
			t.Errorf("end %d of call %s, which started as %s", c.Seq, c.CallID, open[c.Seq])
		}
		delete(open, c.Seq)
	}
}

func TestNestedSeams(t *testing.T) {
	h := listen()
	inner := bound(h, plainly)
	resp, _ := mustSend(t, bound(h, inner.RoundTrip), chat(t.Context()))
	h.one(t)
	// The context of an answer's request is no longer that of a call under way.
	if resp.Request == nil {
		resp, _ = mustSend(t, bound(h, func(req *http.Request) (*http.Response, error) {
			resp, err := plainly(req)
			resp.Request = req
			return resp, err
		}), chat(t.Context()))
	}
	mustSend(t, inner, chat(resp.Request.Context()))
	if last := h.starts[len(h.starts)-1]; len(h.llm) != 3 || last.Parent != "" {
		t.Errorf("%d calls, the last one in %q", len(h.llm), last.Parent)
	}
}

type brokenBody struct{ err, closeErr error }

func (b brokenBody) Read([]byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return 0, io.EOF
}
func (b brokenBody) Close() error { return b.closeErr }

func TestRequestBodyCannotBeRead(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, tt := range []struct {
		reason string
		body   io.Reader
		length int64
		text   string
	}{
		{"reading fails", brokenBody{err: broken}, 0, "disk on fire"},
		{"closing fails", brokenBody{closeErr: broken}, 0, "disk on fire"},
		{"shorter than announced", strings.NewReader("{}"), 3, "2 bytes, where its Content-Length says 3"},
		{"longer than announced", strings.NewReader("{}"), 1, "2 bytes, where its Content-Length says 1"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			rt := bound(h, func(*http.Request) (*http.Response, error) { t.Error("sent"); return plainly(nil) })
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://user:pass@llm.test/x?key=secret", tt.body)
			req.ContentLength = tt.length
			resp, err := rt.RoundTrip(req)
			var e *core.RequestBodyError
			if resp != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("%v", err)
			}
			if e.Request != "POST http://llm.test/x" {
				t.Errorf("it names %q", e.Request)
			}
			if len(h.http) != 1 || h.http[0].Err != err || h.http[0].Ending != bus.EndingError || h.http[0].Status != 0 {
				t.Errorf("heard %+v", h.http)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	h := listen()
	for name, next := range map[string]tripFunc{"nothing": func(*http.Request) (*http.Response, error) { return nil, nil }} {
		resp, err := bound(h, next).RoundTrip(chat(t.Context()))
		if resp != nil || err == nil || h.one(t).Err != err {
			t.Errorf("%s: %v %v", name, resp, err)
		}
	}
}

func TestPanicBelow(t *testing.T) {
	h := listen()
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v", v)
			}
		}()
		_, _ = bound(h, func(*http.Request) (*http.Response, error) { panic("boom") }).RoundTrip(chat(t.Context()))
	}()
	if c := h.one(t); c.Ending != bus.EndingError || c.Err == nil {
		t.Errorf("%+v", c)
	}
	core.Drain(h.bus)
	if h.closings() != 1 {
		t.Error("the call is still under way")
	}
}

// TestSameRequestOnTheWire compares the raw bytes that a server gets with and without the seam.
func TestSameRequestOnTheWire(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw := make(chan string)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var got bytes.Buffer
			req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &got)))
			if err == nil {
				_, err = io.Copy(io.Discard, req.Body)
			}
			if err != nil {
				fmt.Fprint(&got, err)
			}
			raw <- got.String()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.Close()
		}
	}()
	base := &http.Transport{DisableKeepAlives: true}
	passing := bus.New()
	core.Intercept(passing, core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) { return next(req) }))
	innermost := listen().bus
	core.Intercept(innermost, core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		return next(req)
	}), core.Innermost())
	ways := map[string]http.RoundTripper{
		"nobody listens":             core.Transport(base, core.WithBus(bus.New())),
		"somebody listens":           core.Transport(base, core.WithBus(listen().bus)),
		"somebody stands in the way": core.Transport(base, core.WithBus(passing)),
		"and reads":                  core.Transport(base, core.WithBus(innermost)),
	}
	for _, tt := range []struct {
		reason string
		method string
		body   func() io.Reader
		change func(*http.Request)
	}{
		{"a known length", "POST", func() io.Reader { return strings.NewReader(chatBody) }, nil},
		{"an unknown length is chunked", "POST", func() io.Reader { return io.MultiReader(strings.NewReader(chatBody)) }, nil},
		{"an unknown length that is announced", "POST", func() io.Reader { return io.MultiReader(strings.NewReader("abc")) }, func(r *http.Request) { r.ContentLength = 3 }},
		{"empty", "POST", func() io.Reader { return strings.NewReader("") }, nil},
		{"empty of unknown length", "POST", func() io.Reader { return io.MultiReader() }, nil},
		{"none", "POST", func() io.Reader { return nil }, nil},
		{"http.NoBody", "PUT", func() io.Reader { return http.NoBody }, nil},
		{"GET", "GET", func() io.Reader { return nil }, nil},
		{"GET with a body of unknown length", "GET", func() io.Reader { return io.MultiReader(strings.NewReader("x")) }, nil},
		{"headers in any case", "POST", func() io.Reader { return strings.NewReader("x") }, func(r *http.Request) {
			r.Header["x-lower"] = []string{"1", "2"}
			r.Header["User-Agent"] = []string{""}
			r.Header.Set("Content-Length", "99")
		}},
		{"another host", "POST", func() io.Reader { return strings.NewReader("x") }, func(r *http.Request) { r.Host = "other.test" }},
		{"trailers", "POST", func() io.Reader { return io.MultiReader(strings.NewReader("x")) }, func(r *http.Request) {
			r.Trailer = http.Header{"X-Sum": {"1"}}
		}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			sent := func(rt http.RoundTripper) string {
				req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+l.Addr().String()+"/v1/chat/completions?a=b%2F", tt.body())
				if err != nil {
					t.Fatal(err)
				}
				if tt.change != nil {
					tt.change(req)
				}
				body, length := req.Body, req.ContentLength
				var got string
				var wg sync.WaitGroup
				wg.Go(func() { got = <-raw })
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				wg.Wait()
				resp.Body.Close()
				if req.Body != body || req.ContentLength != length {
					t.Error("the caller's request was written to")
				}
				return got
			}
			want := sent(base)
			for name, rt := range ways {
				if got := sent(rt); got != want {
					t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
				}
			}
		})
	}
}

func TestRedirect(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/v1/chat/completions" {
			http.Redirect(w, req, "/moved/v1/chat/completions", http.StatusTemporaryRedirect)
			return
		}
		b, _ := io.ReadAll(req.Body)
		_, _ = w.Write(b)
	}))
	defer server.Close()
	h := listen()
	client := http.Client{Transport: core.Transport(server.Client().Transport, core.WithBus(h.bus))}
	resp, err := client.Do(chatTo(t.Context(), server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != chatBody {
		t.Errorf("the redirected request had the body %q", b)
	}
	if len(h.llm) != 2 || h.llm[0].CallID != h.llm[1].CallID || h.llm[0].Status != 307 || h.llm[1].Attempt != 1 {
		t.Errorf("the hops are no attempts of one call: %+v", h.llm)
	}
}

func TestGetBodyOfWhatIsSent(t *testing.T) {
	h := listen()
	core.Intercept(h.bus, core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		req.Body = io.NopCloser(strings.NewReader("changed"))
		return next(req)
	}))
	mustSend(t, bound(h, func(req *http.Request) (*http.Response, error) {
		for range 2 {
			r, err := req.GetBody()
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(r); string(b) != "changed" {
				t.Errorf("GetBody gives %q", b)
			}
		}
		if b, _ := io.ReadAll(req.Body); string(b) != "changed" || req.ContentLength != int64(len(b)) {
			t.Errorf("body %q, length %d", b, req.ContentLength)
		}
		return plainly(req)
	}), chat(t.Context()))
}

func TestRoute(t *testing.T) {
	inContext, ofClient := listen(), listen()
	ctx := route.WithBus(t.Context(), inContext.bus)
	mustSend(t, bound(ofClient, plainly), chat(ctx))
	if len(inContext.llm) != 1 || len(ofClient.llm) != 0 {
		t.Error("the bus of the client came before that of the context")
	}
	mustSend(t, bound(ofClient, plainly), chat(t.Context()))
	if len(ofClient.llm) != 1 {
		t.Error("the bus of the client was not used")
	}
}

func TestRefusedByRouter(t *testing.T) {
	refused := errors.New("two sessions are open")
	route.Install(func(c route.Call) (*bus.Bus, error) { return nil, fmt.Errorf("%s: %w", c.Name(), refused) })
	defer route.Install(nil)
	req, _ := http.NewRequest(http.MethodPost, "http://llm.test/x?key=secret", &pieces{err: io.EOF})
	body := req.Body.(*pieces)
	_, err := core.Transport(tripFunc(func(*http.Request) (*http.Response, error) { t.Error("sent"); return plainly(nil) })).RoundTrip(req)
	if !errors.Is(err, refused) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "POST http://llm.test/x") {
		t.Errorf("%v", err)
	}
	if !body.closed {
		t.Error("the body was not closed")
	}
	// A Stainless SDK asks the answer first.
	req, _ = http.NewRequest(http.MethodPost, "http://llm.test/x", nil)
	resp, err := core.Middleware()(req, plainly)
	if !errors.Is(err, refused) || resp == nil || resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%v %v", resp, err)
	}
	if _, err := core.Tool("t", func(context.Context, int) (int, error) { t.Error("ran"); return 0, nil })(t.Context(), 1); !errors.Is(err, refused) {
		t.Errorf("tool: %v", err)
	}
	d := core.Dispatch(func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	if _, err := d(t.Context(), "t", nil); !errors.Is(err, refused) {
		t.Errorf("dispatch: %v", err)
	}
}

// TestSpentBody sends a request again whose body was read before, as some SDKs do in a retry: the body comes from
// GetBody, as net/http takes it then.
func TestSpentBody(t *testing.T) {
	h := listen()
	req := chat(t.Context())
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(chatBody)), nil }
	for range 2 {
		resp, err := bound(h, func(req *http.Request) (*http.Response, error) {
			if b, err := io.ReadAll(req.Body); string(b) != chatBody || err != nil {
				t.Errorf("sent %q, %v", b, err)
			}
			return respond(200, "application/json", strings.NewReader("{}")), nil
		}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}
