package cassette_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// asked is a request and the number of the recording that must answer it, counted from 1; 0 is a miss.
type asked struct {
	url, contentType, body string
	want                   int
}

// send makes the request and returns the answer's text.
func (a asked) send(ctx context.Context, client *http.Client) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, strings.NewReader(a.body))
	if err != nil {
		return "", err
	}
	if a.contentType != "" {
		req.Header.Set("Content-Type", a.contentType)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// counting answers with the number of the request, from 1.
func counting() *network {
	var mu sync.Mutex
	n := 0
	return &network{answer: func(*http.Request, string) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return response(http.StatusOK, "text/plain", fmt.Sprint("answer ", n)), nil
	}}
}

// replays records some requests, each with an answer of its own, and asks for others in a replay: what stands in the
// file is compared with what is live.
func replays(t *testing.T, recorded, live []asked, opts ...cassette.Option) {
	t.Helper()
	dir := folder(t)
	opts = append(opts, cassette.Dir(dir), cassette.AllowUnused())
	f := newT(t, "TestReplays")
	s := cassette.Use(f, "a.json", append(opts, cassette.Record)...)
	client := counting().client()
	for _, a := range recorded {
		if _, err := a.send(s.Context(t.Context()), client); err != nil {
			t.Fatal(err)
		}
	}
	f.end().wantPass()

	for i, a := range live {
		// A session for each, so that what was served before says nothing.
		f := newT(t, "TestReplays")
		s := cassette.Use(f, "a.json", append(opts, cassette.Replay)...)
		text, err := a.send(s.Context(t.Context()), unreachable(t).client())
		switch want := fmt.Sprint("answer ", a.want); {
		case a.want == 0 && err == nil:
			t.Errorf("request %d is answered with %q, and must be a miss: %q", i+1, text, a.body)
		case a.want > 0 && text != want:
			t.Errorf("request %d is answered with %q, %v, want %q: %q", i+1, text, err, want, a.body)
		}
		f.end()
	}
}

const (
	chatURL = provider + "/v1/chat/completions"
	restURL = "https://shop.example.com/v1/orders"
)

func jsonTo(url string) func(body string, want int) asked {
	return func(body string, want int) asked { return asked{url, "application/json", body, want} }
}

// TestSpellingThroughTheFile records each odd JSON once and asks for it in other spellings, and for its neighbours: the
// way through the file changes no value.
func TestSpellingThroughTheFile(t *testing.T) {
	for _, tc := range []struct {
		recorded      string
		same, another []string
		reason        string
	}{
		{`{"n":9007199254740993}`, []string{`{"n":9007199254740993.0}`, `{"n":9.007199254740993e15}`}, []string{`{"n":9007199254740992}`, `{"n":"9007199254740993"}`}, "2^53+1 is itself"},
		{`{"n":1e400}`, []string{`{"n":10E+399}`, `{"n":0.1e401}`}, []string{`{"n":1e401}`, `{"n":1e-400}`}, "beyond float64"},
		{`{"n":-0}`, []string{`{"n":0}`, `{"n":-0.0e9}`}, []string{`{"n":-1}`, `{"n":null}`}, "-0 is 0"},
		{`{"n":1.0}`, []string{`{"n":1}`, `{"n":1e0}`}, []string{`{"n":1.01}`, `{"n":10}`}, "1.0 is 1"},
		{`{"a":1,"a":2,"b":3}`, []string{`{"b":3,"a":1,"\u0061":2}`}, []string{`{"a":2,"a":1,"b":3}`, `{"a":2,"b":3}`}, "members of one name keep their order"},
		{`{"s":"\ud83d"}`, []string{`{"s":"\uD83D"}`}, []string{`{"s":"\ufffd"}`, `{"s":"\ud83e"}`, `{"s":"\ud83d\ude00"}`}, "a lone surrogate is itself"},
		{`{"s":"<a> & \u00e9\/\n"}`, []string{`{"s":"\u003ca\u003e \u0026 é/\u000a"}`}, []string{`{"s":"<a> & e\u0301/\n"}`, `{"s":"<a> & é/ "}`}, "escapes are spelling"},
		{`{"a":{"c":[1,{"e":2,"d":3}],"b":null}}`, []string{" {\n \"a\" : {\"b\":null,\r\n\t\"c\":[1,{\"d\":3,\"e\":2}]}} "}, []string{`{"a":{"c":[{"e":2,"d":3},1],"b":null}}`, `{"a":{"c":[1,{"e":2,"d":3}]}}`}, "order of members and white space are spelling, the order of elements is not"},
		{`{"a":1`, nil, []string{`{ "a":1`, `{"a":1}`}, "what is no JSON is compared by its bytes"},
		{"{\"a\":\"\xff\"}", nil, []string{"{\"a\":\"\xfe\"}", "{\"a\":\"\ufffd\"}"}, "invalid UTF-8 is compared by its bytes"},
		{`1`, []string{` 1.0 `}, []string{`2`, `"1"`}, "a number alone"},
		{``, nil, []string{`{}`, `null`, ` `}, "no body"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			to := jsonTo(restURL)
			live := []asked{to(tc.recorded, 1)}
			for _, body := range tc.same {
				live = append(live, to(body, 1))
			}
			for _, body := range tc.another {
				live = append(live, to(body, 0))
			}
			replays(t, []asked{to(tc.recorded, 0)}, live)
		})
	}
}

