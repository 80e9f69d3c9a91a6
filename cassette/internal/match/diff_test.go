package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func lines(differences []Difference) string {
	var b strings.Builder
	for _, d := range differences {
		fmt.Fprintf(&b, "%s %s: %s | %s\n", d.Path, d.Change, d.Live, d.Stored)
	}
	return b.String()
}

func TestDiffOfBodies(t *testing.T) {
	m := newMatcher(t, Rules{Ignore: []string{"$.run", "$.messages[0]", "$.drop[1]"}})
	long := strings.Repeat("x", 500)
	for _, tc := range []struct{ live, stored, want, reason string }{
		{`{"a":1,"run":1}`, `{"run":2,"a":1.0}`, "", "the same"},
		{`{"a":[]}`, `{"a":{}}`, "$.a changed: [] | {}\n", "another type, as empty"},
		{`{"a":"` + long[:200] + `","b":1}`, `{"a":"` + long[:200] + `","b":2}`, "$.b changed: 1 | 2\n", "texts of more than 127 bytes"},
		{`{"a":2}`, `{"a":1}`, "$.a changed: 2 | 1\n", "a changed leaf"},
		{`{"a":"x"}`, `{"a":1}`, "$.a changed: \"x\" | 1\n", "another type"},
		{`{"a":{"b":[1,{"c":null}]}}`, `{"a":{"b":[1,{"c":true}]}}`, "$.a.b[1].c changed: null | true\n", "further in"},
		{`{"a":1,"b":{"x": 1}}`, `{"a":1}`, "$.b added: {\"x\":1} | \n", "an added member (FAULTS 63)"},
		{`{"a":1}`, `{"a":1,"odd key":[]}`, "$['odd key'] missing:  | []\n", "a missing member"},
		{`{"a":1,"a":2}`, `{"a":1,"a":3}`, "$.a changed: 2 | 3\n", "the second member of one name"},
		{`{"a":[1,2,3]}`, `{"a":[3,1,2]}`, "$.a reordered: [1,2,3] | [3,1,2]\n", "elements in another order"},
		{`{"a":[1,2,3,4]}`, `{"a":[1,3,4]}`, "$.a[1] added: 2 | \n", "an element put in"},
		{`{"a":[1,4]}`, `{"a":[1,2,3,4]}`, "$.a[1] missing:  | 2\n$.a[2] missing:  | 3\n", "elements left out"},
		{`{"drop":[1,0,3]}`, `{"drop":[1,9,4]}`, "$.drop[2] changed: 3 | 4\n", "elements left out are counted"},
		{`{"messages":["s","a"]}`, `{"messages":["t","b"]}`, "$.messages[1] changed: \"a\" | \"b\"\n", "messages left out are counted"},
		{`{"p":"name: a\nage: 3\n"}`, `{"p":"age: 3\nname: a\n"}`, `$.p reordered: "name: a\nage: 3\n" | "age: 3\nname: a\n"` + "\n", "a prompt built from a map"},
		{`{"p":"a  b"}`, `{"p":"a b"}`, "$.p changed: \"a  b\" | \"a b\"\n", "white space is no order"},
		{`{"p":"ab"}`, `{"p":"ba"}`, "$.p changed: \"ab\" | \"ba\"\n", "letters of one word are no order"},
		{`{"p":"` + long + `A` + long + `"}`, `{"p":"` + long + `B` + long + `"}`,
			`$.p changed: "…` + long[:40] + `A` + long[:79] + `…" | "…` + long[:40] + `B` + long[:79] + `…"` + "\n", "long texts are cut round the first difference"},
		{`{"p":"\u001b[2J\u202e"}`, `{"p":""}`, `$.p changed: "\x1b[2J\u202e" | ""` + "\n", "control characters are escaped"},
		{"\x1b\u202e\xff", ``, `body at byte 0 changed: "\x1b\u202e\xff" | ""` + "\n", "control characters in what is no JSON are escaped"},
		{`{"\u001b":1}`, `{}`, "$['\\u001b'] added: 1 | \n", "control characters in names are escaped"},
		{"{\"a\u202eb\":1}", `{}`, "$['a\\u202eb'] added: 1 | \n", "characters that do not print in names are escaped"},
		{"{\"p\":[\"\u202e\"]}", `{}`, "$.p added: [\"\\u202e\"] | \n", "control characters in raw values are escaped"},
		{`{"p":"<email:abcd> x"}`, `{"p":"<phone:abcd> y"}`, "$.p changed: \"<email:abcd> x\" | \"<phone:abcd> y\"\n", "placeholders are shown as they stand"},
		{`{"` + long[:390] + `":{"b":1}}`, `{"` + long[:390] + `":{"b":2}}`, "$." + long[:390] + ".b changed: 1 | 2\n", "a long path is whole"},
		{`{"` + long + `":1}`, `{}`, "$." + long[:398] + "… added: 1 | \n", "a name that is a text is cut"},
		{`[1]`, `{"a":1}`, "$ changed: [1] | {\"a\":1}\n", "the whole value"},
		{turns("a", "b", "a", "b"), turns("a", "b", "b", "a"), "$.messages[2].tool_call_id changed: \"a\" (id 1) | \"b\" (id 2)\n$.messages[3].tool_call_id changed: \"b\" (id 2) | \"a\" (id 1)\n", "swapped results"},
		{`oops`, `{"a":1}`, "body at byte 0 changed: \"oops\" | \"{\\\"a\\\":1}\"\n", "no JSON against JSON"},
		{`please go now`, `please now go`, "body at byte 7 reordered: \"please go now\" | \"please now go\"\n", "words of text in another order"},
		{`some é`, `some è`, "body at byte 5 changed: \"some é\" | \"some è\"\n", "text differs at a whole character"},
		{``, `{}`, "body at byte 0 changed: \"\" | \"{}\"\n", "no body"},
	} {
		got := lines(m.Diff(chat(t, tc.live), chat(t, tc.stored), 10))
		if got != tc.want {
			t.Errorf("%s: got\n%swant\n%s", tc.reason, got, tc.want)
		}
	}
}

