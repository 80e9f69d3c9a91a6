package cassette_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/contentcoding"
)

// seen is what a client saw of one answer.
type seen struct {
	method       string
	status       int
	proto        string
	header       http.Header // of those that a cassette keeps
	length       int64
	uncompressed bool
	body         string
	content      string      // the body, with what Content-Encoding names undone
	trailer      http.Header // after the body
	end, is      string      // as of watch
}

// look sends a request and reads the answer to its end.
func look(t *testing.T, client *http.Client, req *http.Request) (v seen) {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name, values := range resp.Trailer {
		if len(values) > 0 && resp.StatusCode < 400 { // the body of an error is read at once
			t.Errorf("the trailer %s has a value before the body was read", name)
		}
	}
	body, err := io.ReadAll(resp.Body)
	content, _, contentErr := contentcoding.Decode(resp.Header, body)
	if contentErr != nil {
		content = body
	}
	v = seen{
		method: req.Method, status: resp.StatusCode, proto: resp.Proto, header: http.Header{}, length: resp.ContentLength, uncompressed: resp.Uncompressed,
		body: string(body), content: string(content), trailer: resp.Trailer,
	}
	v.end, v.is = watch(err)
	for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Language", "Content-Encoding", "Content-Length", "X-Request-Id"} {
		if values := resp.Header.Values(name); len(values) > 0 {
			v.header[name] = values
		}
	}
	return v
}

// bodiless reports whether v's headers tell of another body than its own, which is none.
func (v seen) bodiless() bool {
	return v.method == http.MethodHead || v.status == http.StatusNoContent || v.status == http.StatusNotModified
}

// agree fails the test unless the length that v tells is that of its body, or none.
func (v seen) agree(t *testing.T) {
	t.Helper()
	if v.bodiless() {
		return
	}
	if v.length >= 0 && v.length != int64(len(v.body)) {
		t.Errorf("ContentLength %d for %d bytes", v.length, len(v.body))
	}
	if h := v.header.Get("Content-Length"); h != "" && h != strconv.Itoa(len(v.body)) {
		t.Errorf("Content-Length %s for %d bytes", h, len(v.body))
	}
	if v.uncompressed && (v.length != -1 || v.header.Get("Content-Length") != "" || v.header.Get("Content-Encoding") != "") {
		t.Errorf("decoded, with ContentLength %d and header %v", v.length, v.header)
	}
}

// brief shows in an error text what was seen.
func (v seen) brief() string {
	return fmt.Sprintf("%d %s %q, ContentLength %d, uncompressed %t, trailer %q, %d bytes %.100q, which are %d bytes %.100q, then %s (%s)",
		v.status, v.proto, v.header, v.length, v.uncompressed, v.trailer, len(v.body), v.body, len(v.content), v.content, v.end, v.is)
}

// bodyOf returns a handler that answers with body under the headers given as names and values.
func bodyOf(body string, header ...string) http.HandlerFunc {
	return piecesOf([]string{body}, header...)
}

// piecesOf returns a handler that flushes between the pieces, so that their length is not told beforehand.
func piecesOf(pieces []string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		if len(pieces) == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(pieces[0])))
		}
		for i, p := range pieces {
			if i > 0 {
				http.NewResponseController(w).Flush()
			}
			io.WriteString(w, p)
		}
	}
}

// statusOf returns a handler that answers with a status, headers, and no body.
func statusOf(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

// raw returns a handler that writes these very bytes to the connection and closes it.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, answer)
		conn.Close()
	}
}

// encoder encodes what is written to it.
type encoder interface {
	io.WriteCloser
	Flush() error
}

// encoders make the encoders of the encodings that are known here.
var encoders = map[string]func(io.Writer) encoder{
	"gzip":    func(w io.Writer) encoder { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) encoder { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) encoder { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) encoder { return must(zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))) },
	"raw deflate": func(w io.Writer) encoder {
		return must(flate.NewWriter(w, flate.DefaultCompression))
	},
}

// encodedPieces returns the pieces encoded, the encoder flushed after each.
func encodedPieces(encoding string, pieces ...string) (list []string) {
	var b bytes.Buffer
	w := encoders[encoding](&b)
	for _, p := range pieces {
		io.WriteString(w, p)
		w.Flush()
		list = append(list, b.String())
		b.Reset()
	}
	w.Close()
	return append(list, b.String())
}

