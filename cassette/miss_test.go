package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// The text of a miss is for people; go test -run TestMissText -update writes it anew.
func TestMissText(t *testing.T) {
	const (
		url   = provider + "/v1/chat/completions"
		first = `{"model":"gpt-5","messages":[{"role":"system","content":"tools: a, b, c"},{"role":"user","content":"My card was charged twice"}],"tools":[{"name":"a"},{"name":"b"}],"max_tokens":100}`
	)
	dir := folder(t)
	f := newT(t, "TestTriage/refund of $20")
	s := cassette.Use(f, "triage.json", cassette.Dir(dir))
	post(t, s.Context(t.Context()), answering("x").client(), url, first)
	post(t, s.Context(t.Context()), answering("x").client(), url, strings.Replace(first, "charged twice", "stolen", 1))
	f.end().wantPass()

	var golden strings.Builder
	for _, tt := range []struct {
		reason string
		do     func(ctx context.Context, client *http.Client) error
	}{
		{"a changed prompt", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, "charged twice", "charged three times", 1))
			return err
		}},
		{"an added member", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, `"max_tokens"`, `"temperature":0,"max_tokens"`, 1))
			return err
		}},
		{"a member that is gone", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, `,"max_tokens":100`, "", 1))
			return err
		}},
		{"the order of elements", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, `{"name":"a"},{"name":"b"}`, `{"name":"b"},{"name":"a"}`, 1))
			return err
		}},
		{"the order of words", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, "a, b, c", "c, a, b", 1))
			return err
		}},
		{"one too many", func(ctx context.Context, client *http.Client) error {
			if _, err := tryPost(ctx, client, url, first); err != nil {
				return nil
			}
			_, err := tryPost(ctx, client, url, first)
			return err
		}},
		{"no call of that kind", func(ctx context.Context, client *http.Client) error {
			_, err := core.Tool("refund", func(context.Context, int) (int, error) { return 0, nil })(ctx, 1)
			return err
		}},
		{"another address", func(ctx context.Context, client *http.Client) error {
			_, err := client.Do(get(ctx, "https://api.example.com/health?verbose=1"))
			return err
		}},
		{"a secret and control characters", func(ctx context.Context, client *http.Client) error {
			_, err := tryPost(ctx, client, url, strings.Replace(first, "twice", canaries[1]+` \u001b[31mred\u001b[0m \u0000`, 1))
			return err
		}},
		{"a tool's name with control characters", func(ctx context.Context, client *http.Client) error {
			_, err := core.Dispatch(func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil })(ctx, "a\x1b[31m\r\nb "+canaries[1], nil)
			return err
		}},
	} {
		f := newT(t, "TestTriage/refund_of_$20")
		s := cassette.Use(f, "triage.json", cassette.Dir(dir), cassette.Replay)
		err := tt.do(s.Context(t.Context()), unreachable(t).client())
		var miss *cassette.MissError
		if !errors.As(err, &miss) {
			t.Fatalf("%s: the error is %v", tt.reason, err)
		}
		f.wantError(miss.Error())
		if s.Report().Missed != 1 {
			t.Errorf("%s: the report is %+v", tt.reason, s.Report())
		}
		f.end()
		golden.WriteString("== " + tt.reason + "\n" + strings.ReplaceAll(miss.Error(), dir, "DIR") + "\n\n")
	}
	path := filepath.Join("testdata", "misses.txt")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(golden.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); golden.String() != want {
		t.Errorf("the texts are\n%s\nwant\n%s", golden.String(), want)
	}
}

// The test fails although the program swallows the error, from any goroutine.
func TestFault113MissSwallowed(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	f := newT(t, "TestSwallows")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := unreachable(t).client()
	ask(t, s.Context(t.Context()), client, "hi")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := chat(s.Context(t.Context()), client, provider, "hello"); err != nil {
			return // the program goes on with a fallback
		}
	})
	wg.Wait()
	f.end().wantError("no recording for openai chat with model gpt-5")
}

