package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// TestMissOfEachKind says of each kind of call, and of each kind of body, where it differs from the nearest recording.
func TestMissOfEachKind(t *testing.T) {
	type (
		caller func(ctx context.Context, client *http.Client) error
		diff   = cassette.Difference
	)
	send := func(url, contentType, body string) caller {
		return func(ctx context.Context, client *http.Client) error {
			_, err := asked{url: url, contentType: contentType, body: body}.send(ctx, client)
			return err
		}
	}
	tool := func(name, arguments string) caller {
		return func(ctx context.Context, _ *http.Client) error {
			_, err := core.Dispatch(func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`true`), nil
			})(ctx, name, json.RawMessage(arguments))
			return err
		}
	}
	call := func(request any) caller {
		return func(ctx context.Context, _ *http.Client) error {
			_, err := core.Call(ctx, "retrieval", request, func(context.Context) (int, error) { return 1, nil })
			return err
		}
	}
	const (
		jsonType = "application/json"
		formType = "application/x-www-form-urlencoded"
		plain    = `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}`
		streamed = `{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"a long story, please"}]}`
	)
	upload := func(boundary, text string) caller {
		u := uploadOf(boundary, `{"n":1}`, text)
		return send(u.url, u.contentType, u.body)
	}
	recorded := []caller{
		send(chatURL, jsonType, plain), send(chatURL, jsonType, streamed),
		tool("get", `{"id":1,"of":"order"}`), call([]string{"refund policy"}),
		send(restURL, "application/octet-stream", "\x89PNG\x00\xff"), send(restURL, formType, "to=me&n=1"),
		send(restURL, "application/x-ndjson", "{\"a\":1}\n{\"b\":2}\n"), upload("one", "hello"), send(restURL+"?v=1", jsonType, `[1]`),
	}
	dir := folder(t)
	f := newT(t, "TestKinds")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := counting().client()
	for _, do := range recorded {
		if err := do(s.Context(t.Context()), client); err != nil {
			t.Fatal(err)
		}
	}
	f.end().wantPass()

	for _, tt := range []struct {
		reason  string
		do      caller
		call    string
		nearest int
		orderly bool
		want    []diff
	}{
		{"a stream of what was recorded plain", send(chatURL, jsonType, strings.Replace(plain, `"messages"`, `"stream":true,"messages"`, 1)), "openai chat with model gpt-5", 1, false,
			[]diff{{"stream", "asks for a plain answer", "asks for a stream"}, {"$.stream", "", "true"}}},
		{"plain what was recorded as a stream", send(chatURL, jsonType, strings.Replace(streamed, "true", "false", 1)), "openai chat with model gpt-5", 2, false,
			[]diff{{"stream", "asks for a stream", "asks for a plain answer"}, {"$.stream", "true", "false"}}},
		{"another argument of a tool", tool("get", `{"of":"order","id":2}`), "tool get", 3, false, []diff{{"$.id", "1", "2"}}},
		{"another tool", tool("put", `{"of":"order","id":1}`), "tool put", 3, false, []diff{{"operation", `"get"`, `"put"`}}},
		{"arguments that are no JSON", tool("get", `{"id":`), "tool get", 3, false, []diff{{"body at byte 6", `"{\"id\":1,\"of\":\"order\"}"`, `"{\"id\":"`}}},
		{"another request of a call", call([]string{"policy refund"}), "call retrieval", 4, true, []diff{{"$[0]", `"refund policy"`, `"policy refund"`}}},
		{"other bytes", send(restURL, "application/octet-stream", "\x89PNG\x00\xfe"), "POST shop.example.com/v1/orders", 5, false,
			[]diff{{"body at byte 5", `"\x89PNG\x00\xff"`, `"\x89PNG\x00\xfe"`}}},
		{"another field of a form", send(restURL, formType, "n=2&to=me"), "POST shop.example.com/v1/orders", 6, false, []diff{{"form.n", `"1"`, `"2"`}}},
		{"another line", send(restURL, "application/x-ndjson", "{\"a\":1}\n{\"b\":3}\n"), "POST shop.example.com/v1/orders", 7, false,
			[]diff{{"body at byte 13", `"{\"a\":1}\n{\"b\":2}\n"`, `"{\"a\":1}\n{\"b\":3}\n"`}}},
		{"another part", upload("two", "hallo"), "POST shop.example.com/v1/orders", 8, false, []diff{{
			"body part 3 at byte 94",
			`"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"`,
			`"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhallo\r\n"`,
		}}},
		{"another query", send(restURL+"?v=2", jsonType, `[1]`), "POST shop.example.com/v1/orders", 9, false, []diff{{"query.v", `"1"`, `"2"`}}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			f := newT(t, "TestKinds")
			s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
			err := tt.do(s.Context(t.Context()), unreachable(t).client())
			var miss *cassette.MissError
			if !errors.As(err, &miss) {
				t.Fatalf("the error is %v", err)
			}
			f.wantError(miss.Error(), "CASSETTE_RERECORD=1 go test -count=1 -run '^TestKinds$'")
			if miss.Call != tt.call || miss.Nearest != tt.nearest || miss.OrderOnly != tt.orderly || !slices.Equal(miss.Differences, tt.want) {
				t.Errorf("call %q, nearest %d, order only %v, differences\n%+q\nwant %q, %d, %v,\n%+q", miss.Call, miss.Nearest, miss.OrderOnly, miss.Differences, tt.call, tt.nearest, tt.orderly, tt.want)
			}
			f.end()
		})
	}
}