func TestDiffOfRequests(t *testing.T) {
	m := newMatcher(t, Rules{})
	for _, tc := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Provider = "groq" }, "provider changed: \"openai\" | \"groq\"\n"},
		{func(r *Request) { r.Model = "o1" }, "model changed: \"gpt-4o\" | \"o1\"\n"},
		{func(r *Request) { r.Streamed = true }, "stream changed: asks for a plain answer | asks for a stream\n"},
		{func(r *Request) { r.Method = "PUT" }, "method changed: \"POST\" | \"PUT\"\n"},
		{func(r *Request) { r.Query = "v=2&key=s" }, "query.v changed: \"1\" | \"2\"\n"},
		{func(r *Request) { r.Query = "v=1&%zz" }, "query.%zz missing:  | \"\"\n"},
		{func(r *Request) { r.Query = "v=1&%ff=%ff" }, "query.\\xff missing:  | \"\\xff\"\n"},
		{func(r *Request) { r.Query = "" }, "query.v added: \"1\" | \n"},
		{func(r *Request) { r.Query = "v=1&w=a%0Ab" }, "query.w missing:  | \"a\\nb\"\n"},
		{func(r *Request) { r.Host = "elsewhere.test" }, ""},
	} {
		live, stored := chat(t, `{"messages":[]}`), chat(t, `{"messages":[]}`)
		live.Query, stored.Query = "v=1", "v=1"
		tc.change(stored)
		if got := lines(m.Diff(live, stored, 10)); got != tc.want {
			t.Errorf("got\n%swant\n%s", got, tc.want)
		}
	}

	live, stored := chat(t, `{"model":"gpt-4o"}`), chat(t, `{"model":"o1"}`)
	stored.Model = "o1"
	if got, want := lines(m.Diff(live, stored, 10)), "$.model changed: \"gpt-4o\" | \"o1\"\n"; got != want {
		t.Errorf("a model that the bodies name: got\n%swant\n%s", got, want)
	}
	live, stored = &Request{Query: "%zz"}, &Request{Query: "%25zz"}
	if got, want := lines(m.Diff(live, stored, 10)), "query.%zz added: \"\" | \nquery.%zz missing:  | \"\"\n"; got != want {
		t.Errorf("a wrong escape: got\n%swant\n%s", got, want)
	}
	live, stored = &Request{Kind: "http", Host: "a.test", Path: "/x"}, &Request{Kind: "http", Host: "b.test:1", Path: "/y"}
	if got, want := lines(m.Diff(live, stored, 10)), "host changed: \"a.test\" | \"b.test:1\"\npath changed: \"/x\" | \"/y\"\n"; got != want {
		t.Errorf("host and path of an unknown format: got\n%swant\n%s", got, want)
	}
	live = &Request{Kind: "http", ContentType: "multipart/mixed; boundary=a", Body: []byte("--a\n1\n--a\nx\n--a--")}
	stored = &Request{Kind: "http", ContentType: "multipart/mixed; boundary=bb", Body: []byte("--bb\n1\n--bb\ny\n--bb--")}
	if got, want := lines(m.Diff(live, stored, 10)), "body part 2 at byte 1 changed: \"\\nx\\n\" | \"\\ny\\n\"\n"; got != want {
		t.Errorf("parts: got\n%swant\n%s", got, want)
	}
	stored = &Request{Kind: "http", ContentType: "multipart/mixed; boundary=c", Body: []byte("--c\n1\n--c--")}
	if got, want := lines(m.Diff(live, stored, 10)), "body part 2 at byte 0 changed: \"\\nx\\n\" | \"--\"\nbody changed: 4 parts | 3 parts\n"; got != want {
		t.Errorf("number of parts: got\n%swant\n%s", got, want)
	}
	live = &Request{Kind: "http", ContentType: "text/plain", Body: stored.Body}
	if got, want := lines(m.Diff(live, stored, 10)), "content type changed: \"text/plain\" | \"multipart/mixed; boundary=c\"\n"; got != want {
		t.Errorf("the same bytes read in two ways: got\n%swant\n%s", got, want)
	}
	const form = "application/x-www-form-urlencoded"
	live, stored = &Request{ContentType: form, Body: []byte("a=1&b=2")}, &Request{ContentType: form, Body: []byte("b=3&a=1&%zz")}
	if got, want := lines(m.Diff(live, stored, 10)), "form.%zz missing:  | \"\"\nform.b changed: \"2\" | \"3\"\n"; got != want {
		t.Errorf("form: got\n%swant\n%s", got, want)
	}
}

