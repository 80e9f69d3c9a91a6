package cassette_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

// TestFault30And31And32EncodedAnswers records a gzip answer through a client that decodes it itself, and replays it to
// one that leaves that to net/http: what stands in the file is decoded, and headers and body of the replay agree.
func TestFault30And31And32EncodedAnswers(t *testing.T) {
	const text = `{"id":"chatcmpl-1","choices":[],"padding":"0123456789012345678901234567890123456789"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(gzipped(text))
	}))
	defer server.Close()
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, explicit := range []bool{true, false, true} {
		t.Run("explicit "+strconv.FormatBool(explicit), func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			req, _ := http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(chatRequest))
			if explicit {
				req.Header.Set("Accept-Encoding", "gzip")
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if s.Mode() == cassette.Replay && !resp.Uncompressed {
				t.Error("the replay does not say that net/http would have decoded the body")
			}
			if n := resp.ContentLength; n >= 0 && n != int64(len(body)) {
				t.Errorf("ContentLength %d for %d bytes", n, len(body))
			}
			if h := resp.Header.Get("Content-Length"); h != "" && h != strconv.Itoa(len(body)) {
				t.Errorf("Content-Length %s for %d bytes", h, len(body))
			}
			if resp.Header.Get("Content-Encoding") == "gzip" {
				r, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				body, _ = io.ReadAll(r)
			}
			if string(body) != text {
				t.Errorf("%s: %q", s.Mode(), body)
			}
		})
	}
	in := onlyInteraction(t, dir).HTTP.Response
	if string(in.Bytes) != text || in.Encoding != "gzip" || in.WireLength != len(gzipped(text)) {
		t.Errorf("the file holds %q, %q, %d", in.Bytes, in.Encoding, in.WireLength)
	}
}

// TestUnknownEncodingStaysAsItIs keeps a body in an encoding that is not known here byte for byte, with its header.
func TestUnknownEncodingStaysAsItIs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "x-secret-sauce")
		io.WriteString(w, "\x00\x01\x02")
	}))
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for range 2 {
		t.Run("pass", func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			resp, err := client.Do(must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodGet, server.URL, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if string(body) != "\x00\x01\x02" || resp.Header.Get("Content-Encoding") != "x-secret-sauce" {
				t.Errorf("%s: %q, %q", s.Mode(), body, resp.Header)
			}
		})
		server.Close()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestFault64And44And45HeadersThatAreKept records an exchange with every kind of header: those that carry credentials,
// names and versions are not in the file, on either side, and take no part in matching.
func TestFault64And44And45HeadersThatAreKept(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session=secret-cookie")
		w.Header().Set("Openai-Organization", "org-secret")
		w.Header().Set("X-Request-Id", "req_123")
		io.WriteString(w, "ok")
	}))
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, agent := range []string{"OpenAI/Go 3.98.0", "OpenAI/Go 3.99.0"} {
		t.Run(agent, func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, server.URL, strings.NewReader("{}")))
			for name, value := range map[string]string{
				"Authorization": "Bearer secret-bearer", "Api-Key": "secret-api-key", "Cookie": "secret-cookie",
				"X-Stainless-Lang": "go", "Traceparent": "00-abc", "User-Agent": agent,
			} {
				req.Header.Set(name, value)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.Header.Get("X-Request-Id") != "req_123" {
				t.Errorf("%s: no request id in %v", s.Mode(), resp.Header)
			}
		})
		server.Close()
	}
	file, err := os.ReadFile(filepath.Join(dir, "call.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"secret", "OpenAI/Go", "Stainless", "Traceparent", "Cookie", "Organization"} {
		if bytes.Contains(file, []byte(gone)) {
			t.Errorf("%q is in the file:\n%s", gone, file)
		}
	}
}

// TestFault42RewritingHidesAgain extends a cassette into which somebody wrote a secret by hand and one that was recorded
// before: what is written has passed the redactor.
func TestFault42RewritingHidesAgain(t *testing.T) {
	server := answers(t, 200, 200)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	ask := func(name string, body string) {
		t.Run(name, func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir), cassette.Extend)
			req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(body)))
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		})
	}
	ask("first", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	path := filepath.Join(dir, "call.json")
	file := must(os.ReadFile(path))
	const canary = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	if err := os.WriteFile(path, bytes.ReplaceAll(file, []byte("hello"), []byte("hello "+canary)), 0o666); err != nil {
		t.Fatal(err)
	}
	ask("second", `{"model":"m","messages":[{"role":"user","content":"and bob@corp.io"}]}`)
	file = must(os.ReadFile(path))
	for _, secret := range []string{canary, "bob@corp.io"} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("%q is in the file:\n%s", secret, file)
		}
	}
}

// TestFault34EncodedStream records what a server gzips because the client asked for it: the events stand in the file,
// tokens are counted, and the client gets the bytes that it asked for.
func TestFault34EncodedStream(t *testing.T) {
	stream := chunk("hello") + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"
	n := &network{answer: func(*http.Request, string) (*http.Response, error) {
		resp := response(200, "text/event-stream", string(gzipped(stream)))
		resp.Header.Set("Content-Encoding", "gzip")
		return resp, nil
	}}
	dir := folder(t)
	f := newT(t, "TestRecords")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	if got := ask(t, s.Context(t.Context()), n.client(), "x"); got != string(gzipped(stream)) {
		t.Errorf("the live client got %q", got)
	}
	f.end().wantPass()
	wantText(t, read(t, dir, "a.json"), `"content": "hello"`, `"encoding": "gzip"`, `"tokens": {"input": 7, "output": 2}`)
	f = newT(t, "TestReplays")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
	if got := ask(t, s.Context(t.Context()), n.client(), "x"); got != stream {
		t.Errorf("the replay gives %q", got)
	}
	f.end().wantPass()
}