// TestMissShowsNoControlCharacter has a model's or an attacker's text in each place of a request that a miss shows.
func TestMissShowsNoControlCharacter(t *testing.T) {
	const odd = "a\x1b[31m\x1b]0;t\x07\u202eb\u2066\u200f\ufeff\u2028\u0085\x00\x7f\r\n\tc"
	jsonOdd := string(must(json.Marshal(odd)))
	dir := folder(t)
	f := newT(t, "TestOdd")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := counting().client()
	for _, body := range []string{`{"model":"m","messages":[{"content":"recorded"}]}`, `{"model":"m","messages":[{"content":` + jsonOdd + `}]}`} {
		post(t, s.Context(t.Context()), client, chatURL, body)
	}
	post(t, s.Context(t.Context()), client, restURL, "recorded")
	f.end().wantPass()

	for _, tt := range []struct{ reason, url, body, shown string }{
		{"in a prompt", chatURL, `{"model":"m","messages":[{"content":"!` + jsonOdd[1:] + `}]}`, `live:     "!a\x1b[31m\x1b]0;t\a\u202eb\u2066\u200f\ufeff\u2028\u0085\x00\x7f\r\n\tc"`},
		{"in what was recorded", chatURL, `{"model":"m","messages":[{"content":` + jsonOdd[:len(jsonOdd)-1] + `!"}]}`, `recorded: "a\x1b[31m\x1b]0;t\a\u202eb\u2066\u200f\ufeff\u2028\u0085\x00\x7f\r\n\tc"`},
		{"in the name of a member", chatURL, `{"model":"m","messages":[{"content":"recorded",` + jsonOdd + `:1}]}`, `$.messages[0]['a\u001b[31m`},
		{"in an object", chatURL, `{"model":"m","messages":[{"content":"recorded"}],"x":{` + jsonOdd + `:[` + jsonOdd + `]}}`, `live:     {"a\u001b[31m`},
		{"in the model", chatURL, `{"model":` + jsonOdd + `,"messages":[{"content":"recorded"}]}`, `openai chat with model a\x1b[31m`},
		{"in bytes", restURL, "recorded " + odd + "\xff\xfe\xed\xa0\x80", `\xff\xfe\xed\xa0\x80"`},
		{"in the query", restURL + "?" + url.Values{odd: {odd}}.Encode(), "recorded", `query.a\x1b[31m`},
		{"in the path", restURL + url.PathEscape(odd), "recorded", `orders`},
		{"lone surrogates", chatURL, `{"model":"m","messages":[{"content":"recorded \ud83d"}]}`, `"recorded \xed\xa0\xbd"`},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			f := newT(t, "TestOdd")
			s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
			_, err := tryPost(s.Context(t.Context()), unreachable(t).client(), tt.url, tt.body)
			var miss *cassette.MissError
			if !errors.As(err, &miss) || len(miss.Differences) == 0 {
				t.Fatalf("the error is %v", err)
			}
			text := miss.Error()
			checkText(t, text)
			for line := range strings.Lines(text) {
				for _, r := range strings.TrimSuffix(line, "\n") {
					if !strconv.IsPrint(r) || r == '\ufffd' {
						t.Errorf("%q stands in the text:\n%q", r, text)
					}
				}
			}
			wantText(t, text, tt.shown)
			f.end()
		})
	}
}

