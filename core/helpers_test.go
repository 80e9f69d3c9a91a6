package core_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

// hearing is what a subscriber to everything heard.
type hearing struct {
	bus    *bus.Bus
	closed chan struct{} // one token a closing event

	mu     sync.Mutex
	starts []*bus.CallStart
	llm    []*bus.LLMCall
	http   []*bus.HTTPCall
	tools  []*bus.ToolCall
	funcs  []*bus.FuncCall
}

// listen subscribes to a new bus.
func listen(opts ...bus.Option) *hearing {
	h := &hearing{bus: bus.New(opts...), closed: make(chan struct{}, 5000)}
	bus.Subscribe(h.bus, func(e any) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch e := e.(type) {
		case *bus.CallStart:
			h.starts = append(h.starts, e)
			return
		case *bus.LLMCall:
			h.llm = append(h.llm, e)
		case *bus.HTTPCall:
			h.http = append(h.http, e)
		case *bus.ToolCall:
			h.tools = append(h.tools, e)
		case *bus.FuncCall:
			h.funcs = append(h.funcs, e)
		default:
			panic(fmt.Sprintf("an event of type %T", e))
		}
		h.closed <- struct{}{}
	})
	return h
}

func (h *hearing) closings() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.llm) + len(h.http) + len(h.tools) + len(h.funcs)
}

// one returns the only LLM call that was heard.
func (h *hearing) one(t *testing.T) *bus.LLMCall {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.llm) != 1 || len(h.http) != 0 || len(h.starts) != 1 {
		t.Fatalf("heard %d starts, %d LLM calls and %d HTTP calls, want one call", len(h.starts), len(h.llm), len(h.http))
	}
	if h.starts[0].Seq != h.llm[0].Seq || h.starts[0].CallID != h.llm[0].CallID {
		t.Errorf("start %d %s, end %d %s", h.starts[0].Seq, h.starts[0].CallID, h.llm[0].Seq, h.llm[0].CallID)
	}
	return h.llm[0]
}

type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

const (
	chatBody   = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}`
	chatAnswer = `{"id":"1","model":"gpt-4o-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`
	delta      = `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}` + "\n\n"
	done       = "data: [DONE]\n\n"
	failure    = `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n"
)

// chatTo makes a chat request to a server.
func chatTo(ctx context.Context, server string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/v1/chat/completions", strings.NewReader(chatBody))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func chat(ctx context.Context) *http.Request { return chatTo(ctx, "http://llm.test") }

// respond makes an answer.
func respond(status int, contentType string, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body),
	}
}

func plainly(*http.Request) (*http.Response, error) {
	return respond(200, "application/json", strings.NewReader(chatAnswer)), nil
}

// mustSend sends req, reads the answer and returns it with its body's text.
func mustSend(t *testing.T, rt http.RoundTripper, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp, string(b)
}

// pieces gives one piece a read, then err.
type pieces struct {
	left   []string
	err    error
	closed bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, p.err
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
	}
	return n, nil
}

func (p *pieces) Close() error { p.closed = true; return nil }

func bound(h *hearing, next tripFunc) http.RoundTripper {
	return core.Transport(next, core.WithBus(h.bus))
}
