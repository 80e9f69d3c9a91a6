package cassette_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// post sends body to url in ctx and returns the answer's text.
func post(t *testing.T, ctx context.Context, client *http.Client, url, body string) string {
	t.Helper()
	text, err := tryPost(ctx, client, url, body)
	if err != nil {
		t.Errorf("%s: %v", body, err)
	}
	return text
}

func tryPost(ctx context.Context, client *http.Client, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	return b.String(), err
}

func TestFault56EqualRequestsInRecordedOrder(t *testing.T) {
	wire := answering("1", "2", "3")
	var got []string
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		for range 3 {
			got = append(got, ask(t, ctx, client, "n"))
		}
		if replay {
			if _, err := chat(ctx, client, provider, "n"); err == nil {
				t.Error("a fourth call was answered")
			}
		}
	})
	f.wantPass()
	for i, text := range got {
		if want := completion(fmt.Sprint(i%3 + 1)); text != want {
			t.Errorf("answer %d is %s, want %s", i, text, want)
		}
	}
	g.wantError("the same request was recorded 3 times and has been played 3 times")
}

func TestFault58ReadModifyRead(t *testing.T) {
	state := "0"
	wire := &network{answer: func(req *http.Request, body string) (*http.Response, error) {
		if req.Method == http.MethodPost {
			state = body
		}
		return response(200, "text/plain", "s="+state), nil
	}}
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		read := func() string {
			resp, err := client.Do(get(ctx, "https://shop.example.com/state"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var b bytes.Buffer
			b.ReadFrom(resp.Body)
			return b.String()
		}
		first := read()
		post(t, ctx, client, "https://shop.example.com/state", "1")
		if second := read(); first != "s=0" || second != "s=1" {
			t.Errorf("replay %v: read %s, then %s", replay, first, second)
		}
	})
	f.wantPass()
	g.wantPass()
}

func TestFault59OrderOnlyWithinAKey(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "a", "b", "a", "c")
	f := newT(t, "TestOrder")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := unreachable(t).client()
	for _, call := range []struct{ prompt, want string }{{"c", "answer 4"}, {"a", "answer 1"}, {"b", "answer 2"}, {"a", "answer 3"}} {
		if got := ask(t, s.Context(t.Context()), client, call.prompt); got != completion(call.want) {
			t.Errorf("%s got %s, want %s", call.prompt, got, call.want)
		}
	}
	f.end().wantPass()
}

// Concurrent equal requests are recorded in the order of their starts, although the answers came in reverse.
func TestFault112ConcurrentEqualRequests(t *testing.T) {
	const n = 5
	dir := folder(t)
	started := make(chan struct{})
	release := make([]chan struct{}, n)
	for i := range release {
		release[i] = make(chan struct{})
	}
	var mu sync.Mutex
	next := 0
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		mu.Lock()
		i := next
		next++
		mu.Unlock()
		started <- struct{}{}
		<-release[i]
		return response(200, "application/json", completion(fmt.Sprint("start ", i))), nil
	}}
	f := newT(t, "TestConcurrent")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := wire.client()
	done := make([]chan struct{}, n)
	for i := range n {
		done[i] = make(chan struct{})
		go func() {
			defer close(done[i])
			ask(t, s.Context(t.Context()), client, "same")
		}()
		<-started
	}
	for i := n - 1; i >= 0; i-- {
		close(release[i])
		<-done[i]
	}
	f.end().wantPass()

	f = newT(t, "TestConcurrent")
	s = cassette.Use(f, "a.json", cassette.Dir(dir))
	for i := range n {
		if got := ask(t, s.Context(t.Context()), unreachable(t).client(), "same"); got != completion(fmt.Sprint("start ", i)) {
			t.Errorf("answer %d is %s", i, got)
		}
	}
	f.end().wantPass()
}