// TestFault120SecretsOfAMiss has a secret in the live request only, and in the recording only, in each place of it.
func TestFault120SecretsOfAMiss(t *testing.T) {
	const environment, header = "tok9TokenOfTheEnvironment77", "hdr4TokenOfTheHeader5566778"
	t.Setenv("MY_SERVICE_TOKEN", environment)
	long := strings.Repeat("long text ", 30)
	for _, secret := range []string{canaries[1], canaries[2], "AKIAQ3EGRIJ7XN5ZKT2V", environment, header} {
		for _, tt := range []struct {
			reason          string
			url, without    string
			hiddenURL, with string
		}{
			{"in a prompt", chatURL, `{"model":"m","messages":[{"content":"say it"}]}`, chatURL, `{"model":"m","messages":[{"content":"say SECRET"}]}`},
			{"after much text", chatURL, `{"model":"m","messages":[{"content":"` + long + `x"}]}`, chatURL, `{"model":"m","messages":[{"content":"` + long + ` SECRET ` + long + `"}]}`},
			{"cut by what is shown", chatURL, `{"model":"m","messages":[{"content":"` + long + `"}]}`, chatURL, `{"model":"m","messages":[{"content":"! SECRET ` + strings.Repeat("!", 70) + ` SECRET ` + long + `"}]}`},
			{"in the name of a member", chatURL, `{"model":"m","messages":[]}`, chatURL, `{"model":"m","messages":[],"x":{"SECRET":1},"SECRET":2}`},
			{"in an array", chatURL, `{"model":"m","messages":[],"x":[1]}`, chatURL, `{"model":"m","messages":[],"x":[1,["a",{"b":"SECRET"}]]}`},
			{"in JSON in a string", chatURL, `{"model":"m","messages":[{"content":"{}"}]}`, chatURL, `{"model":"m","messages":[{"content":"{\"k\":\"SECRET\"}"}]}`},
			{"in the path", restURL, `{}`, restURL + "/SECRET/x", `{}`},
			{"in the query", restURL, `{}`, restURL + "?q=SECRET", `{}`},
			{"in text", restURL, `hello`, restURL, `hello SECRET`},
			{"in bytes", restURL, "\xff", restURL, "\xff" + strings.Repeat(".", 95) + " SECRET " + long},
		} {
			for _, recorded := range []bool{false, true} {
				if recorded && tt.reason == "in bytes" {
					continue // such a recording fails
				}
				t.Run(fmt.Sprint(secret[:4], " ", tt.reason, ", recorded ", recorded), func(t *testing.T) {
					first, second := tt.without, strings.ReplaceAll(tt.with, "SECRET", secret)
					firstURL, secondURL := tt.url, strings.ReplaceAll(tt.hiddenURL, "SECRET", secret)
					if recorded {
						first, firstURL, second, secondURL = second, secondURL, first, firstURL
					}
					dir := folder(t)
					send := func(s *cassette.Session, client *http.Client, url, body string) error {
						req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, url, strings.NewReader(body)))
						req.Header.Set("Authorization", "Bearer "+header)
						resp, err := client.Do(req)
						if err == nil {
							resp.Body.Close()
						}
						return err
					}
					f := newT(t, "TestSecrets")
					s := cassette.Use(f, "a.json", cassette.Dir(dir))
					if err := send(s, counting().client(), firstURL, first); err != nil {
						t.Fatal(err)
					}
					f.end().wantPass()
					f = newT(t, "TestSecrets")
					s = cassette.Use(f, "a.json", cassette.Dir(dir))
					err := send(s, unreachable(t).client(), secondURL, second)
					var miss *cassette.MissError
					if !errors.As(err, &miss) || miss.Nearest != 1 || len(miss.Differences) == 0 {
						t.Fatalf("the error is %v", err)
					}
					texts := []string{miss.Error(), fmt.Sprintf("%+v", *miss), f.end().errorText(), f.logText(), read(t, dir, "a.json")}
					for _, text := range texts {
						for n := 8; n <= len(secret); n++ { // nor a half of it
							if strings.Contains(text, secret[:n]) || strings.Contains(text, secret[len(secret)-n:]) {
								t.Fatalf("%s, or a part of it, stands in\n%s", secret, text)
							}
						}
					}
				})
			}
		}
	}
}