// uploadOf is a multipart body of a file's purpose, a JSON part and a text.
func uploadOf(boundary, json, text string) asked {
	var b strings.Builder
	for _, part := range []struct{ head, body string }{
		{"Content-Disposition: form-data; name=\"purpose\"", "batch"},
		{"Content-Disposition: form-data; name=\"options\"\r\nContent-Type: application/json", json},
		{"Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain", text},
	} {
		fmt.Fprintf(&b, "--%s\r\n%s\r\n\r\n%s\r\n", boundary, part.head, part.body)
	}
	return asked{url: restURL, contentType: "multipart/form-data; boundary=" + boundary, body: b.String() + "--" + boundary + "--\r\n"}
}

func wanting(a asked, want int) asked {
	a.want = want
	return a
}

// TestBodiesThatAreNotOneJSON records multipart bodies, forms, JSON lines and bytes.
func TestBodiesThatAreNotOneJSON(t *testing.T) {
	const ann, bob = "ann.lee@bigcorp.io", "bob.ray@bigcorp.io"
	form := func(body string, want int) asked {
		return asked{restURL, "application/x-www-form-urlencoded", body, want}
	}
	lines := func(body string, want int) asked { return asked{restURL, "application/x-ndjson", body, want} }
	raw := func(body string, want int) asked { return asked{restURL, "application/octet-stream", body, want} }
	for _, tc := range []struct {
		reason         string
		recorded, live []asked
	}{
		{"boundaries are made up anew", []asked{uploadOf("aaa", `{"n":1}`, "hello")}, []asked{
			wanting(uploadOf("aaa", `{"n":1}`, "hello"), 1), wanting(uploadOf("another-1", `{"n":1}`, "hello"), 1),
			uploadOf("aaa", `{"n":2}`, "hello"), uploadOf("aaa", `{"n":1}`, "hallo"),
		}},
		{"parts that differ in a hidden value", []asked{uploadOf("a", `{"to":"`+ann+`"}`, "x"), uploadOf("b", `{"to":"`+bob+`"}`, "x")}, []asked{
			wanting(uploadOf("c", `{"to":"`+bob+`"}`, "x"), 2), wanting(uploadOf("d", `{"to":"`+ann+`"}`, "x"), 1),
			uploadOf("a", `{"to":"eve.fox@bigcorp.io"}`, "x"),
		}},
		{"text parts that differ in a hidden value", []asked{uploadOf("a", `{}`, "to "+ann), uploadOf("b", `{}`, "to "+bob)}, []asked{
			wanting(uploadOf("c", `{}`, "to "+bob), 2), wanting(uploadOf("d", `{}`, "to "+ann), 1),
		}},
		{"forms", []asked{form("to=me&n=1&n=2", 0)}, []asked{
			form("to=me&n=1&n=2", 1), form("n=1&to=%6De&n=2", 1), form("n=2&to=me&n=1", 0), form("to=me&n=1", 0), form("to=you&n=1&n=2", 0),
		}},
		{"forms that differ in a hidden value", []asked{form("to="+ann+"&n=1", 0), form("to="+bob+"&n=1", 0)}, []asked{
			form("n=1&to="+bob, 2), form("n=1&to="+strings.Replace(ann, "@", "%40", 1), 1),
		}},
		{"JSON lines", []asked{lines("{\"a\":1}\n{\"b\":2}\n", 0)}, []asked{
			lines("{\"a\":1}\n{\"b\":2}\n", 1), lines("{\"a\":1}\n{\"b\":3}\n", 0), lines("{\"b\":2}\n{\"a\":1}\n", 0), lines("{\"a\":1}\n", 0),
		}},
		{"JSON lines that differ in a hidden value", []asked{lines("{\"a\":1}\n{\"to\":\""+ann+"\"}\n", 0), lines("{\"a\":1}\n{\"to\":\""+bob+"\"}\n", 0)}, []asked{
			lines("{\"a\":1}\n{\"to\":\""+bob+"\"}\n", 2), lines("{\"a\":1}\n{\"to\":\""+ann+"\"}\n", 1),
		}},
		{"paths that differ in a hidden value", []asked{{restURL + "/" + ann + "/x", "", "x", 0}, {restURL + "/" + bob + "/x", "", "x", 0}}, []asked{
			{restURL + "/" + bob + "/x", "", "x", 2}, {restURL + "/" + ann + "/x", "", "x", 1}, {restURL + "/" + ann + "/y", "", "x", 0},
		}},
		{"queries that differ in a hidden value", []asked{{restURL + "?n=1&to=" + ann, "", "x", 0}, {restURL + "?n=1&to=" + bob, "", "x", 0}}, []asked{
			{restURL + "?to=" + bob + "&n=1", "", "x", 2}, {restURL + "?n=1&to=" + ann, "", "x", 1}, {restURL + "?n=1", "", "x", 0},
		}},
		{"bytes", []asked{raw("\x1f\x8b\x00\xff", 0)}, []asked{raw("\x1f\x8b\x00\xff", 1), raw("\x1f\x8b\x00\xfe", 0), raw("", 0)}},
	} {
		t.Run(tc.reason, func(t *testing.T) { replays(t, tc.recorded, tc.live) })
	}
}