func TestWhatIsCompared(t *testing.T) {
	const (
		chatURL  = "https://api.openai.com/v1/chat/completions"
		otherURL = "http://127.0.0.1:4000/rpc"
		chatBody = `{"model":"gpt-5","messages":[{"role":"user","content":"<a> & b"}],"metadata":{"run_id":"r1","user":"u"},"seed":9007199254740993,"tools":[{"type":"function","function":{"name":"f"}}]}`
	)
	for _, tt := range []struct {
		reason            string
		url, body         string
		asURL, as         string // asked in the replay
		same              bool
		options           []cassette.Option
		header, liveValue string
	}{
		{"itself", chatURL, chatBody, chatURL, chatBody, true, nil, "", ""},
		{"order of members and white space", chatURL, `{"model":"m","messages":[],"seed":1}`, chatURL, `{ "seed":1.0, "messages":[],"model":"m"}`, true, nil, "", ""},
		{"escapes", chatURL, chatBody, chatURL, strings.Replace(chatBody, "<a> & b", `\u003ca\u003e \u0026 b`, 1), true, nil, "", ""},
		{"big numbers", chatURL, chatBody, chatURL, strings.Replace(chatBody, "993,", "992,", 1), false, nil, "", ""},
		{"a user agent", chatURL, chatBody, chatURL, chatBody, true, nil, "User-Agent", "OpenAI/Go 3.99.0"},
		{"host and path of a known format", chatURL, chatBody, "http://127.0.0.1:7777/v1/chat/completions", chatBody, true, nil, "", ""},
		{"a loopback port", otherURL, `{}`, "http://127.0.0.1:4001/rpc", `{}`, true, nil, "", ""},
		{"the path of another format", otherURL, `{}`, "http://127.0.0.1:4000/rpc2", `{}`, false, nil, "", ""},
		{"another host", "https://a.example.com/rpc", `{}`, "https://b.example.com/rpc", `{}`, false, nil, "", ""},
		{"a query", "https://a.example.com/rpc?v=1", `{}`, "https://a.example.com/rpc?v=2", `{}`, false, nil, "", ""},
		{"a credential in the query", "https://a.example.com/rpc?key=abcdefgh12345678abcd", `{}`, "https://a.example.com/rpc?key=zyxwvuts87654321zyxw", `{}`, true, nil, "", ""},
		{"the model", chatURL, chatBody, chatURL, strings.Replace(chatBody, "gpt-5", "gpt-4", 1), false, nil, "", ""},
		{"a stream", chatURL, `{"model":"m","messages":[]}`, chatURL, `{"model":"m","messages":[],"stream":true}`, false, nil, "", ""},

		{"a run id", chatURL, chatBody, chatURL, strings.Replace(chatBody, "r1", "r2", 1), false, nil, "", ""},
		{"an ignored run id", chatURL, chatBody, chatURL, strings.Replace(chatBody, "r1", "r2", 1), true, []cassette.Option{cassette.Ignore("$.metadata.run_id")}, "", ""},
		{"ignored by its full path only", chatURL, chatBody, chatURL, strings.Replace(chatBody, `"u"`, `"v"`, 1), false, []cassette.Option{cassette.Ignore("$.metadata.run_id", "$.user")}, "", ""},
		{"messages only: tools may change", chatURL, chatBody, chatURL, strings.Replace(chatBody, `"name":"f"`, `"name":"g"`, 1), true, []cassette.Option{cassette.MatchMessages()}, "", ""},
		{"messages only: messages may not", chatURL, chatBody, chatURL, strings.Replace(chatBody, "<a>", "<b>", 1), false, []cassette.Option{cassette.MatchMessages()}, "", ""},
		{"messages only: nor the model", chatURL, chatBody, chatURL, strings.Replace(chatBody, "gpt-5", "gpt-4", 1), false, []cassette.Option{cassette.MatchMessages()}, "", ""},
		{"normalised", chatURL, chatBody, chatURL, strings.Replace(chatBody, "<a>", "<A>", 1), true, []cassette.Option{cassette.Normalize(func(r *cassette.Request) {
			r.Body = bytes.ToLower(r.Body)
		})}, "", ""},
		{"normalised in place", chatURL, chatBody, chatURL, strings.Replace(chatBody, "<a>", "<A>", 1), true, []cassette.Option{cassette.Normalize(func(r *cassette.Request) {
			copy(r.Body, bytes.ToLower(r.Body))
		})}, "", ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			f := newT(t, "TestCompared")
			s := cassette.Use(f, "a.json", append(tt.options, cassette.Dir(dir))...)
			post(t, s.Context(t.Context()), answering("x").client(), tt.url, tt.body)
			f.end().wantPass()
			before := read(t, dir, "a.json")

			f = newT(t, "TestCompared")
			s = cassette.Use(f, "a.json", append(tt.options, cassette.Dir(dir))...)
			req, err := http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, tt.asURL, strings.NewReader(tt.as))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			if tt.header != "" {
				req.Header.Set(tt.header, tt.liveValue)
			}
			resp, err := unreachable(t).client().Do(req)
			if (err == nil) != tt.same {
				t.Errorf("the same: %v, want %v (%v)", err == nil, tt.same, err)
			}
			if err == nil {
				resp.Body.Close()
			}
			f.end()
			if f.Failed() == tt.same {
				t.Errorf("the test failed: %v\n%s", f.Failed(), f.errorText())
			}
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
		})
	}
}