// A secret that was written into a file by hand, and is learnt of only by the call that misses, is not shown either, in
// whatever place the text is cut.
func TestFault120SecretLearntOfByTheMiss(t *testing.T) {
	const secret = "hdr4TokenOfTheHeader5566778"
	for shift := 78; shift < 120; shift += 4 { // the text is cut after 120 characters
		dir := t.TempDir()
		record(t, dir, "a.json", "PROMPT")
		path := filepath.Join(dir, "a.json")
		edited := strings.Replace(read(t, path), "PROMPT", "!"+strings.Repeat(".", shift)+secret+strings.Repeat(" and so on", 20), 1)
		if err := os.WriteFile(path, []byte(edited), 0o666); err != nil {
			t.Fatal(err)
		}
		f := newT(t, "TestLearnt")
		s := cassette.Use(f, "a.json", cassette.Dir(dir))
		req := must(http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, chatURL, strings.NewReader(`{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}`)))
		req.Header.Set("Authorization", "Bearer "+secret)
		_, err := unreachable(t).client().Do(req)
		var miss *cassette.MissError
		if !errors.As(err, &miss) || miss.Nearest != 1 || len(miss.Differences) != 1 {
			t.Fatalf("the error is %v", err)
		}
		if text := miss.Error(); strings.Contains(text, secret[:8]) || strings.Contains(text, secret[len(secret)-8:]) {
			t.Errorf("with %d characters before it, the secret stands in\n%s", shift, text)
		}
		f.end()
	}
}

// The chain of a recorded error shows no secret in the replay, whatever the program wraps it in.
func TestFault120SecretInAnErrorChain(t *testing.T) {
	inner := errors.New("dial with " + canaries[1])
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		return nil, fmt.Errorf("proxy of %s: %w", canaries[2], inner)
	}}
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		_, err := chat(ctx, client, provider, "hi")
		if err == nil {
			t.Fatal("the call was answered")
		}
		for ; replay && err != nil; err = errors.Unwrap(err) {
			checkText(t, err.Error())
			checkText(t, fmt.Sprintf("%+v %#v", err, err))
		}
		_, err = chat(ctx, client, provider, "hi again")
		if replay {
			checkText(t, err.Error())
		}
	})
	f.wantPass()
	g.wantPass()
}