// withCalls is the second turn of a conversation in which a model asked for two tools, by the ids of calls and results.
func withCalls(call1, call2, result1, result2 string) string {
	return `{"model":"gpt-5","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"` + call1 + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"` + call2 + `","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"` + result1 + `","content":"one"},{"role":"tool","tool_call_id":"` + result2 + `","content":"two"}],"temperature":0.5}`
}

// TestRulesOnBothSides applies each rule to what is live and to what stands in the file.
func TestRulesOnBothSides(t *testing.T) {
	const base = `{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}},{"type":"text","text":"you"}]}],"tools":[{"name":"f","version":1},{"name":"g","version":1}],"run":"r1"}`
	change := func(body string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(body) }
	dates := regexp.MustCompile(`\d{4}-\d\d-\d\d`)
	on := func(opts ...cassette.Option) []cassette.Option { return opts }
	to := jsonTo(chatURL)
	for _, tc := range []struct {
		reason   string
		options  []cassette.Option
		recorded string
		live     []asked
	}{
		{"ids are renumbered", nil, withCalls("call_a", "call_b", "call_a", "call_b"), []asked{
			to(withCalls("call_x", "call_y", "call_x", "call_y"), 1), to(withCalls("call_b", "call_a", "call_b", "call_a"), 1),
			to(withCalls("call_x", "call_y", "call_y", "call_x"), 0), to(withCalls("call_x", "call_x", "call_x", "call_x"), 0),
		}},
		{"ids are renumbered with MatchMessages", on(cassette.MatchMessages()), withCalls("call_a", "call_b", "call_a", "call_b"), []asked{
			to(change(withCalls("call_x", "call_y", "call_x", "call_y"), "0.5", "0.9"), 1),
			to(change(withCalls("call_x", "call_y", "call_y", "call_x"), "0.5", "0.9"), 0),
			to(change(withCalls("call_x", "call_y", "call_x", "call_y"), "gpt-5", "gpt-4"), 0),
			to(change(withCalls("call_x", "call_y", "call_x", "call_y"), `"temperature"`, `"stream":true,"temperature"`), 0),
		}},
		{"ids are renumbered with Ignore", on(cassette.Ignore("$.messages[0]", "$.temperature")), withCalls("call_a", "call_b", "call_a", "call_b"), []asked{
			to(change(withCalls("call_x", "call_y", "call_x", "call_y"), `"hi"`, `"ho"`, "0.5", "1"), 1),
			to(change(withCalls("call_x", "call_y", "call_y", "call_x"), `"hi"`, `"ho"`, "0.5", "1"), 0),
		}},
		{"Fault63 each element of an array", on(cassette.Ignore("$.messages[*].content[*].cache_control", "$.tools[*].version")), base, []asked{
			to(change(base, `,"cache_control":{"type":"ephemeral"}`, ""), 1),
			to(change(base, `"you"`, `"you","cache_control":{"type":"none"}`, `"version":1`, `"version":2`), 1),
			to(change(base, `"name":"g"`, `"name":"h"`), 0), to(change(base, `,{"name":"g","version":1}`, ""), 0),
		}},
		{"one element of an array", on(cassette.Ignore("$.tools[1].version")), base, []asked{
			to(change(base, `"g","version":1`, `"g","version":2`), 1), to(change(base, `"f","version":1`, `"f","version":2`), 0),
		}},
		{"a normaliser", on(cassette.Normalize(func(r *cassette.Request) { r.Body = dates.ReplaceAll(r.Body, []byte("DATE")) })), change(base, "hi", "today is 2026-09-20"), []asked{
			to(change(base, "hi", "today is 2026-09-21"), 1), to(change(base, "hi", "today is DATE"), 1), to(change(base, "hi", "today is sunny"), 0),
		}},
		{"a normaliser, then ignored paths", on(cassette.Ignore("$.run"), cassette.Normalize(func(r *cassette.Request) { r.Body = bytes.ReplaceAll(r.Body, []byte("walk"), []byte("run")) })), base, []asked{
			to(change(base, `"run":"r1"`, `"walk":"w9"`), 1), to(change(base, `"run":"r1"`, `"jog":"w9"`), 0),
		}},
		{"an ignored model", on(cassette.Ignore("$.model")), base, []asked{to(change(base, "gpt-5", "gpt-4"), 1), to(change(base, "gpt-5", "gpt-4", "hi", "ho"), 0)}},
		{"an ignored model with MatchMessages", on(cassette.Ignore("$['model']"), cassette.MatchMessages()), base, []asked{to(change(base, "gpt-5", "gpt-4", "r1", "r2"), 1), to(change(base, "gpt-5", "gpt-4", "hi", "ho"), 0)}},
		{"a normalised model", on(cassette.Normalize(func(r *cassette.Request) { r.Body = bytes.ReplaceAll(r.Body, []byte("gpt-4"), []byte("gpt-5")) })), base, []asked{to(change(base, "gpt-5", "gpt-4"), 1), to(change(base, "gpt-5", "gpt-3"), 0)}},
		{"a whole body that is ignored", on(cassette.Ignore("$")), base, []asked{to(change(base, "gpt-5", "gpt-4", "hi", "ho"), 1), to(base+"x", 0)}},
		{"a model's neighbours", on(cassette.Ignore("$.models", "$.tools[0].model", "$.metadata.model")), base, []asked{to(change(base, "gpt-5", "gpt-4"), 0)}},
		{"a stream counts, whatever is ignored", on(cassette.Ignore("$.stream", "$.model")), base, []asked{to(change(base, `"run"`, `"stream":false,"run"`), 1), to(change(base, `"run"`, `"stream":true,"run"`), 0)}},
		{"a normaliser that leaves no JSON", on(cassette.Normalize(func(r *cassette.Request) { r.Body = nil })), base, []asked{to(change(base, "hi", "ho"), 1), to(change(base, "gpt-5", "gpt-4"), 0)}},
		{"two normalisers, in their order", on(
			cassette.Normalize(func(r *cassette.Request) { r.Body = bytes.ReplaceAll(r.Body, []byte("aye"), []byte("yes")) }),
			cassette.Normalize(func(r *cassette.Request) { r.Body = bytes.ReplaceAll(r.Body, []byte("yes"), []byte("hi")) }),
		), base, []asked{to(change(base, `"hi"`, `"aye"`), 1), to(change(base, `"hi"`, `"yes"`), 1), to(change(base, `"hi"`, `"no"`), 0)}},
	} {
		t.Run(tc.reason, func(t *testing.T) { replays(t, []asked{to(tc.recorded, 0)}, tc.live, tc.options...) })
	}
	azure := func(deployment string, want int) asked {
		return asked{"https://r1.openai.azure.com/openai/deployments/" + deployment + "/chat/completions", "application/json", `{"messages":[{"role":"user","content":"hi"}]}`, want}
	}
	for _, tc := range []struct {
		reason string
		option cassette.Option
		live   []asked
	}{
		{"a deployment", cassette.AllowErrors(), []asked{azure("dev%2Fann", 1), azure("dev%2Fbob", 0)}},
		{"an ignored deployment", cassette.Ignore("$.model"), []asked{azure("dev%2Fann", 1), azure("dev%2Fbob", 1)}},
		{"a normalised deployment", cassette.Normalize(func(r *cassette.Request) { r.Path = strings.Replace(r.Path, "bob", "ann", 1) }), []asked{azure("dev%2Fbob", 1), azure("dev%2Feve", 0)}},
		{"a path that is none", cassette.Normalize(func(r *cassette.Request) { r.Path = "%zz" }), []asked{azure("dev%2Fann", 1), azure("dev%2Fbob", 0)}},
	} {
		t.Run(tc.reason, func(t *testing.T) { replays(t, []asked{azure("dev%2Fann", 0)}, tc.live, tc.option) })
	}
}

