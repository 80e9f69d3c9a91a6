package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
)

func TestNumbers(t *testing.T) {
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
	} {
		r := newDefault(t, rules...)
		m := Message{Body: []byte(tc.in)}
		r.Message(&m)
		plain := regexp.MustCompile(`:[a-z2-7]{4}>`).ReplaceAllString(string(m.Body), ":FP>")
		if !matches(tc.want, plain) || !slices.Equal(m.Numbers, tc.places) {
			t.Errorf("%s: %s, %q; want %s, %q", tc.reason, plain, m.Numbers, tc.want, tc.places)
		}
		if len(tc.places) > 0 && plain == tc.in {
			t.Errorf("%s: nothing was hidden", tc.reason)
		}
		again := Message{Body: m.Body, Numbers: slices.Clone(m.Numbers)}
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
	plain, opaque := Field("a"), Field("a").Opaque()
	seen := make(map[string]bool)
	for i := range 2000 {
		number, _ := json.Marshal(1_000_000_000 + i)
		other := otherNumber(&plain, number)
		seen[other] = true
		if len(other) != len(number) || other != otherNumber(&plain, number) || !json.Valid([]byte(other)) {
			t.Fatalf("%s became %s", number, other)
		}
		if otherNumber(&opaque, number) != otherNumber(&opaque, []byte("2000000000")) {
			t.Fatal("an opaque rule tells numbers apart")
		}
	}
	if n := len(seen); n < 500 || n > 1<<10 {
		t.Errorf("2000 numbers became %d: ten bits of each are to be seen", n)
	}
	for _, number := range []string{"0", "-0", "0.0", "1e400", "10E+2", "9007199254740993"} {
		if other := otherNumber(&plain, []byte(number)); !json.Valid([]byte(other)) || len(other) != len(number) {
			t.Errorf("%s became %s", number, other)
		}
	}
}
