package cassette_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// bothWays runs one program twice, recording and replaying, and returns the cassette's text.
func bothWays(t *testing.T, n *network, run func(ctx context.Context, client *http.Client), opts ...cassette.Option) string {
	t.Helper()
	dir := folder(t)
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		f := newT(t, "Test"+mode.String())
		s := cassette.Use(f, "a.json", append([]cassette.Option{cassette.Dir(dir), mode}, opts...)...)
		run(s.Context(t.Context()), core.Instrument(&http.Client{Transport: n}))
		f.end().wantPass()
	}
	return read(t, dir, "a.json")
}

// mirror answers with the request's body.
func mirror() *network {
	return &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		return response(http.StatusOK, "application/json", body), nil
	}}
}

// TestHiddenOnceIsHiddenEverywhere records a password that only the last call's member gives away.
func TestHiddenOnceIsHiddenEverywhere(t *testing.T) {
	const password = "hunter2-hunter2-hunter2" // a canary
	text := bothWays(t, mirror(), func(ctx context.Context, client *http.Client) {
		post(t, ctx, client, provider+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"log me in: `+password+`, please"}]}`)
		post(t, ctx, client, "https://tools.bigcorp.io/find?q="+password, `{"a":"x`+password+`"}`)
		tool := core.Tool("login", func(_ context.Context, in map[string]string) (string, error) { return "welcome", nil })
		if _, err := tool(ctx, map[string]string{"password": password}); err != nil {
			t.Error(err)
		}
	}, cassette.RedactFields("never"), cassette.Redact(redact.Value("x"+password)))
	fp := redact.WholeFingerprint([]byte(password))[:4]
	for _, want := range []string{"log me in: <field:" + fp + ">, please", "find?q=redacted-" + fp, `"password": "<field:` + fp + `>"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the file does not say %s:\n%s", want, text)
		}
	}
}

// TestHiddenNumbers records numbers that the user's rules hide, and matches them.
func TestHiddenNumbers(t *testing.T) {
	dir := folder(t)
	rules := cassette.Redact(redact.Path("$.account", "$.rows[*].n"), redact.Field("pin"))
	use := func(name string, run func(ctx context.Context, client *http.Client), opts ...cassette.Option) *fakeT {
		f := newT(t, name)
		s := cassette.Use(f, "a.json", append(opts, cassette.Dir(dir), rules)...)
		run(s.Context(t.Context()), core.Instrument(&http.Client{Transport: mirror()}))
		return f.end()
	}
	both := func(ctx context.Context, client *http.Client) {
		for _, body := range []string{`{"account":73550001,"rows":[{"n":1.25},{"n":-7}]}`, `{"account":73550002,"rows":[{"n":1.25},{"n":-7}]}`} {
			if got := post(t, ctx, client, "https://tools.bigcorp.io/x", body); len(got) != len(body) {
				t.Errorf("%s was answered with %s", body, got)
			}
		}
		tool := core.Tool("pay", func(context.Context, map[string]int) (map[string]int, error) { return map[string]int{"pin": 4711}, nil })
		if _, err := tool(ctx, map[string]int{"pin": 4711}); err != nil {
			t.Error(err)
		}
	}
	use("TestRecords", both, cassette.Record).wantPass()
	text := read(t, dir, "a.json")
	for _, secret := range []string{"7355000", "4711", "1.25"} {
		if strings.Contains(text, secret) {
			t.Errorf("the file holds %s:\n%s", secret, text)
		}
	}
	wantText(t, text, `"hidden": [`, `"request $.account `, `"response $.rows[1].n `, `"arguments $.pin `, `"result $.pin `)
	use("TestReplays", both, cassette.Replay).wantPass()

	// What is rewritten is not hidden once more: the numbers would be others.
	before, _ := cassette.Load(filepath.Join(dir, "a.json"))
	use("TestExtends", func(ctx context.Context, client *http.Client) {
		both(ctx, client)
		post(t, ctx, client, "https://tools.bigcorp.io/y", `{"account":1}`)
	}, cassette.Extend).wantPass()
	after, err := cassette.Load(filepath.Join(dir, "a.json"))
	if err != nil || after.Len() != before.Len()+1 {
		t.Fatal(after.Len(), err)
	}
	for i, in := range before.Interactions() {
		if in.HTTP != nil && string(after.Interaction(i).HTTP.Request.Bytes) != string(in.HTTP.Request.Bytes) {
			t.Errorf("interaction %d is another: %s", i+1, after.Interaction(i).HTTP.Request.Bytes)
		}
	}
}