// TestNormalizeSeesPlaceholders shows a normaliser the live request and the recorded one: both as the file has it.
func TestNormalizeSeesPlaceholders(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "write to "+canaries[2])
	var mu sync.Mutex
	var seen []string
	f := newT(t, "TestNormalize")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Normalize(func(r *cassette.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, string(r.Body))
		r.Body = append(r.Body, ' ') // a copy of its own
	}))
	ask(t, s.Context(t.Context()), unreachable(t).client(), "write to "+canaries[2])
	f.end().wantPass()
	if len(seen) != 2 || seen[0] != seen[1] || !strings.Contains(seen[0], "@redacted.invalid") {
		t.Errorf("the normaliser saw %q, want the same twice, with a placeholder", seen)
	}
}

// TestRepeatLastWithRetries repeats what the last call came to, however many attempts it took.
func TestRepeatLastWithRetries(t *testing.T) {
	server := answers(t, 429, 200, 429, 503)
	client := core.Instrument(server.Client())
	dir := t.TempDir()
	for _, tc := range []struct {
		mode     cassette.Mode
		counts   []int
		outcomes []string
	}{
		{cassette.Record, []int{0, 1, 0, 1}, []string{"429 1", "200 2", "429 3", "503 4"}},
		{cassette.Replay, []int{0, 0, 0, 1, 0}, []string{"200 2", "503 4 false", "503 4 false", "503 4 false", "503 4 false"}},
	} {
		t.Run(tc.mode.String(), func(t *testing.T) {
			s := cassette.Use(t, "call", tc.mode, cassette.Dir(dir), cassette.RepeatLast())
			for i, count := range tc.counts {
				if got := attempt(s.Context(t.Context()), client, server.URL, count); got != tc.outcomes[i] {
					t.Errorf("attempt %d comes to %q, want %q", i+1, got, tc.outcomes[i])
				}
			}
		})
	}
}