func encoded(encoding, text string) string { return strings.Join(encodedPieces(encoding, text), "") }

// every is a text of every byte value.
func every() string {
	var b []byte
	for i := range 256 {
		b = append(b, byte(i))
	}
	return string(b)
}

// upload is a request with a file in a form, under a boundary of its own each time.
func upload(ctx context.Context, url string) *http.Request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.WriteField("purpose", "batch")
	file := must(w.CreateFormFile("file", "audio.bin"))
	io.WriteString(file, every())
	w.Close()
	req := must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/files", &b))
	req.Header.Set("Content-Type", w.FormDataContentType())
	return req
}

// posting returns a maker of requests with that body, for a path of no known format.
func posting(contentType, body string) func(context.Context, string) *http.Request {
	return func(ctx context.Context, url string) *http.Request {
		req := must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/things", strings.NewReader(body)))
		req.Header.Set("Content-Type", contentType)
		return req
	}
}

// asking returns a maker of chat requests that name the encodings which the client undoes itself; none leaves that to
// net/http.
func asking(encodings string) func(context.Context, string) *http.Request {
	return func(ctx context.Context, url string) *http.Request {
		req := must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(chatRequest)))
		req.Header.Set("Content-Type", "application/json")
		if encodings != "" {
			req.Header.Set("Accept-Encoding", encodings)
		}
		return req
	}
}

func head(ctx context.Context, url string) *http.Request {
	return must(http.NewRequestWithContext(ctx, http.MethodHead, url, nil))
}

// bodyCase is one kind of body, and what is to be made of it.
type bodyCase struct {
	name     string
	request  func(ctx context.Context, url string) *http.Request
	answer   http.HandlerFunc
	encoding string // that is undone in the file
	form     string // of the answer in the file; empty when there is none
	says     string // what the model says, as the event of the call tells; empty for what is no model's answer
	reason   string
}