// TestFault76SignedTurns hides a secret in a signed block of a stream, which the next turn sends back.
func TestFault76SignedTurns(t *testing.T) {
	event := func(data string) string { return "data: " + data + "\n\n" }
	stream := event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"ask jane.roe@"}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"bigcorp.io"}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCkYIAxgCKkA="}}`) +
		event(`{"type":"message_stop"}`)
	n := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		if strings.Contains(body, "thinking") {
			return response(200, "application/json", `{"content":[{"type":"text","text":"done"}]}`), nil
		}
		return response(200, "text/event-stream", stream), nil
	}}
	text := bothWays(t, n, func(ctx context.Context, client *http.Client) {
		const head = `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"who?"}`
		answer := post(t, ctx, client, "https://api.anthropic.com/v1/messages", head+`]}`)
		member := func(name string) (joined string) {
			for _, part := range strings.Split(answer, `"`+name+`":"`)[1:] {
				joined += part[:strings.IndexByte(part, '"')]
			}
			return joined
		}
		block := fmt.Sprintf(`{"type":"thinking","thinking":%q,"signature":%q}`, member("thinking"), member("signature"))
		post(t, ctx, client, "https://api.anthropic.com/v1/messages", head+`,{"role":"assistant","content":[`+block+`]},{"role":"user","content":"go on"}]}`)
	})
	if strings.Contains(text, "EqQB") || strings.Count(text, "<signature:") != 2 {
		t.Errorf("a block that was changed keeps its signature:\n%s", text)
	}
}

// TestFault45ValueInBytes records an answer that is no text and holds the caller's key.
func TestFault45ValueInBytes(t *testing.T) {
	dir := folder(t)
	n := &network{answer: func(req *http.Request, _ string) (*http.Response, error) {
		return response(200, "image/png", "\x89PNG\xff"+strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")), nil
	}}
	f := newT(t, "TestRecords")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	if answer := ask(t, s.Context(t.Context()), core.Instrument(&http.Client{Transport: n}), "draw"); !strings.Contains(answer, canaries[0]) {
		t.Error("the live answer was changed")
	}
	f.end().wantError("interaction 1", "response is no text", "cassette.Pass")
	wantFiles(t, dir, "a.failed.json")
}

// TestFault120MissHidesWhatWasLearned misses with a password that only a tool's arguments gave away.
func TestFault120MissHidesWhatWasLearned(t *testing.T) {
	const password = "hunter2-hunter2-hunter2" // a canary, which fails the test wherever it is printed
	dir := folder(t)
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		f := newT(t, "Test"+mode.String())
		s := cassette.Use(f, "a.json", cassette.Dir(dir), mode)
		ctx := s.Context(t.Context())
		tool := core.Tool("login", func(context.Context, map[string]string) (string, error) { return "welcome", nil })
		if _, err := tool(ctx, map[string]string{"password": password}); err != nil {
			t.Error(err)
		}
		prompt := "in: " + password
		if mode == cassette.Replay {
			prompt = "once more in: " + password + " and " + password
		}
		_, err := chat(ctx, answering("ok").client(), provider, prompt)
		f.end()
		if mode == cassette.Replay {
			f.wantError("no recording", "once more in: <field:")
			checkText(t, fmt.Sprint(err))
		}
	}
}

// TestNumbersAnyOrder replays requests that differ in a hidden number only, the last one first.
func TestNumbersAnyOrder(t *testing.T) {
	dir := folder(t)
	n := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		return response(200, "text/plain", "answer to "+fmt.Sprint(len(body))+strings.Repeat("i", strings.Count(body, "7"))+fmt.Sprintf("%x", body)), nil
	}}
	ask := func(mode cassette.Mode, order []int) map[int]string {
		f := newT(t, "Test"+mode.String())
		s := cassette.Use(f, "a.json", cassette.Dir(dir), mode, cassette.RedactFields("n"))
		got := map[int]string{}
		for _, i := range order {
			got[i] = post(t, s.Context(t.Context()), core.Instrument(&http.Client{Transport: n}), "https://tools.bigcorp.io/x", fmt.Sprintf(`{"n":%d}`, i))
		}
		f.end().wantPass()
		return got
	}
	var up, down []int
	for i := range 200 {
		up, down = append(up, i), append(down, 199-i)
	}
	recorded := ask(cassette.Record, up)
	for i, answer := range ask(cassette.Replay, down) {
		if answer != recorded[i] {
			t.Errorf("%d gets %s, want %s", i, answer, recorded[i])
		}
	}
}

// TestHiddenNumberIsSentBack has an agent send back a hidden number of the model's answer.
func TestHiddenNumberIsSentBack(t *testing.T) {
	n := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		if strings.Contains(body, "tool_calls") {
			return response(200, "application/json", completion("done")), nil
		}
		return response(200, "application/json", `{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"name":"pay","arguments":"{\"pin\":471147}"}}]}}]}`), nil
	}}
	text := bothWays(t, n, func(ctx context.Context, client *http.Client) {
		answer := post(t, ctx, client, provider+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"pay"}]}`)
		message := answer[strings.Index(answer, `{"tool_calls"`) : len(answer)-len(`}]}`)]
		post(t, ctx, client, provider+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"pay"},`+message+`]}`)
	}, cassette.RedactFields("pin"))
	if strings.Contains(text, "471147") {
		t.Errorf("the number stands in the file:\n%s", text)
	}
}