// conversationOf is the request of a turn: a question and an answer for each turn before, and the last question.
func conversationOf(questions ...string) string {
	var b strings.Builder
	for i, q := range questions {
		if i > 0 {
			fmt.Fprintf(&b, `,{"role":"assistant","content":"answer %d"},`, i)
		}
		fmt.Fprintf(&b, `{"role":"user","content":%q}`, q)
	}
	return `{"model":"gpt-5","messages":[` + b.String() + `]}`
}

// TestHandEditedCassettes edits a conversation in its file: it replays as edited, and what stood there before is asked
// for in vain.
func TestHandEditedCassettes(t *testing.T) {
	dir := folder(t)
	to := jsonTo(chatURL)
	f := newT(t, "TestEdited")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	client := counting().client()
	for _, questions := range [][]string{{"one"}, {"one", "two"}, {"one", "two", "three"}} {
		if _, err := to(conversationOf(questions...), 0).send(s.Context(t.Context()), client); err != nil {
			t.Fatal(err)
		}
	}
	f.end().wantPass()
	original := read(t, dir, "a.json")
	wantText(t, original, `"extends"`)

	for _, tc := range []struct {
		reason   string
		old, new string
		live     asked
		answer   string // "" is a miss
	}{
		{"an answer", "answer 3", "answer three", to(conversationOf("one", "two", "three"), 0), "answer three"},
		{"the request of the last turn", `"three"`, `"drei"`, to(conversationOf("one", "two", "drei"), 0), "answer 3"},
		{"the request of the last turn, as it was", `"three"`, `"drei"`, to(conversationOf("one", "two", "three"), 0), ""},
		{"the model of the last turn", `"model": "gpt-5"`, `"model": "gpt-6"`, to(strings.Replace(conversationOf("one", "two", "three"), "gpt-5", "gpt-6", 1), 0), "answer 3"},
		{"a stream, asked for by hand", `"model": "gpt-5"`, `"stream": true, "model": "gpt-5"`, to(strings.Replace(conversationOf("one", "two", "three"), `"gpt-5"`, `"gpt-5","stream":true`, 1), 0), "answer 3"},
		{"a secret, written in by hand", `"three"`, `"mail jane.roe@bigcorp.io"`, to(conversationOf("one", "two", "mail "+canaries[2]), 0), "answer 3"},
		{"white space", `"three"`, "\n\t\"three\"  ", to(conversationOf("one", "two", "three"), 0), "answer 3"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			edited := replaceLast(original, tc.old, tc.new)
			if edited == original {
				t.Fatalf("the file does not hold %s:\n%s", tc.old, original)
			}
			own := t.TempDir()
			if err := os.WriteFile(filepath.Join(own, "a.json"), []byte(edited), 0o666); err != nil {
				t.Fatal(err)
			}
			f := newT(t, "TestEdited")
			s := cassette.Use(f, "a.json", cassette.Dir(own), cassette.Replay, cassette.AllowUnused())
			got, err := tc.live.send(s.Context(t.Context()), unreachable(t).client())
			if got != tc.answer || (err == nil) != (tc.answer != "") {
				t.Errorf("answered with %q, %v, want %q", got, err, tc.answer)
			}
			f.end()
		})
	}

	// What later turns go on from cannot be edited behind their backs.
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(strings.Replace(original, `"one"`, `"eins"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	f = newT(t, "TestEdited")
	cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
	f.wantError("a.json", "interaction 1", "interaction 2")
	f.end()
}

// replaceLast replaces the last old in s.
func replaceLast(s, old, new string) string {
	i := strings.LastIndex(s, old)
	if i < 0 {
		return s
	}
	return s[:i] + new + s[i+len(old):]
}

// TestCredentialsThatAreLearntLater quotes a credential in a prompt before the program uses it: the file, which is
// written at the end, hides it in both; a replay that has not learnt it yet still finds the call.
func TestCredentialsThatAreLearntLater(t *testing.T) {
	const mine, theirs = "svc9TokenOfMyOwn0123456789", "svc7TokenOfAnother9876543210"
	login := func(ctx context.Context, client *http.Client, token string) {
		req := get(ctx, "https://auth.example.com/login")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("the login: %v", err)
			return
		}
		resp.Body.Close()
	}
	for _, tc := range []struct {
		reason string
		token  string // in the replay
	}{{"the same developer", mine}, {"another developer", theirs}} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := folder(t)
			f := newT(t, "TestLearnt")
			s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
			client := counting().client()
			ask(t, s.Context(t.Context()), client, "use "+mine+" to log in")
			login(s.Context(t.Context()), client, mine)
			f.end().wantPass()
			if text := read(t, dir, "a.json"); strings.Contains(text, mine) || !strings.Contains(text, "<credential>") {
				t.Errorf("the file is\n%s", text)
			}
			f = newT(t, "TestLearnt")
			s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
			client = unreachable(t).client()
			if got := ask(t, s.Context(t.Context()), client, "use "+tc.token+" to log in"); got != "answer 1" {
				t.Errorf("answered with %q", got)
			}
			login(s.Context(t.Context()), client, tc.token)
			f.end().wantPass()
		})
	}
}

// A client that reads a stream as it comes, while it is recorded, sees each event before the next is sent.
func TestFault24StreamsPassWhileRecorded(t *testing.T) {
	server := serve(t, 200, "text/event-stream", chunk("a"), chunk("b"), "data: [DONE]\n\n")
	client := core.Instrument(server.Client())
	s := cassette.Use(t, "call", cassette.Record, cassette.Dir(t.TempDir()))
	v := server.consume(s.Context(t.Context()), client, toEnd) // the server sends an event once the one before was read
	if want := []string{chunk("a"), chunk("b"), "data: [DONE]\n\n"}; v.end != "EOF" || !slices.Equal(v.reads, want) {
		t.Errorf("the client saw %+q", v)
	}
}

// A program sees live values while it records and placeholders in the replay, as the documents say; what it makes of
// either replays.
func TestFault49LiveValuesThenPlaceholders(t *testing.T) {
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		return response(200, "application/json", completion("ask "+canaries[2])), nil
	}}
	var answers [2]string
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client, i := wire.client(), 0
		if replay {
			client, i = unreachable(t).client(), 1
		}
		answers[i] = ask(t, ctx, client, "whom?")
	})
	f.wantPass()
	g.wantPass()
	if !strings.Contains(answers[0], canaries[2]) {
		t.Errorf("live, the answer is %s", answers[0])
	}
	if strings.Contains(answers[1], canaries[2]) || !strings.Contains(answers[1], "@redacted.invalid") {
		t.Errorf("in the replay the answer is %s", answers[1])
	}
}

// Ids that look like secrets survive, in the request, in the answer and in what is asked next.
func TestFault51IDsSurvive(t *testing.T) {
	ids := []string{
		"toolu_01A09q90qw90lq917835lq9", "call_4Zx81mQ4tLw0vB7nRk2Yc6uH", "msg_01XFDUDYJgAACzvnptvVoYEL", "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
		"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "3fa85f64-5717-4562-b3fc-2c963f66afa6",
	}
	quoted := strings.Join(ids, " ")
	answer := completion("ids " + quoted)
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		return response(200, "application/json", answer), nil
	}}
	dir := folder(t)
	f, g := twice(t, dir, func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		for _, prompt := range []string{quoted, "and " + quoted} {
			if got := ask(t, ctx, client, prompt); got != answer {
				t.Errorf("replay %v: the answer is %s", replay, got)
			}
		}
	})
	f.wantPass()
	g.wantPass()
	wantText(t, read(t, dir, "a.json"), ids...)
}

// The clock is part of the recording when the program reads it through core.Call: a replay on another day asks for the
// same.
func TestFault71DatesInRequests(t *testing.T) {
	days := []time.Time{time.Date(2026, 9, 20, 8, 0, 0, 0, time.UTC), time.Date(2026, 9, 21, 8, 0, 0, 0, time.UTC)}
	run := func(now time.Time, clock bool) func(ctx context.Context, client *http.Client) (string, error) {
		return func(ctx context.Context, client *http.Client) (string, error) {
			if clock {
				var err error
				if now, err = core.Call(ctx, "clock", nil, func(context.Context) (time.Time, error) { return now, nil }); err != nil {
					return "", err
				}
			}
			return chat(ctx, client, provider, "Today is "+now.Format(time.DateOnly))
		}
	}
	for _, tc := range []struct {
		reason  string
		clock   bool
		options []cassette.Option
		same    bool
	}{
		{"the date is another tomorrow", false, nil, false},
		{"the clock is recorded", true, nil, true},
		{"the date takes no part", false, []cassette.Option{cassette.Ignore("$.messages[0].content")}, true},
		{"any date is one", false, []cassette.Option{cassette.Normalize(func(r *cassette.Request) {
			r.Body = regexp.MustCompile(`\d{4}-\d\d-\d\d`).ReplaceAll(r.Body, []byte("DATE"))
		})}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var errs []error
			f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
				client, day := answering("x").client(), days[0]
				if replay {
					client, day = unreachable(t).client(), days[1]
				}
				_, err := run(day, tc.clock)(ctx, client)
				errs = append(errs, err)
			}, tc.options...)
			f.wantPass()
			if g.Failed() == tc.same || errs[0] != nil || (errs[1] == nil) != tc.same {
				t.Errorf("errors %v; the replay failed: %v", errs, g.Failed())
			}
		})
	}
}

// A client's new release adds a member: the miss names it, and one rule mends the cassette without a new recording.
func TestFault63ClientAddsAMember(t *testing.T) {
	const before = `{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	after := strings.Replace(before, `"hi"`, `"hi","cache_control":{"type":"ephemeral"}`, 1)
	dir := folder(t)
	f := newT(t, "TestFault63")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	post(t, s.Context(t.Context()), answering("x").client(), chatURL, before)
	f.end().wantPass()
	recorded := read(t, dir, "a.json")

	f = newT(t, "TestFault63")
	s = cassette.Use(f, "a.json", cassette.Dir(dir))
	_, err := tryPost(s.Context(t.Context()), unreachable(t).client(), chatURL, after)
	var miss *cassette.MissError
	if want := (cassette.Difference{Path: "$.messages[0].content[0].cache_control", Live: `{"type":"ephemeral"}`}); !errors.As(err, &miss) || !slices.Equal(miss.Differences, []cassette.Difference{want}) {
		t.Errorf("the miss is %v", err)
	}
	f.end()

	f = newT(t, "TestFault63")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Ignore("$.messages[*].content[*].cache_control"))
	if got := post(t, s.Context(t.Context()), unreachable(t).client(), chatURL, after); got != completion("x") {
		t.Errorf("answered with %s", got)
	}
	f.end().wantPass()
	if read(t, dir, "a.json") != recorded {
		t.Error("the cassette changed")
	}
}

// TestRulesThatChangedInEachKindOfBody records without redaction and replays with it, and the other way round: in each
// kind of body and place of a request, what is hidden on one side only is found, and what differs in it is not.
func TestRulesThatChangedInEachKindOfBody(t *testing.T) {
	const ann, bob, eve = "ann.lee@bigcorp.io", "bob.ray@bigcorp.io", "eve.fox@bigcorp.io"
	for _, tc := range []struct {
		reason string
		of     func(who string) asked
	}{
		{"a prompt", func(who string) asked {
			return asked{url: chatURL, contentType: "application/json", body: `{"model":"m","messages":[{"content":"mail ` + who + ` now"}]}`}
		}},
		{"JSON in a string", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"arguments":"{\"to\":\"` + who + `\",\"n\":1}"}`}
		}},
		{"the name of a member", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"` + who + `":1}`}
		}},
		{"a form", func(who string) asked {
			return asked{url: restURL, contentType: "application/x-www-form-urlencoded", body: "n=1&to=" + who}
		}},
		{"JSON lines", func(who string) asked {
			return asked{url: restURL, contentType: "application/x-ndjson", body: "{\"n\":1}\n{\"to\":\"" + who + "\"}\n"}
		}},
		{"text", func(who string) asked { return asked{url: restURL, contentType: "text/plain", body: "mail " + who} }},
		{"parts", func(who string) asked { return uploadOf("b", `{"to":"`+who+`"}`, "x") }},
		{"the path", func(who string) asked { return asked{url: restURL + "/" + who + "/x", body: "x"} }},
		{"the query", func(who string) asked { return asked{url: restURL + "?n=1&to=" + who, body: "x"} }},
		{"names whose order changes", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"cc":1,"` + who + `":2,"f@bigcorp.io":3,"zoe@bigcorp.io":3}`}
		}},
		{"names of parameters whose order changes", func(who string) asked {
			return asked{url: restURL + "?cc=1&" + who + "=2&f@bigcorp.io=3&zoe@bigcorp.io=3", body: "x"}
		}},
		{"base64", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"file":"` + base64.StdEncoding.EncodeToString([]byte("from: office, to: "+who)) + `"}`}
		}},
		{"a data URL", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"file":"data:text/plain;base64,` + base64.StdEncoding.EncodeToString([]byte("from: office, to: "+who)) + `"}`}
		}},
		{"the host", func(who string) asked {
			return asked{url: "https://ghp_" + who[:1] + "bcdefghijklmnopqrstuvwxyz0123456789.bigcorp.io/x", body: "x"}
		}},
		{"a number", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"n":1,"account":` + numberOf(who) + `}`}
		}},
		{"a number with a point in JSON in a string", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"in":"{\"n\":1,\"account\":` + numberOf(who) + `.50}"}`}
		}},
		{"a number in base64", func(who string) asked {
			return asked{url: restURL, contentType: "application/json", body: `{"file":"` + base64.StdEncoding.EncodeToString([]byte(`{"file":"accounts","account":`+numberOf(who)+`}`)) + `"}`}
		}},
		{"a number and a text in a form", func(who string) asked {
			return asked{url: restURL, contentType: "application/x-www-form-urlencoded", body: "in=" + url.QueryEscape(`{"to":"`+who+`","account":`+numberOf(who)+`,"x":1}`)}
		}},
		{"a number in a part", func(who string) asked { return uploadOf("b", `{"account":`+numberOf(who)+`}`, "x") }},
	} {
		for _, added := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.reason, ", a rule was added ", added), func(t *testing.T) {
				before, after := []cassette.Option{cassette.RedactFields("account")}, []cassette.Option{cassette.NoRedaction()}
				if added {
					before, after = after, before
				}
				dir := t.TempDir()
				use := func(mode cassette.Mode, opts []cassette.Option, client *http.Client, a asked) (string, error) {
					f := newT(t, "TestRules")
					s := cassette.Use(f, "a.json", append(opts, mode, cassette.Dir(dir), cassette.AllowUnused())...)
					text, err := a.send(s.Context(t.Context()), client)
					f.end()
					return text, err
				}
				client := counting().client()
				for i, who := range []string{ann, bob} {
					mode := cassette.Record
					if i > 0 {
						mode = cassette.Extend
					}
					if _, err := use(mode, before, client, tc.of(who)); err != nil {
						t.Fatal(err)
					}
				}
				for who, want := range map[string]string{ann: "answer 1", bob: "answer 2", eve: ""} {
					if got, err := use(cassette.Replay, after, unreachable(t).client(), tc.of(who)); got != want {
						t.Errorf("%s is answered with %q, %v, want %q", who, got, err, want)
					}
				}
			})
		}
	}
}

// numberOf returns a number of a person's own, which is one of a card too.
func numberOf(who string) string {
	return map[byte]string{'a': "4539578763621486", 'b': "6011514433546201", 'e': "4556737586899855"}[who[0]]
}

// A replay that looks for what a rule hid compares the first 64 recordings that were not served, and no more.
func TestRulesThatChangedAreBounded(t *testing.T) {
	var people []string
	for i := range 70 {
		people = append(people, fmt.Sprintf("greet person%d@bigcorp.io", i))
	}
	dir := t.TempDir()
	record(t, dir, "a.json", people...)
	for _, tc := range []struct {
		first  int // how many are asked for before
		ask    int
		found  bool
		reason string
	}{
		{0, 0, true, "the first"},
		{0, 63, true, "the last that is looked at"},
		{0, 64, false, "the first that is not"},
		{6, 69, true, "what was served is not looked at again"},
		{5, 69, false, "but what was not is"},
	} {
		f := newT(t, "TestBounded")
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.NoRedaction(), cassette.AllowUnused())
		client := unreachable(t).client()
		for _, p := range people[:tc.first] {
			ask(t, s.Context(t.Context()), client, p)
		}
		if got, err := chat(s.Context(t.Context()), client, provider, people[tc.ask]); (err == nil) != tc.found || tc.found && got != completion(fmt.Sprint("answer ", tc.ask+1)) {
			t.Errorf("%s: answered with %q, %v", tc.reason, got, err)
		}
		f.end()
	}
}
