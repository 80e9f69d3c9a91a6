package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// view is what a client saw of one call: each read of the body, and how the call ended.
type view struct {
	status int
	header string // of the few that a client acts on
	reads  []string
	end    string // the error after the reads
	is     string // what errors.Is and Timeout say of it
}

// watch turns an error into what a program can tell of it.
func watch(err error) (text, is string) {
	if err == nil || err == io.EOF {
		return fmt.Sprint(err), ""
	}
	var list []string
	for _, s := range []struct {
		name string
		err  error
	}{
		{"canceled", context.Canceled}, {"deadline", context.DeadlineExceeded}, {"unexpected EOF", io.ErrUnexpectedEOF},
		{"refused", syscall.ECONNREFUSED}, {"reset", syscall.ECONNRESET},
	} {
		if errors.Is(err, s.err) {
			list = append(list, s.name)
		}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		list = append(list, "timeout")
	}
	return err.Error(), strings.Join(list, ",")
}

// scripted is a server that writes pieces one by one, each after the client has read the one before.
type scripted struct {
	*httptest.Server
	read chan struct{} // the client has read a piece
}

// serve starts a server that answers with these pieces. A piece "!cut" cuts the connection, "!hang" waits for the
// client to go away.
func serve(t *testing.T, status int, contentType string, pieces ...string) *scripted {
	s := &scripted{read: make(chan struct{}, 64)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // or the server does not notice when the client goes away
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		for i, p := range pieces {
			switch p {
			case "!cut":
				panic(http.ErrAbortHandler)
			case "!hang":
				<-r.Context().Done()
				return
			}
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
			if i < len(pieces)-1 && status < 400 { // an error status is read at once
				select {
				case <-s.read:
				case <-r.Context().Done():
					return
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

const chatRequest = `{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}`

// consume makes one call and reads its body with act, which says after each read whether to go on.
func (s *scripted) consume(ctx context.Context, client *http.Client, act func(ctx context.Context, n int, body io.Closer) (more bool)) (v view) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(chatRequest))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		v.end, v.is = watch(err)
		return v
	}
	defer resp.Body.Close()
	v.status, v.header = resp.StatusCode, resp.Header.Get("Content-Type")
	buf := make([]byte, 4096)
	for n := 1; ; n++ {
		k, err := resp.Body.Read(buf)
		if k > 0 {
			v.reads = append(v.reads, string(buf[:k]))
			select {
			case s.read <- struct{}{}:
			default:
			}
		}
		if err != nil {
			v.end, v.is = watch(err)
			return v
		}
		if !act(ctx, n, resp.Body) {
			return v
		}
	}
}

func chunk(text string) string {
	return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
}

// toEnd reads to the end.
func toEnd(context.Context, int, io.Closer) bool { return true }

// afterFirst stops after the first read.
func afterFirst(context.Context, int, io.Closer) bool { return false }

// TestClientsViewIsTheSame records each way in which a call can go, and holds what the client saw against what it sees
// in the replay, with the server gone: the reads, byte for byte, the status, and the error.
func TestClientsViewIsTheSame(t *testing.T) {
	const sse = "text/event-stream"
	for _, tc := range []struct {
		name        string
		status      int
		contentType string
		pieces      []string
		act         func(context.Context, int, io.Closer) bool
		ending      bus.Ending
		is          string
		reason      string
	}{
		{"plain", 200, "application/json", []string{`{"id":"chatcmpl-1","choices":[]}`}, toEnd, bus.EndingComplete, "", "a whole answer"},
		{"plain in pieces", 200, "application/json", []string{`{"id":"chatcm`, `pl-1","choices":[]}`, "\n"}, toEnd, bus.EndingComplete, "", "a plain body comes in one piece, with the same bytes"},
		{"stream", 200, sse, []string{chunk("he"), chunk("llo"), "data: [DONE]\n\n"}, toEnd, bus.EndingComplete, "", "read to the end of the bytes"},
		{"Fault11 event and data in different reads", 200, sse, []string{"data: {\"id\":1,", "\"choices\":[]}\n", "\ndata: [DONE]\n\n"}, toEnd, bus.EndingComplete, "", "cuts inside events are kept"},
		{"Fault01 comments", 200, sse, []string{": WAIT\n\n", chunk("a"), ": ping\n\n", "data: [DONE]\n\n"}, toEnd, bus.EndingComplete, "", "comment blocks pass unchanged, so that a client's fault stays visible"},
		{"Fault04 retry", 200, sse, []string{"retry: 3000\n\n", "event: x\nid: 7\ndata: {}\n\n", "data: [DONE]\n\n"}, toEnd, bus.EndingComplete, "", "event names, ids and retry blocks are kept"},
		{"Fault08 CRLF", 200, sse, []string{"data: {\"n\":1}\r\n\r\n", "data: {\"n\":2}\r", "\n\r\ndata: [DONE]\r\n\r\n"}, toEnd, bus.EndingComplete, "", "CRLF, also cut in the middle"},
		{"Fault09 lone CR", 200, sse, []string{"data: 1\r\r", "data: [DONE]\r\r"}, toEnd, bus.EndingComplete, "", "a replay does not repair line ends"},
		{"Fault12 unterminated", 200, sse, []string{chunk("a"), "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}"}, toEnd, bus.EndingUpstreamAborted, "", "the exact tail, with no newline"},
		{"Fault12 one newline", 200, sse, []string{chunk("a"), "data: [DONE]\n"}, toEnd, bus.EndingComplete, "", "the exact tail, with one newline"},
		{"Fault14 long line", 200, sse, []string{chunk(strings.Repeat("x", 70_000)), "data: [DONE]\n\n"}, toEnd, bus.EndingComplete, "", "no line is too long"},
		{"Fault17 error event", 200, sse, []string{chunk("a"), "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"}, toEnd, bus.EndingError, "", "an error inside a 200"},
		{"Fault19 no terminal marker", 200, sse, []string{chunk("a"), chunk("b")}, toEnd, bus.EndingUpstreamAborted, "", "the bytes end before the answer does"},
		{"Fault35 bytes that are no text", 200, "application/octet-stream", []string{"\x1f\x8b\x08\x00\xff", "\x00"}, toEnd, bus.EndingComplete, "", "no conversion on the way"},
		{"Fault41 special characters", 200, "text/plain", []string{"a\x00b\u0085c\r\n"}, toEnd, bus.EndingComplete, "", "control characters come back"},
		{"Fault78 cut connection", 200, sse, []string{chunk("a"), chunk("b"), "!cut"}, toEnd, bus.EndingUpstreamAborted, "unexpected EOF", "the same read error at the same place"},
		{"cut plain body", 200, "application/json", []string{`{"id":`, "!cut"}, toEnd, bus.EndingUpstreamAborted, "unexpected EOF", "a cut body comes back cut"},
		{"early close", 200, sse, []string{chunk("a"), chunk("b"), "data: [DONE]\n\n"}, afterFirst, bus.EndingClosedEarly, "", "the reader closes after the first event"},
		{"Fault79 closed after the terminal marker", 200, sse, []string{chunk("a") + "data: [DONE]\n\n", "!hang"}, afterFirst, bus.EndingClosedAfterTerminal, "", "complete without reading to EOF"},
		{"never read", 200, sse, []string{chunk("a"), "!hang"}, nil, bus.EndingClosedEarly, "", "the body is closed unread"},
		{"status 429", 429, "application/json", []string{`{"error":{"message":"slow down"}}`}, toEnd, bus.EndingComplete, "", "an error status with its body"},
		{"status 500 cut", 500, "application/json", []string{`{"error":`, "!cut"}, toEnd, bus.EndingUpstreamAborted, "unexpected EOF", "the body of an error status that broke off"},
		{"status 204", 204, "application/json", nil, toEnd, bus.EndingComplete, "", "no body at all"},
		{"empty", 200, sse, []string{""}, toEnd, bus.EndingUpstreamAborted, "", "an empty stream"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, tc.status, tc.contentType, tc.pieces...)
			client := core.Instrument(server.Client())
			dir := t.TempDir()
			var live, replayed view
			run := func(v *view) func(*testing.T) {
				return func(t *testing.T) {
					s := cassette.Use(t, "call", cassette.Dir(dir))
					act := tc.act
					if act == nil {
						act = afterFirst
					}
					if tc.act == nil {
						*v = server.drop(s.Context(t.Context()), client)
					} else {
						*v = server.consume(s.Context(t.Context()), client, act)
					}
				}
			}
			if !t.Run("record", run(&live)) {
				return
			}
			server.Close()
			t.Run("replay", run(&replayed))
			if !strings.HasPrefix(tc.contentType, sse) { // only streams keep their cuts
				live.reads, replayed.reads = joined(live.reads), joined(replayed.reads)
			}
			same(t, live, replayed, tc.reason)
			if live.is != tc.is {
				t.Errorf("live, the error said %q, want %q: %s", live.is, tc.is, live.end)
			}
			if got := onlyInteraction(t, dir).Ending; got != tc.ending {
				t.Errorf("ending %q, want %q: %s", got, tc.ending, tc.reason)
			}
		})
	}
}