func bodyCases() []bodyCase {
	const sse = "text/event-stream"
	answer := completion("the answer")
	stream := []string{chunk("the "), chunk("answer"), "data: [DONE]\n\n"}
	cases := []bodyCase{
		{"plain", asking(""), bodyOf(answer, "Content-Type", "application/json"), "", "json", "the answer", "a body with a length"},
		{"chunked", asking(""), piecesOf([]string{answer, "\n"}, "Content-Type", "application/json"), "", "json", "the answer", "a body without a length"},
		{"HTTP/1.0", asking(""), raw("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + answer), "", "json", "the answer", "a body that ends with the connection"},
		{"identity", asking("identity"), bodyOf(answer, "Content-Type", "application/json", "Content-Encoding", "identity"), "", "json", "the answer", "the name of no encoding is no encoding, and stays"},
		{"gzip of net/http", asking(""), bodyOf(encoded("gzip", answer), "Content-Type", "application/json", "Content-Encoding", "gzip"), "gzip", "json", "the answer", "net/http undoes what it asked for"},
		{"gzip stream of net/http", asking(""), piecesOf(encodedPieces("gzip", stream...), "Content-Type", sse, "Content-Encoding", "gzip"), "gzip", "stream", "the answer", "net/http undoes what it asked for"},
		{"raw deflate", asking("deflate"), bodyOf(encoded("raw deflate", answer), "Content-Type", "application/json", "Content-Encoding", "deflate"), "deflate", "json", "the answer", "deflate as many servers send it"},
		{"stacked", asking("br, gzip"), bodyOf(encoded("gzip", encoded("br", answer)), "Content-Type", "application/json", "Content-Encoding", "br, gzip"), "br, gzip", "json", "the answer", "the last encoding is undone first"},
		{"unknown", asking("dcb"), bodyOf("\xff\x44\x43\x42\x00\x01", "Content-Type", "application/json", "Content-Encoding", "dcb"), "", "base64", "", "an encoding that is not known keeps its bytes and its header"},
		{"unknown stream", asking("dcz"), piecesOf([]string{"\xff\x44", "\x43\x42"}, "Content-Type", sse, "Content-Encoding", "dcz"), "", "base64", "", "a stream of that kind as well"},
		{"corrupt gzip", asking("gzip"), bodyOf("no gzip", "Content-Encoding", "gzip"), "", "text", "", "a client that decodes it fails in the replay as it did live"},
		{"corrupt gzip of net/http", asking(""), bodyOf("no gzip", "Content-Encoding", "gzip"), "gzip", "text", "", "net/http fails in the replay as it did live"},
		{"cut gzip", asking("gzip"), bodyOf(encodedPieces("gzip", answer)[0], "Content-Encoding", "gzip"), "", "base64", "", "what is cut stays encoded"},
		{"cut gzip of net/http", asking(""), bodyOf(encodedPieces("gzip", answer)[0], "Content-Type", "application/json", "Content-Encoding", "gzip"), "gzip", "json", "the answer", "what came before the cut, and the error after it"},
		{"gzip of nothing", asking("gzip"), bodyOf(encoded("gzip", ""), "Content-Type", "text/plain", "Content-Encoding", "gzip"), "gzip", "text", "", "a body that decodes to nothing"},
		{"no body that claims gzip", asking("gzip"), bodyOf("", "Content-Type", "text/plain", "Content-Encoding", "gzip"), "", "", "", "nothing is no gzip, and stays nothing"},
		{"multipart request", upload, bodyOf(`{"id":"file-1"}`, "Content-Type", "application/json"), "", "json", "", "the boundary is another one in each run"},
		{"multipart answer", posting("application/json", "{}"), bodyOf("--b1\r\nContent-Type: application/json\r\n\r\n{\"n\":1}\r\n--b1\r\nContent-Type: application/octet-stream\r\n\r\n\x00\xff\r\n--b1--\r\n", "Content-Type", "multipart/mixed; boundary=b1"), "", "base64", "", "the boundary of an answer is part of it"},
		{"Fault35 every byte value", posting("application/json", "{}"), bodyOf(every(), "Content-Type", "application/octet-stream"), "", "base64", "", "no conversion on the way"},
		{"Fault35 text of every byte value", posting("application/json", "{}"), bodyOf(every(), "Content-Type", "text/plain; charset=utf-8"), "", "base64", "", "whatever its type claims"},
		{"Fault37 a file in gzip", posting("application/json", "{}"), bodyOf(encoded("gzip", "a file"), "Content-Type", "application/x-gzip"), "", "base64", "", "a type is no encoding"},
		{"Fault37 hex digits", posting("application/json", "{}"), bodyOf("1f8b0800", "Content-Type", "application/x-gzip"), "", "text", "", "text that looks like bytes is text"},
		{"Fault39 a request that is no text", posting("application/octet-stream", "\x8c"), bodyOf("ok", "Content-Type", "text/plain"), "", "text", "", "a request is bytes too"},
		{"Fault41 special characters", posting("application/json", "{}"), bodyOf("a\x00b\u0085c\u2028\r\n", "Content-Type", "text/plain"), "", "text", "", "control characters come back"},
		{"UTF-16", posting("application/json", "{}"), bodyOf("\xff\xfeh\x00i\x00", "Content-Type", "text/plain; charset=utf-16"), "", "base64", "", "text in another encoding of characters"},
		{"UTF-16 without a mark", posting("application/json", "{}"), bodyOf("h\x00i\x00", "Content-Type", "text/plain; charset=utf-16le"), "", "text", "", "which can be UTF-8 as well"},
		{"empty", posting("application/json", "{}"), bodyOf("", "Content-Type", "text/plain"), "", "", "", "an empty body is an empty body"},
		{"empty and chunked", posting("application/json", "{}"), piecesOf([]string{"", ""}, "Content-Type", "text/plain"), "", "", "", "without a length as well"},
		{"204", posting("application/json", "{}"), statusOf(204, "X-Request-Id", "req_1"), "", "", "", "a status without a body"},
		{"304", get, statusOf(304, "X-Request-Id", "req_1"), "", "", "", "a status without a body"},
		{"304 with a length", get, raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 40\r\nContent-Encoding: br\r\n\r\n"), "", "", "", "its headers tell of the body that the client has"},
		{"HEAD", head, statusOf(200, "Content-Type", "text/plain", "Content-Length", "1234"), "", "", "", "its headers tell of the body that a GET would have"},
		{"HEAD, nothing there", head, statusOf(200, "Content-Type", "text/plain", "Content-Length", "0"), "", "", "", "also of an empty one"},
		{"HEAD without a length", head, raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"), "", "", "", "or of one whose length is not known"},
		{"HEAD of an encoded body", head, statusOf(200, "Content-Type", "text/plain", "Content-Length", "40", "Content-Encoding", "gzip"), "", "", "", "or of an encoded one"},
		{"HEAD with an error status", head, statusOf(404, "Content-Length", "9"), "", "", "", "whatever the status"},
		{"declared trailer", asking(""), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Request-Id")
			piecesOf(stream, "Content-Type", sse)(w, r)
			w.Header().Set("X-Request-Id", "req_1")
		}, "", "stream", "the answer", "a trailer has its value after the body"},
		{"undeclared trailer", asking(""), func(w http.ResponseWriter, r *http.Request) {
			piecesOf([]string{answer, "\n"}, "Content-Type", "application/json")(w, r)
			w.Header().Set(http.TrailerPrefix+"X-Request-Id", "req_1")
		}, "", "json", "the answer", "also one that comes as a surprise"},
		{"trailer after nothing", posting("application/json", "{}"), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Request-Id")
			http.NewResponseController(w).Flush()
			w.Header().Set("X-Request-Id", "req_1")
		}, "", "", "", "or after an empty body"},
		{"trailer of an error", asking(""), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Request-Id")
			w.WriteHeader(500)
			io.WriteString(w, "no")
			w.Header().Set("X-Request-Id", "req_1")
		}, "", "text", "", "or after the body of an error, which is read at once"},
	}
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd"} {
		cases = append(cases,
			bodyCase{encoding, asking(encoding), bodyOf(encoded(encoding, answer), "Content-Type", "application/json", "Content-Encoding", encoding), encoding, "json", "the answer", "a client that decodes it itself"},
			bodyCase{encoding + " stream", asking(encoding), piecesOf(encodedPieces(encoding, stream...), "Content-Type", sse, "Content-Encoding", encoding), encoding, "stream", "the answer", "a stream that is flushed after each event"},
			bodyCase{encoding + " of bytes", asking(encoding), bodyOf(encoded(encoding, every()), "Content-Type", "application/octet-stream", "Content-Encoding", encoding), encoding, "base64", "", "what is encoded may be no text"},
		)
	}
	return cases
}