func TestDiffKeepsItsLimit(t *testing.T) {
	m := newMatcher(t, Rules{})
	live, stored := chat(t, `{"a":1,"b":1,"c":[1,2,3],"d":1}`), chat(t, `{"a":2,"b":2,"c":[4,5],"d":2}`)
	for limit := range 8 {
		if got := m.Diff(live, stored, limit); len(got) != min(limit, 6) {
			t.Errorf("limit %d: %d differences", limit, len(got))
		}
	}
}

// FuzzDiff checks that two requests differ somewhere exactly when their keys do, under several rules.
func FuzzDiff(f *testing.F) {
	var matchers []*Matcher
	for _, rules := range []Rules{{}, {MessagesOnly: true}, {Ignore: []string{"$.messages[1]", "$.n", "$.messages[*].a"}}} {
		matchers = append(matchers, newMatcher(f, rules))
	}
	for seed := range uint64(100) {
		f.Add(seed, "", "", "", "a=1&b", "b&a=1")
		f.Add(seed, "{--a", "multipart/x; boundary=a", "application/x-www-form-urlencoded", "%zz", "%25zz")
	}
	f.Fuzz(func(t *testing.T, seed uint64, body, contentType1, contentType2, query1, query2 string) {
		r := rand.New(rand.NewPCG(seed, 0))
		v := []field{{"messages", randomValue(r, 3)}, {"n", randomValue(r, 2)}, {"reply_to", randomText(r)}}
		a := chat(t, string(spell(nil, r, v)))
		if r.IntN(2) == 0 {
			v = changed(r, v).([]field)
		}
		b := chat(t, string(spell(nil, r, v)))
		if body != "" {
			b.Body = []byte(body)
			switch r.IntN(3) {
			case 0:
				a.Body = append([]byte(body), body...)
			case 1:
				a.Body = []byte(body)
			}
		}
		a.ContentType, b.ContentType = contentType1, contentType2
		a.Query, b.Query = query1, query2
		for i, m := range matchers {
			differences := m.Diff(a, b, 5)
			if same := m.Key(a) == m.Key(b); same != (len(differences) == 0) {
				t.Errorf("rules %d: same = %v, and differences\n%sof\n%q\n%q", i, same, lines(differences), a.Body, b.Body)
			}
			for _, d := range differences {
				for _, s := range []string{d.Path, d.Live, d.Stored} {
					if !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' }) {
						t.Errorf("%q does not print", s)
					}
				}
			}
		}
	})
}