func joined(reads []string) []string { return []string{strings.Join(reads, "")} }

// drop makes a call and closes its body unread.
func (s *scripted) drop(ctx context.Context, client *http.Client) (v view) {
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(chatRequest))
	resp, err := client.Do(req)
	if err != nil {
		v.end, v.is = watch(err)
		return v
	}
	v.status = resp.StatusCode
	resp.Body.Close()
	return v
}

func same(t *testing.T, live, replayed view, reason string) {
	t.Helper()
	if live.status != replayed.status || live.header != replayed.header || !slices.Equal(live.reads, replayed.reads) || live.end != replayed.end || live.is != replayed.is {
		t.Errorf("%s:\nlive     %+q\nreplayed %+q", reason, live, replayed)
	}
}

// onlyInteraction loads the cassette "call" and returns its one interaction.
func onlyInteraction(t *testing.T, dir string) *cassette.Interaction {
	t.Helper()
	f, err := cassette.Load(filepath.Join(dir, "call.json"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != 1 {
		b, _ := os.ReadFile(filepath.Join(dir, "call.json"))
		t.Fatalf("%d interactions, want 1:\n%s", f.Len(), b)
	}
	return f.Interaction(0)
}

// TestCallsThatGetNoAnswer records failures of transport and context, and replays them at once.
func TestCallsThatGetNoAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server func(t *testing.T) *scripted
		run    func(ctx context.Context, s *scripted, c *http.Client) view
		ending bus.Ending
		is     string
		reason string
	}{
		{
			"refused connection",
			func(t *testing.T) *scripted { s := serve(t, 200, "text/plain", "x"); s.Close(); return s },
			func(ctx context.Context, s *scripted, c *http.Client) view { return s.consume(ctx, c, toEnd) },
			bus.EndingError, "refused", "nobody listens",
		},
		{
			"connection dropped before the head",
			func(t *testing.T) *scripted {
				s := &scripted{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					conn, _, _ := w.(http.Hijacker).Hijack()
					conn.Close()
				}))}
				t.Cleanup(s.Close)
				return s
			},
			func(ctx context.Context, s *scripted, c *http.Client) view { return s.consume(ctx, c, toEnd) },
			bus.EndingError, "", "EOF instead of an answer",
		},
		{
			"Fault114 time-out of the context before the head",
			func(t *testing.T) *scripted { return hanging(t) },
			func(ctx context.Context, s *scripted, c *http.Client) view {
				ctx, cancel := context.WithTimeout(ctx, 1)
				defer cancel()
				return s.consume(ctx, c, toEnd)
			},
			bus.EndingError, "deadline,timeout", "the call is recorded as it ended for the client",
		},
		{
			"time-out of the client",
			func(t *testing.T) *scripted { return hanging(t) },
			func(ctx context.Context, s *scripted, c *http.Client) view {
				hasty := *c
				hasty.Timeout = 1
				v := s.consume(ctx, &hasty, toEnd)
				v.end = "" // http.Client has words of its own for it
				return v
			},
			bus.EndingError, "deadline,timeout", "a Timeout of http.Client comes to the transport as a cancellation",
		},
		{
			"cancelled in the middle of a stream",
			func(t *testing.T) *scripted { return serve(t, 200, "text/event-stream", chunk("a"), "!hang") },
			func(ctx context.Context, s *scripted, c *http.Client) view {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				return s.consume(ctx, c, func(context.Context, int, io.Closer) bool { cancel(); return true })
			},
			bus.EndingCancelled, "canceled", "the bytes before, then the cancellation",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := tc.server(t)
			client := core.Instrument(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
			dir := t.TempDir()
			var live, replayed view
			if !t.Run("record", func(t *testing.T) {
				s := cassette.Use(t, "call", cassette.Dir(dir))
				live = tc.run(s.Context(t.Context()), server, client)
			}) {
				return
			}
			server.Close()
			t.Run("replay", func(t *testing.T) {
				s := cassette.Use(t, "call", cassette.Dir(dir))
				replayed = tc.run(s.Context(t.Context()), server, client)
			})
			same(t, live, replayed, tc.reason)
			if live.is != tc.is {
				t.Errorf("live, the error said %q, want %q: %s", live.is, tc.is, live.end)
			}
			if got := onlyInteraction(t, dir).Ending; got != tc.ending {
				t.Errorf("ending %q, want %q: %s", got, tc.ending, tc.reason)
			}
		})
	}
}