// TestFault30And31And32And35And37And39And41Bodies holds what a client sees of each kind of body, live and not
// instrumented, against what it sees when that is recorded, and when it is replayed with the server gone. Where a
// content encoding was undone in the file, headers and bytes of the replay still agree.
func TestFault30And31And32And35And37And39And41Bodies(t *testing.T) {
	for _, tc := range bodyCases() {
		t.Run(tc.name, func(t *testing.T) { tc.run(t) })
	}
}

func (tc *bodyCase) run(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		tc.answer(w, r)
	}))
	defer server.Close()
	dir := t.TempDir()
	live := look(t, server.Client(), tc.request(t.Context(), server.URL))
	client := core.Instrument(server.Client())
	pass := func(name string) (v seen) {
		t.Run(name, func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			bus.Subscribe(s.Bus(), func(c *bus.LLMCall) {
				if tc.says != "" && (c.Text() != tc.says || c.DecodeErr() != nil && live.end == "<nil>") {
					t.Errorf("the event of the call says %q, %v", c.Text(), c.DecodeErr())
				}
			})
			v = look(t, client, tc.request(s.Context(t.Context()), server.URL))
		})
		return v
	}
	recorded := pass("record")
	server.Close()
	replayed := pass("replay")

	live.agree(t)
	replayed.agree(t)
	if !reflect.DeepEqual(recorded, live) {
		t.Errorf("recording changes what a client sees: %s:\nlive     %s\nrecorded %s", tc.reason, live.brief(), recorded.brief())
	}
	if want := tc.replayOf(live, replayed); !reflect.DeepEqual(replayed, want) {
		t.Errorf("%s:\nreplayed %s\nwant     %s", tc.reason, replayed.brief(), want.brief())
	}
	in := onlyInteraction(t, dir).HTTP
	if in.Response.Encoding != tc.encoding {
		t.Errorf("the file names the encoding %q, want %q", in.Response.Encoding, tc.encoding)
	}
	_, response, _ := strings.Cut(read(t, dir, "call.json"), `"response": {`)
	if tc.form != "" && !strings.Contains(response, `"`+tc.form+`": `) || tc.form == "" && strings.Contains(response, `"body": {`+"\n") {
		t.Errorf("the file does not hold the answer as %q:\n%s", tc.form, response)
	}
}