func TestFault55WholeConversation(t *testing.T) {
	turns := []string{
		`{"model":"m","messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"done"}]}`,
	}
	wire := answering("call f", "finished")
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		for i, want := range []string{"call f", "finished"} {
			if got := post(t, ctx, client, provider+"/v1/chat/completions", turns[i]); got != completion(want) {
				t.Errorf("replay %v: turn %d got %s", replay, i+1, got)
			}
		}
		if replay {
			if _, err := tryPost(ctx, client, provider+"/v1/chat/completions", turns[0]); err == nil {
				t.Error("turn 1 was answered twice")
			}
		}
	})
	f.wantPass()
	if !g.Failed() {
		t.Error("a loop passed")
	}
}

func TestRepeatLast(t *testing.T) {
	wire := answering("1", "2")
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		want := []string{"1", "2"}
		client := wire.client()
		if replay {
			want, client = append(want, "2", "2"), unreachable(t).client()
		}
		for _, w := range want {
			if got := ask(t, ctx, client, "n"); got != completion(w) {
				t.Errorf("got %s, want %s", got, w)
			}
		}
	}, cassette.RepeatLast())
	f.wantPass()
	g.wantPass()
}

// A value that was hidden is quoted by the next turn: live the program quotes the value, in the replay the placeholder.
func TestFault46And48RedactedValueEchoedByTheNextTurn(t *testing.T) {
	secret := canaries[2]
	wire := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		return response(200, "application/json", completion("write to "+secret)), nil
	}}
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		answer := ask(t, ctx, client, "whom do I write to?")
		_, quoted, _ := strings.Cut(answer, "write to ")
		quoted, _, _ = strings.Cut(quoted, `"`)
		if (quoted == secret) == replay {
			t.Errorf("replay %v: the answer quotes %s", replay, quoted)
		}
		ask(t, ctx, client, "is it "+quoted+"?")
		ask(t, ctx, client, "and what of "+secret+", live in both?")
	})
	f.wantPass()
	g.wantPass()
}

// Two requests that differ in a hidden value only get their own answers, in either order.
func TestRequestsThatDifferInAHiddenValue(t *testing.T) {
	people := []string{canaries[2], "john.doe@bigcorp.io"}
	wire := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		who := "jane"
		if strings.Contains(body, "john") {
			who = "john"
		}
		return response(200, "application/json", completion("hello "+who)), nil
	}}
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client, order := wire.client(), []int{0, 1}
		if replay {
			client, order = unreachable(t).client(), []int{1, 0}
		}
		for _, i := range order {
			want := completion("hello " + people[i][:4])
			if got := ask(t, ctx, client, "greet "+people[i]); got != want {
				t.Errorf("replay %v: %s gets %s", replay, people[i], got)
			}
		}
	})
	f.wantPass()
	g.wantPass()
}

// What this run records never answers this run.
func TestFault107RecordingAnswersNoCall(t *testing.T) {
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Extend} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := folder(t)
			statuses := []int{429, 200}
			wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
				status := statuses[0]
				statuses = statuses[1:]
				return response(status, "application/json", completion(fmt.Sprint(status))), nil
			}}
			f := newT(t, "TestFault107")
			s := cassette.Use(f, "a.json", cassette.Dir(dir), mode)
			client := wire.client()
			for _, want := range []string{"429", "200"} {
				if got := ask(t, s.Context(t.Context()), client, "hi"); got != completion(want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			if r := s.Report(); r.Recorded != 2 || r.Served != 0 {
				t.Errorf("the report is %+v", r)
			}
			f.end().wantPass()
		})
	}
}

