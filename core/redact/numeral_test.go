package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	deltas, err := NewDeltas("$.choices[*].delta.tool_calls[*].function.arguments")
	if err != nil {
		t.Fatal(err)
	}
	rules := []Rule{Field("account"), Field("pin").Opaque(), Path("$.user.id", "$.rows[*].n")}
	for _, tc := range []struct {
		reason, in, want string // d stands for any digit
		places           []string
	}{
		{"a path", `{"user":{"id":1234567}}`, `{"user":{"id":ddddddd}}`, []string{"$.user.id"}},
		{"a sign, a point and an exponent stay", `{"rows":[{"n":-12.50e-3},{"n":0.5},{"n":0}]}`, `{"rows":[{"n":-dd.dde-3},{"n":d.d},{"n":d}]}`,
			[]string{"$.rows[0].n", "$.rows[1].n", "$.rows[2].n"}},
		{"a name of the user's", `{"Account":42,"a":{"account":[1,{"b":2},"x"]}}`, `{"Account":dd,"a":{"account":[d,{"b":2},"<field:FP>"]}}`,
			[]string{"$.Account", "$.a.account[0]"}},
		{"a built-in name hides no number", `{"password":1234,"max_tokens":5}`, `{"password":1234,"max_tokens":5}`, nil},
		{"JSON in a string", `{"a":"{\"user\":{\"id\":7001}}"}`, `{"a":"{\"user\":{\"id\":dddd}}"}`, []string{"$.a $.user.id"}},
		{"true, false and null are no numbers", `{"user":{"id":null},"account":true}`, `{"user":{"id":null},"account":true}`, nil},
		{"events", sse(`{"user":{"id":71}}`, `{"x":1}`, `{"user":{"id":72}}`), sse(`{"user":{"id":dd}}`, `{"x":1}`, `{"user":{"id":dd}}`), []string{"0 $.user.id", "2 $.user.id"}},
		{"arguments in pieces", sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"account\": 12"}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"34}"}}]}}]}`),
			sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"account\": dddd"}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`),
			[]string{"0 $.choices[0].delta.tool_calls[0].function.arguments $.account"}},
	} {
		r := newDefault(t, rules...)
		m := Message{Body: []byte(tc.in), Deltas: deltas}
		r.Message(&m)
		plain := regexp.MustCompile(`:[a-z2-7]{4}>`).ReplaceAllString(string(m.Body), ":FP>")
		var at []string
		for _, p := range m.Numbers {
			if NumberFingerprint(p) == "" {
				t.Errorf("%s: the place %s has no fingerprint", tc.reason, p)
			}
			at = append(at, p[:strings.LastIndexByte(p, ' ')])
		}
		if !matches(tc.want, plain) || !slices.Equal(at, tc.places) {
			t.Errorf("%s: %s, %q; want %s, %q", tc.reason, plain, m.Numbers, tc.want, tc.places)
		}
		if len(tc.places) > 0 && plain == tc.in {
			t.Errorf("%s: nothing was hidden", tc.reason)
		}
		again := Message{Body: m.Body, Numbers: slices.Clone(m.Numbers), Deltas: deltas}
		r.Message(&again)
		if string(again.Body) != string(m.Body) || !slices.Equal(again.Numbers, m.Numbers) {
			t.Errorf("%s: redacted again %s, %q", tc.reason, again.Body, again.Numbers)
		}
		if got := r.Body("", []byte(tc.in)); tc.places != nil && matches(tc.want, string(got)) && string(got) == string(m.Body) {
			t.Errorf("%s: Body, which cannot tell where, hides numbers: %s", tc.reason, got)
		}
	}
}

// matches reports whether text is pattern with digits for its letters d.
func matches(pattern, text string) bool {
	if len(pattern) != len(text) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != text[i] && (pattern[i] != 'd' || !is(text[i], digit)) {
			return false
		}
	}
	return true
}