// hanging is a server that never answers.
func hanging(t *testing.T) *scripted {
	s := &scripted{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))}
	t.Cleanup(s.Close)
	return s
}

// TestOpenStreamEndsWithItsSession leaves a body half read when the session closes: what came so far is recorded, and
// its reader goes on unharmed.
func TestOpenStreamEndsWithItsSession(t *testing.T) {
	server := serve(t, 200, "text/event-stream", chunk("a"), chunk("b"), "data: [DONE]\n\n")
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	var open *http.Response
	t.Run("record", func(t *testing.T) {
		s := cassette.Use(t, "call", cassette.Dir(dir))
		req, _ := http.NewRequestWithContext(s.Context(context.Background()), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(chatRequest))
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		open = resp
		if n, err := resp.Body.Read(make([]byte, 4096)); n != len(chunk("a")) || err != nil {
			t.Fatalf("%d bytes, %v; want the first event before the server has sent the second", n, err)
		}
	})
	server.read <- struct{}{}
	server.read <- struct{}{}
	rest, err := io.ReadAll(open.Body)
	if string(rest) != chunk("b")+"data: [DONE]\n\n" || err != nil {
		t.Errorf("after the session, the reader gets %q, %v", rest, err)
	}
	open.Body.Close()
	in := onlyInteraction(t, dir)
	if string(in.HTTP.Response.Bytes) != chunk("a") || in.Ending != bus.EndingClosedEarly {
		t.Errorf("recorded %q, %s", in.HTTP.Response.Bytes, in.Ending)
	}
}