// The text of a miss is for people, however long what it names is.
func TestMissIsShort(t *testing.T) {
	long := strings.Repeat("very long, ", 20_000)
	dir := t.TempDir()
	record(t, dir, "a.json", "hi")
	f := newT(t, "TestRecords")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Extend)
	_, err := asked{url: restURL, body: "x"}.send(s.Context(t.Context()), counting().client())
	if err != nil {
		t.Fatal(err)
	}
	f.end().wantPass()
	for _, a := range []asked{
		{url: chatURL, body: `{"model":"m","messages":[{"content":"` + long + `"}]}`},
		{url: chatURL, body: `{"model":"m","messages":[{"` + long + `":1}],"` + long + `":{"` + long + `":1}}`},
		{url: chatURL, body: `{"model":"` + long + `","messages":[]}`},
		{url: restURL + "/" + url.PathEscape(long), body: "x"},
		{url: restURL + "?" + url.Values{long: {long}}.Encode(), body: "x"},
		{url: restURL, body: long + "\xff"},
		{url: restURL, contentType: "application/x-www-form-urlencoded", body: url.Values{long: {long}}.Encode()},
	} {
		f := newT(t, "TestShort")
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
		_, err := a.send(s.Context(t.Context()), unreachable(t).client())
		var miss *cassette.MissError
		if !errors.As(err, &miss) {
			t.Fatalf("the error is %.2000v", err)
		}
		if n := len(miss.Error()); n > 5_000 {
			t.Errorf("%.80s: the text has %d bytes: %.2000s", a.body, n, miss.Error())
		}
		f.end()
	}
}

// Only when nothing but the order differs does a miss say so, however many differences it shows.
func TestMissOfOrderOnly(t *testing.T) {
	lists := func(n int, list, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"l%04d":%s,`, i, list)
		}
		return `{"model":"m","messages":[],` + b.String() + `"last":` + last + `}`
	}
	for _, tt := range []struct {
		reason         string
		recorded, live string
		want           bool
	}{
		{"one list", lists(1, `[1,2]`, `0`), lists(1, `[2,1]`, `0`), true},
		{"more lists than are shown", lists(20, `[1,2]`, `0`), lists(20, `[2,1]`, `0`), true},
		{"a changed value after more lists than are shown", lists(20, `[1,2]`, `0`), lists(20, `[2,1]`, `1`), false},
		{"a list with another element", lists(1, `[1,2]`, `0`), lists(1, `[3,1]`, `0`), false},
		{"a list in a list", lists(1, `[1,[2,3]]`, `0`), lists(1, `[1,[3,2]]`, `0`), true},
		{"objects in another order", lists(1, `[{"a":1,"b":2},{}]`, `0`), lists(1, `[{},{"b":2,"a":1}]`, `0`), true},
		{"more lists than are looked at", lists(600, `[1,2]`, `0`), lists(600, `[2,1]`, `0`), false},
	} {
		dir := t.TempDir()
		f := newT(t, "TestOrder")
		s := cassette.Use(f, "a.json", cassette.Dir(dir))
		post(t, s.Context(t.Context()), counting().client(), chatURL, tt.recorded)
		f.end().wantPass()
		f = newT(t, "TestOrder")
		s = cassette.Use(f, "a.json", cassette.Dir(dir))
		_, err := tryPost(s.Context(t.Context()), unreachable(t).client(), chatURL, tt.live)
		var miss *cassette.MissError
		if !errors.As(err, &miss) {
			t.Fatalf("%s: the error is %v", tt.reason, err)
		}
		if miss.OrderOnly != tt.want || len(miss.Differences) == 0 || len(miss.Differences) > 5 {
			t.Errorf("%s: order only %v, want %v: %v", tt.reason, miss.OrderOnly, tt.want, err)
		}
		f.end()
	}
}

// A request that was recorded k times and played k times says so, with k.
func TestMissCountsWhatWasPlayed(t *testing.T) {
	for _, tt := range []struct {
		recorded int
		want     string
	}{{1, "was recorded once and has been played once"}, {2, "was recorded 2 times and has been played 2 times"}, {12, "was recorded 12 times and has been played 12 times"}} {
		dir := folder(t)
		record(t, dir, "a.json", slices.Repeat([]string{"same"}, tt.recorded)...)
		f := newT(t, "TestPlayed")
		s := cassette.Use(f, "a.json", cassette.Dir(dir))
		for range tt.recorded {
			ask(t, s.Context(t.Context()), unreachable(t).client(), "same")
		}
		_, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "same")
		var miss *cassette.MissError
		if !errors.As(err, &miss) || miss.Played != tt.recorded || miss.Nearest != 0 || len(miss.Differences) != 0 {
			t.Errorf("the error is %v", err)
		}
		f.wantError(tt.want)
		f.end()
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