func TestOtherNumber(t *testing.T) {
	for _, number := range []string{"0", "-0", "0.0", "1e400", "10E+2", "9007199254740993"} {
		for _, fp := range []string{"", "ab", "abcd"} {
			if other := otherNumber([]byte(number), fp); !json.Valid([]byte(other)) || len(other) != len(number) {
				t.Errorf("%s became %s", number, other)
			}
		}
	}
}

// TestNumbersStayApart hides all numbers of a few digits: their placeholders differ, in whatever order they come again.
func TestNumbersStayApart(t *testing.T) {
	recorder := newDefault(t, Field("n"))
	var places []string
	shown := map[string]int{}
	for i := range 1000 {
		m := Message{Body: fmt.Appendf(nil, `{"n":%d}`, i)}
		recorder.Message(&m)
		places = append(places, m.Numbers...)
		again := Message{Body: m.Body, Numbers: m.Numbers, ShowNumbers: true}
		recorder.Message(&again)
		if other, ok := shown[string(again.Body)]; ok {
			t.Fatalf("%d and %d are both %s", other, i, again.Body)
		}
		shown[string(again.Body)] = i
	}
	player := newDefault(t, Field("n"))
	player.KnownNumbers(places...)
	for i := 999; i >= 0; i-- {
		m := Message{Body: fmt.Appendf(nil, `{"n":%d}`, i), ShowNumbers: true}
		player.Message(&m)
		if got, ok := shown[string(m.Body)]; !ok || got != i || m.Numbers != nil {
			t.Fatalf("%d is compared as %s, %q", i, m.Body, m.Numbers)
		}
	}
	opaque := newDefault(t, Field("n").Opaque())
	m := Message{Body: []byte(`{"n":7,"in":"{\"n\":7}"}`), ShowNumbers: true}
	if opaque.Message(&m); string(m.Body) != `{"n":"<number>","in":"{\"n\":<number>}"}` {
		t.Errorf("an opaque number is compared as %s", m.Body)
	}
}

// TestNumbersInside hides numbers in JSON that stands in something else.
func TestNumbersInside(t *testing.T) {
	encoded := func(json string) string { return base64.StdEncoding.EncodeToString([]byte(json)) }
	part := func(header, body string) string { return "--B\r\n" + header + "\r\n\r\n" + body + "\r\n" }
	const multi = "multipart/form-data; boundary=B"
	for _, tc := range []struct {
		reason, contentType, in string
		places                  []string
	}{
		{"a JSON part", multi, part("Content-Type: text/plain", "hi") + part("Content-Type: application/json", `{"account":4711471}`) + "--B--\r\n", []string{"1 $.account"}},
		{"a part without a type", multi, part("X: y", `{"in":"{\"account\":4711471}"}`) + "--B--\r\n", []string{"0 $.in $.account"}},
		{"lines of JSON in a part", multi, part("X: y", "{\"a\":1}\n{\"account\":4711471}") + "--B--\r\n", []string{"0 1 $.account"}},
		{"base64", "", `{"file":"` + encoded(`{"rows":1,"account":4711471}`) + `"}`, []string{"$.file $.account"}},
		{"a data URL", "", `{"file":"data:application/json;base64,` + encoded(`{"rows":1,"account":4711471}`) + `"}`, []string{"$.file $.account"}},
		{"base64 in JSON in a string", "", `{"in":"{\"file\":\"` + encoded(`{"rows":1,"account":4711471}`) + `\"}"}`, []string{"$.in $.file $.account"}},
		{"JSON that is cut", "", `{"account":4711471,"x":["y`, []string{"$.account"}},
		{"a posted form", "application/x-www-form-urlencoded", `a=b&in=%7B%22account%22%3A4711471%7D`, nil},
		{"a posted form without escapes", "application/x-www-form-urlencoded", `in={"account":4711471}`, nil},
		{"strings in a posted form", "application/x-www-form-urlencoded", `in=` + url.QueryEscape(`{"a":"{\"b\":\"{\\\"account\\\":4711471}\"}"}`), nil},
	} {
		r := newDefault(t, Field("account"))
		m := Message{ContentType: tc.contentType, Body: []byte(tc.in)}
		r.Message(&m)
		if bytes.Contains(unwrapped(m.Body), []byte("4711471")) || !bytes.Contains(unwrapped([]byte(tc.in)), []byte("4711471")) {
			t.Errorf("%s: %s shows the number", tc.reason, m.Body)
		}
		var at []string
		for _, p := range m.Numbers {
			at = append(at, strings.TrimSuffix(p, " "+NumberFingerprint(p)))
		}
		if !slices.Equal(at, tc.places) {
			t.Errorf("%s: places %q, want %q", tc.reason, m.Numbers, tc.places)
		}
		again := Message{ContentType: tc.contentType, Body: m.Body, Numbers: slices.Clone(m.Numbers)}
		if r.Message(&again); string(again.Body) != string(m.Body) || !slices.Equal(again.Numbers, m.Numbers) {
			t.Errorf("%s: redacted again %s, %q", tc.reason, again.Body, again.Numbers)
		}
		live, stored := Message{ContentType: tc.contentType, Body: []byte(tc.in), ShowNumbers: true}, again
		stored.ShowNumbers = true
		r.Message(&live)
		if r.Message(&stored); string(live.Body) != string(stored.Body) {
			t.Errorf("%s: compared are %s and %s", tc.reason, live.Body, stored.Body)
		}
	}
}