// pacedBody is a body whose pieces come 15 seconds after one another, by the clock of a synctest bubble.
type pacedBody struct{ pieces []string }

func (b *pacedBody) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	time.Sleep(15 * time.Second)
	n := copy(p, b.pieces[0])
	b.pieces = b.pieces[1:]
	return n, nil
}

func (b *pacedBody) Close() error { return nil }

// roundTripper is a function that is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestFault02PingKeepsItsOffset records a stream with a keep-alive comment 30 seconds in: the file keeps the comment and
// the times of the reads, and the replay (Fault99) waits for none of them.
func TestFault02PingKeepsItsOffset(t *testing.T) {
	pieces := []string{chunk("a"), ": ping\n\n", "data: [DONE]\n\n"}
	dir := t.TempDir()
	pass := func(t *testing.T, mode cassette.Mode, transport roundTripper) (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir), mode)
			client := core.Instrument(&http.Client{Transport: transport})
			start := time.Now()
			resp, err := client.Post("http://127.0.0.1/v1/chat/completions", "application/json", strings.NewReader(chatRequest))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != strings.Join(pieces, "") || err != nil {
				t.Errorf("%s: body %q, %v", s.Mode(), body, err)
			}
			took = time.Since(start)
		})
		return took
	}
	live := pass(t, cassette.Record, func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &pacedBody{slices.Clone(pieces)}, Request: req, ContentLength: -1}, nil
	})
	if live != 45*time.Second {
		t.Errorf("recording took %v, want 45s: the stream passes as it comes", live)
	}
	var at []time.Duration
	for _, c := range onlyInteraction(t, dir).HTTP.Chunks {
		at = append(at, c.At)
	}
	if want := []time.Duration{15 * time.Second, 30 * time.Second, 45 * time.Second}; !slices.Equal(at, want) {
		t.Errorf("times of the reads %v, want %v", at, want)
	}
	replayed := pass(t, cassette.Replay, func(*http.Request) (*http.Response, error) {
		t.Error("a replay went out")
		return nil, io.EOF
	})
	if replayed != 0 {
		t.Errorf("the replay waited %v", replayed)
	}
}