func TestExtend(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "known")
	f := newT(t, "TestExtend")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Extend)
	wire := answering("new 1", "new 2")
	client := wire.client()
	for _, call := range []struct{ prompt, want string }{{"known", "answer 1"}, {"new", "new 1"}, {"known", "new 2"}} {
		if got := ask(t, s.Context(t.Context()), client, call.prompt); got != completion(call.want) {
			t.Errorf("%s got %s", call.prompt, got)
		}
	}
	if r := s.Report(); r.Served != 1 || r.Recorded != 2 || r.Missed != 0 {
		t.Errorf("the report is %+v", r)
	}
	f.end().wantPass()

	f = newT(t, "TestExtend")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
	for _, call := range []struct{ prompt, want string }{{"known", "answer 1"}, {"known", "new 2"}, {"new", "new 1"}} {
		if got := ask(t, s.Context(t.Context()), unreachable(t).client(), call.prompt); got != completion(call.want) {
			t.Errorf("%s got %s", call.prompt, got)
		}
	}
	f.end().wantPass()
}

// A normaliser that panics fails the call and the test, says where, and loses nothing.
func TestNormalizePanics(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	t.Run("on a recorded request", func(t *testing.T) {
		f := newT(t, "TestPanics")
		cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Normalize(func(*cassette.Request) { panic("boom " + canaries[1]) }))
		f.wantError("a.json", "Normalize panicked", "boom", "interaction 1", "mend that function")
		f.end()
	})
	t.Run("on a live one", func(t *testing.T) {
		f := newT(t, "TestPanics")
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Normalize(func(r *cassette.Request) {
			if bytes.Contains(r.Body, []byte("odd")) {
				panic(fmt.Errorf("boom"))
			}
		}))
		if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "odd"); err == nil {
			t.Error("the call was answered")
		}
		ask(t, s.Context(t.Context()), unreachable(t).client(), "hi")
		f.end().wantError("a.json", "Normalize panicked", "boom", "openai chat")
	})
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
}

// Names that only look like a secret's stay, on both sides.
func TestFault110NamesThatLookSecret(t *testing.T) {
	const (
		request = `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}],"max_tokens":64,"max_completion_tokens":65,"logprobs":true}`
		answer  = `{"id":"chatcmpl-1","choices":[{"message":{"role":"assistant","content":"hi"},"logprobs":{"content":[{"token":"hi","logprob":-0.1,"bytes":[104,105]}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	)
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		return response(200, "application/json", answer), nil
	}}
	dir := folder(t)
	f, g := twice(t, dir, func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		if got := post(t, ctx, client, provider+"/v1/chat/completions", request); got != answer {
			t.Errorf("replay %v: %s", replay, got)
		}
	})
	f.wantPass()
	g.wantPass()
	wantText(t, read(t, dir, "a.json"), `"max_tokens": 64`, `"token": "hi"`)
}

// An interceptor of the user's that is on in both runs does not come between a call and its recording.
func TestInterceptorOnBothSides(t *testing.T) {
	b := bus.New()
	core.Intercept(b, core.HTTPInterceptor(func(req *http.Request, next core.RoundTrip) (*http.Response, error) {
		if req.Header.Get("X-Local") != "" {
			return response(200, "text/plain", "local"), nil
		}
		req.Body = io.NopCloser(strings.NewReader(`{"model":"gpt-5","messages":[{"role":"user","content":"changed"}]}`))
		return next(req)
	}))
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := answering("x").client()
		if replay {
			client = unreachable(t).client()
		}
		if got := ask(t, ctx, client, "hi"); got != completion("x") {
			t.Errorf("replay %v: %s", replay, got)
		}
		req := get(ctx, "https://api.example.com/")
		req.Header.Set("X-Local", "1")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}, cassette.OnBus(b))
	f.wantPass()
	g.wantPass()
}

// Of many equal requests at once each gets an answer of its own.
func TestConcurrentReplayServesEachOnce(t *testing.T) {
	const n = 50
	dir := folder(t)
	record(t, dir, "a.json", slices.Repeat([]string{"same"}, n)...)
	f := newT(t, "TestConcurrent")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := unreachable(t).client()
	answers := make(chan string, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { answers <- ask(t, s.Context(t.Context()), client, "same") })
	}
	wg.Wait()
	close(answers)
	seen := map[string]bool{}
	for a := range answers {
		seen[a] = true
	}
	if len(seen) != n {
		t.Errorf("%d different answers, want %d", len(seen), n)
	}
	f.end().wantPass()
}
