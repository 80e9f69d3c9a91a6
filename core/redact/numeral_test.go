package redact

import (
	"encoding/json"
	"fmt"
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