// After the end of a test a call is refused, and nothing is logged to a test that is over.
func TestMissAfterTheEnd(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	var ctx context.Context
	var s *cassette.Session
	t.Run("inner", func(t *testing.T) {
		s = cassette.Use(t, "a.json", cassette.Dir(dir))
		ctx = s.Context(context.WithoutCancel(t.Context()))
		ask(t, ctx, unreachable(t).client(), "hi")
	})
	if _, err := chat(ctx, unreachable(t).client(), provider, "hello"); err == nil {
		t.Error("a call after the end was answered")
	}
}

func TestFault53ChangedBodyIsAMiss(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "the old prompt")
	f := newT(t, "TestFault53")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	_, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "the new prompt")
	var miss *cassette.MissError
	if !errors.As(err, &miss) || miss.Nearest != 1 || len(miss.Differences) != 1 || miss.Differences[0].Path != "$.messages[0].content" {
		t.Errorf("the error is %v", err)
	}
	f.end()
}

func TestFault90UnusedRecordings(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "one", "two")
	f := newT(t, "TestFault90")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	ask(t, s.Context(t.Context()), unreachable(t).client(), "one")
	if r := s.Report(); r.Served != 1 || r.Unused != 1 {
		t.Errorf("the report is %+v", r)
	}
	f.end().wantError("1 of 2 recorded calls were not asked for", "interaction 2: openai chat with model gpt-5", "-run '^TestFault90$'", "AllowUnused")

	f = newT(t, "TestFault90")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.AllowUnused())
	ask(t, s.Context(t.Context()), unreachable(t).client(), "one")
	f.end().wantPass()

	f = newT(t, "TestFault90") // a test that failed has worse to say
	cassette.Use(f, "a.json", cassette.Dir(dir))
	f.fail()
	f.end()
	if f.errorText() != "" {
		t.Errorf("a failed test hears of unused recordings: %s", f.errorText())
	}
}

func TestFault91MissNamesTheNearest(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "alpha alpha alpha", "beta beta beta", "gamma gamma gamma")
	f := newT(t, "TestFault91")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.AllowUnused())
	client := unreachable(t).client()
	chat(s.Context(t.Context()), client, provider, "beta beta beta!")
	f.wantError("nearest: interaction 2", "$.messages[0].content", `"beta beta beta!"`)
	f.end()
	f = newT(t, "TestFault91")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.AllowUnused())
	ask(t, s.Context(t.Context()), client, "beta beta beta")
	chat(s.Context(t.Context()), client, provider, "beta beta beta")
	f.wantError("the same request was recorded once and has been played once")
	f.end()
}

// No text and no file of a session shows a secret: fakeT and folder look at all of them.
func TestFault120NoSecretInAnyText(t *testing.T) {
	t.Setenv("MY_SERVICE_TOKEN", "tok9TokenOfTheEnvironment77")
	dir := folder(t)
	secrets := strings.Join(append([]string{"tok9TokenOfTheEnvironment77"}, canaries[:3]...), " and ")
	login := core.Tool("login", func(context.Context, map[string]string) (string, error) {
		return "", errors.New("denied: " + secrets)
	})
	run := func(f *fakeT, prompt string) {
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.RedactFields("pin"), cassette.Redact())
		ctx := s.Context(t.Context())
		wire := answering("I heard " + secrets)
		chat(ctx, wire.client(), provider, prompt+" "+secrets)
		login(ctx, map[string]string{"password": canaries[3], "note": secrets})
	}
	f := newT(t, "TestSecrets")
	run(f, "say")
	f.end().wantPass()
	before := read(t, dir, "a.json")
	f = newT(t, "TestSecrets")
	run(f, "say")
	f.end().wantPass()
	f = newT(t, "TestSecrets")
	run(f, "repeat")
	f.end()
	if !strings.Contains(f.errorText(), "no recording") {
		t.Errorf("the errors are %s", f.errorText())
	}
	for _, text := range []string{before, f.errorText()} {
		for _, s := range append(canaries, "tok9TokenOfTheEnvironment77") {
			if strings.Contains(text, s) {
				t.Errorf("%s stands in\n%s", s, text)
			}
		}
	}
}