// unwrapped appends to a body what its base64 and its percent escapes stand for.
func unwrapped(body []byte) []byte {
	all := slices.Concat(body, percentDecoded(body, true))
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/]{16,}=*`).FindAll(body, -1) {
		if text, err := base64.StdEncoding.DecodeString(string(word)); err == nil {
			all = append(all, text...)
		}
	}
	return all
}

// TestNumbersInEscapes compares the placeholders of numbers in a form and in a URL, which parse where the numbers did.
func TestNumbersInEscapes(t *testing.T) {
	r := newDefault(t, Field("account"), Field("pin").Opaque())
	const fp = "redacted-FP"
	plain := regexp.MustCompile(`redacted-[a-z2-7]{2,}`)
	for in, want := range map[string]string{
		`{"account":471147,"x":1}`:                  `{"account":"` + fp + `","x":1}`,
		`{"pin":4711}`:                              `{"pin":"redacted"}`,
		`{"a":"{\"account\":471147}"}`:              `{"a":"{\"account\":\"` + fp + `\"}"}`,
		`{"a":"{\"b\":\"{\\\"account\\\":4.5}\"}"}`: `{"a":"{\"b\":\"{\\\"account\\\":\\\"` + fp + `\\\"}\"}"}`,
	} {
		for _, got := range []string{
			r.URL("https://api.test/x?in=" + url.QueryEscape(in)),
			"https://api.test/x?" + string(r.Body("application/x-www-form-urlencoded", []byte("in="+url.QueryEscape(in)))),
		} {
			u, err := url.Parse(got)
			if err != nil {
				t.Fatal(err)
			}
			if value := plain.ReplaceAllString(u.Query().Get("in"), fp); value != want {
				t.Errorf("%s became %s, want %s", in, value, want)
			}
		}
	}
}

// TestNumbersInOtherSpellings compares one number in its spellings.
func TestNumbersInOtherSpellings(t *testing.T) {
	r := newDefault(t, Field("account"))
	shown := func(number string) string {
		m := Message{Body: []byte(`{"account":` + number + `}`), ShowNumbers: true}
		r.Message(&m)
		return string(m.Body)
	}
	for _, number := range []string{"471147.0", "4.71147e5", "4711470E-1"} {
		if got, want := shown(number), shown("471147"); got != want {
			t.Errorf("%s is compared as %s, 471147 as %s", number, got, want)
		}
	}
	if shown("471148") == shown("471147") {
		t.Error("two numbers are compared as one")
	}
}

// TestNumbersOfNoJSON forgets the places in what begins as JSON only.
func TestNumbersOfNoJSON(t *testing.T) {
	r := newDefault(t, Field("account"))
	m := Message{Body: []byte(`{"account":471147} and more`)}
	if r.Message(&m); len(m.Numbers) != 0 {
		t.Errorf("hidden in what is no JSON: %q", m.Numbers)
	}
}
