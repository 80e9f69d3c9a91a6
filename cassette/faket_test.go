package cassette_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// canaries must stand in no file, log or error text. The first is the key that chat sends.
var canaries = []string{
	"sk-live-0123456789abcdef0123456789abcdef",
	"sk-proj-Zx81mQ4tLw0vB7nRk2Yc6uHs",
	"jane.roe@bigcorp.io",
	"hunter2-hunter2-hunter2",
}

// fakeT is a test that a test runs: it notes what a session does to it. It has no FailNow; stoppingT has.
type fakeT struct {
	real *testing.T
	name string

	mu       sync.Mutex
	errors   []string
	logs     []string
	failed   bool
	skipped  bool
	ended    bool
	cleanups []func()
}

func newT(t *testing.T, name string) *fakeT { return &fakeT{real: t, name: name} }

func (f *fakeT) Helper()      {}
func (f *fakeT) Name() string { return f.name }

func (f *fakeT) Cleanup(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cleanups = append(f.cleanups, fn)
}

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
	f.errors = append(f.errors, f.note("Errorf", format, args))
}

func (f *fakeT) Logf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs = append(f.logs, f.note("Logf", format, args))
}

// note checks what every text must be: in time, without a secret, and without a control character.
func (f *fakeT) note(what, format string, args []any) string {
	s := fmt.Sprintf(format, args...)
	if f.ended {
		f.real.Errorf("%s after the end of %s: %s", what, f.name, s)
	}
	checkText(f.real, s)
	return s
}

func (f *fakeT) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *fakeT) Skipped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped
}

func (f *fakeT) skip() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skipped = true
}

// fail fails the test as its own assertion would.
func (f *fakeT) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
}

// end runs the cleanups, the last one first, and ends the test.
func (f *fakeT) end() *fakeT {
	for {
		f.mu.Lock()
		n := len(f.cleanups)
		if n == 0 {
			f.ended = true
			f.mu.Unlock()
			return f
		}
		fn := f.cleanups[n-1]
		f.cleanups = f.cleanups[:n-1]
		f.mu.Unlock()
		fn()
	}
}

// errorText returns all that failed the test.
func (f *fakeT) errorText() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.errors, "\n")
}

func (f *fakeT) logText() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.logs, "\n")
}

// wantPass fails the real test when the fake one failed.
func (f *fakeT) wantPass() {
	f.real.Helper()
	if f.Failed() {
		f.real.Errorf("%s failed:\n%s", f.name, f.errorText())
	}
}

// wantError fails the real test unless the fake one failed with one error that says all of want.
func (f *fakeT) wantError(want ...string) {
	f.real.Helper()
	f.mu.Lock()
	n := len(f.errors)
	f.mu.Unlock()
	if n != 1 {
		f.real.Errorf("%s has %d errors, want one:\n%s", f.name, n, f.errorText())
	}
	wantText(f.real, f.errorText(), want...)
}

func wantText(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the text does not say %q:\n%s", w, text)
		}
	}
}

// stoppingT is a fakeT with a FailNow, as a *testing.T has.
type stoppingT struct{ *fakeT }

func (s stoppingT) FailNow() {
	s.fail()
	runtime.Goexit()
}

// stops reports whether fn ends its goroutine.
func stops(fn func()) (stopped bool) {
	done := make(chan bool)
	go func() {
		returned := false
		defer func() { done <- !returned }()
		fn()
		returned = true
	}()
	return <-done
}

// checkText fails the test when s holds a secret or a control character.
func checkText(t *testing.T, s string) {
	t.Helper()
	for _, c := range canaries {
		if strings.Contains(s, c) {
			t.Errorf("a text holds the secret %q:\n%s", c, s)
		}
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
		t.Errorf("a text holds the control character %q:\n%q", s[i], s)
	}
}

// folder returns a folder for cassettes that is searched for secrets and for temporary files when the test ends.
func folder(t *testing.T) string {
	dir := t.TempDir()
	t.Cleanup(func() {
		for path, text := range contents(t, dir) {
			if strings.Contains(path, ".tmp") {
				t.Errorf("%s was left behind", path)
			}
			for _, c := range canaries {
				if strings.Contains(path+text, c) {
					t.Errorf("%s holds the secret %q:\n%s", path, c, text)
				}
			}
		}
	})
	return dir
}

// contents returns the files below dir with what they hold.
func contents(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wantFiles fails the test unless dir holds these files and no others.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	for name := range contents(t, dir) {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// network stands for the network, as a function of the request and its body. It counts the requests.
type network struct {
	answer func(req *http.Request, body string) (*http.Response, error)
	mu     sync.Mutex
	count  int
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	var b []byte
	if req.Body != nil {
		var err error
		if b, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	n.mu.Lock()
	n.count++
	n.mu.Unlock()
	return n.answer(req, string(b))
}

func (n *network) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

func response(status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// answering returns a network whose model gives the texts in turn, the last one again and again.
func answering(texts ...string) *network {
	var mu sync.Mutex
	n := 0
	return &network{answer: func(*http.Request, string) (*http.Response, error) {
		mu.Lock()
		text := texts[min(n, len(texts)-1)]
		n++
		mu.Unlock()
		return response(http.StatusOK, "application/json", completion(text)), nil
	}}
}

// completion is the body of a chat completion that says text.
func completion(text string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`, text)
}

// unreachable returns a network that fails the test when anything comes to it.
func unreachable(t *testing.T) *network {
	return &network{answer: func(req *http.Request, body string) (*http.Response, error) {
		t.Errorf("%s %s went out: %s", req.Method, req.URL, body)
		return nil, fmt.Errorf("the network was reached")
	}}
}

// client returns an instrumented client on the network n.
func (n *network) client(opts ...core.Option) *http.Client {
	return core.Instrument(&http.Client{Transport: n}, opts...)
}

// provider is where the tests' model is. Nothing answers there.
const provider = "https://api.openai.com"

// ask asks the model in the session of ctx, if any, and returns the body.
func ask(t *testing.T, ctx context.Context, client *http.Client, prompt string) string {
	t.Helper()
	answer, err := chat(ctx, client, provider, prompt)
	if err != nil {
		t.Errorf("asked %q: %v", prompt, err)
	}
	return answer
}

// record makes a cassette called name in dir that holds an answer to each prompt: "answer 1", "answer 2" and so on.
func record(t *testing.T, dir, name string, prompts ...string) {
	t.Helper()
	var texts []string
	for i := range prompts {
		texts = append(texts, fmt.Sprintf("answer %d", i+1))
	}
	f := newT(t, "TestRecords")
	s := cassette.Use(f, name, cassette.Dir(dir), cassette.Record)
	client := answering(texts...).client()
	for _, p := range prompts {
		ask(t, s.Context(t.Context()), client, p)
	}
	f.end().wantPass()
}

// read returns what a cassette holds; it fails the test when there is none.
func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func get(ctx context.Context, url string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		panic(err)
	}
	return req
}