// replayOf returns what a replay of live is to look like. A replay may know a length that was not known live; that it
// is the right one is for agree to say.
func (tc *bodyCase) replayOf(live, replayed seen) seen {
	want := live
	want.header = live.header.Clone()
	if tc.encoding != "" {
		want.uncompressed, want.body, want.length = true, live.content, -1
		want.header.Del("Content-Encoding")
		want.header.Del("Content-Length")
		return want
	}
	if live.length == -1 && !live.bodiless() {
		want.length = replayed.length
		if length := replayed.header.Values("Content-Length"); len(length) > 0 {
			want.header["Content-Length"] = length
		}
	}
	return want
}

// TestLargeBodies records and replays 30 MB each way; less under the race detector, for which bytes are slow.
func TestLargeBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second")
	}
	size := 30 << 20
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		size = 1 << 20
	}
	text := `{"input":"` + strings.Repeat("some words of a long text, ", size/27) + `"}`
	for _, tc := range []bodyCase{
		{"answer of bytes", posting("application/json", "{}"), bodyOf(strings.Repeat(every(), size/256), "Content-Type", "application/octet-stream"), "", "blob", "", "no limit below the memory's"},
		{"request in JSON", posting("application/json", text), bodyOf("ok", "Content-Type", "text/plain"), "", "text", "", "no limit below the memory's"},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t) })
	}
}

// TestFault32ClientDecodesItself replays to a client that asks for one encoding and undoes what the header names, and
// nothing else: it is never told of an encoding that the bytes do not have.
func TestFault32ClientDecodesItself(t *testing.T) {
	decoders := map[string]func(io.Reader) io.Reader{
		"br":   func(r io.Reader) io.Reader { return brotli.NewReader(r) },
		"zstd": func(r io.Reader) io.Reader { return must(zstd.NewReader(r, zstd.WithDecoderConcurrency(1))) },
		"":     func(r io.Reader) io.Reader { return r },
	}
	for _, encoding := range []string{"br", "zstd"} {
		t.Run(encoding, func(t *testing.T) {
			server := httptest.NewServer(bodyOf(encoded(encoding, completion("hello")), "Content-Type", "application/json", "Content-Encoding", encoding))
			defer server.Close()
			client := core.Instrument(server.Client())
			dir := t.TempDir()
			for _, want := range []string{encoding, ""} {
				t.Run("named "+strconv.Quote(want), func(t *testing.T) {
					s := cassette.Use(t, "call", cassette.Dir(dir))
					resp, err := client.Do(asking(encoding)(s.Context(t.Context()), server.URL))
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					named := resp.Header.Get("Content-Encoding")
					body, err := io.ReadAll(decoders[named](resp.Body))
					if named != want || string(body) != completion("hello") || err != nil {
						t.Errorf("%s: encoding %q, body %q, %v", s.Mode(), named, body, err)
					}
				})
				server.Close()
			}
		})
	}
}

// TestFault31HiddenValueChangesTheLength replays an answer that is not as long as it was live, since a value in it was
// hidden: its length is told as it is now.
func TestFault31HiddenValueChangesTheLength(t *testing.T) {
	live := completion("your key is " + canaries[1])
	server := httptest.NewServer(bodyOf(live, "Content-Type", "application/json"))
	defer server.Close()
	client := core.Instrument(server.Client())
	dir := folder(t)
	pass := func(name string) (v seen) {
		t.Run(name, func(t *testing.T) {
			s := cassette.Use(t, "call", cassette.Dir(dir))
			v = look(t, client, asking("")(s.Context(t.Context()), server.URL))
			v.agree(t)
		})
		server.Close()
		return v
	}
	recorded, replayed := pass("record"), pass("replay")
	if recorded.body != live || len(replayed.body) == len(live) || replayed.length != int64(len(replayed.body)) {
		t.Errorf("recorded %s\nreplayed %s", recorded.brief(), replayed.brief())
	}
}
