package match

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// fingerprints is a stand-in for the redactor's: it turns "<rule:abcd>" into a token that no text holds.
func fingerprints(dst, s []byte) []byte {
	for {
		at := placeholder.FindSubmatchIndex(s)
		if at == nil {
			return append(dst, s...)
		}
		dst = append(dst, s[:at[0]]...)
		dst = append(append(append(dst, 0xFF), s[at[2]:at[3]]...), 0xFF)
		s = s[at[1]:]
	}
}

var placeholder = regexp.MustCompile(`<[a-z]+:([a-z2-7]{2,52})>`)

func newMatcher(t testing.TB, rules Rules) *Matcher {
	t.Helper()
	if rules.Fingerprint == nil {
		rules.Fingerprint = fingerprints
	}
	if rules.Credential == nil {
		rules.Credential = func(name string) bool { return name == "key" }
	}
	m, err := New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newLayout(t testing.TB, messages string, ids ...string) *Layout {
	t.Helper()
	l, err := NewLayout(messages, ids...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func chatLayout(t testing.TB) *Layout {
	return newLayout(t, "messages", "$.messages[*].tool_calls[*].id", "$.messages[*].tool_call_id", "$.reply_to")
}

func chat(t testing.TB, body string) *Request {
	return &Request{
		Kind: "llm", Provider: "openai", Format: "openai.chat", Operation: "chat", Model: "gpt-4o", Method: "POST",
		Host: "api.openai.com", Path: "/v1/chat/completions", ContentType: "application/json",
		Body: []byte(body), Layout: chatLayout(t),
	}
}

func TestFault65And67And109KeyOfBodies(t *testing.T) {
	m := newMatcher(t, Rules{})
	for _, tc := range []struct {
		a, b   string
		same   bool
		reason string
	}{
		{`{"a":1,"b":2}`, ` { "b" : 2 , "a" : 1 } `, true, "member order and white space are spelling"},
		{`{"a":1,"\u0061":2}`, `{"a":2,"a":1}`, false, "members of one name keep their order"},
		{`{"b":0,"a":1,"a":2}`, `{"a":1,"a":2,"b":0}`, true, "members of one name keep their order when others move"},
		{`{"a":{"c":1,"b":[{"e":1,"d":2}]}}`, `{"a":{"b":[{"d":2,"e":1}],"c":1}}`, true, "members inside members are sorted too"},
		{`[1,2]`, `[2,1]`, false, "the order of elements counts"},
		{`{"p":"\u003ca\u003e \u0026 b"}`, `{"p":"<a> & b"}`, true, "escapes are spelling (FAULTS 65)"},
		{`"\ud83d\ude00"`, `"😀"`, true, "a pair of surrogates is one character"},
		{`"\ud83d"`, `"\ufffd"`, false, "a lone surrogate is not U+FFFD"},
		{`"\ud83d"`, `"\ud83e"`, false, "two lone surrogates differ"},
		{`"e\u0301"`, `"\u00e9"`, false, "Unicode forms are not folded"},
		{`1`, `1.0`, true, "one number"},
		{`1`, `1e0`, true, "one number"},
		{`100`, `1E+2`, true, "one number"},
		{`0.001`, `1e-3`, true, "one number"},
		{`-0`, `0`, true, "-0 is 0"},
		{`-0.0e7`, `0`, true, "-0 is 0, whatever its exponent"},
		{`-1`, `1`, false, "the sign counts"},
		{`9007199254740993`, `9007199254740992`, false, "2^53+1 is itself (FAULTS 67)"},
		{`1e400`, `1e401`, false, "numbers beyond float64 differ"},
		{`1e400`, `10e399`, true, "numbers beyond float64 are compared by value"},
		{`1e-400`, `0`, false, "numbers below float64 are not 0"},
		{`1e999999999999999999999`, `10e999999999999999999998`, true, "exponents beyond int64"},
		{`1e999999999999999999999`, `1e999999999999999999998`, false, "exponents beyond int64"},
		{`"1"`, `1`, false, "a string is no number"},
		{`null`, `false`, false, "null is not false"},
		{`{}`, `[]`, false, "an object is no array"},
		{`{"a":null}`, `{}`, false, "null is not absent"},
		{`{"a":[]}`, `{"a":[[]]}`, false, "nesting counts"},
		{`["ab","c"]`, `["a","bc"]`, false, "strings do not run into each other"},
		{`[12,3]`, `[1,23]`, false, "numbers do not run into each other"},
		{``, `null`, false, "no body is not null"},
		{``, ` `, false, "what is no JSON is compared by its bytes"},
		{`{"a":1`, `{ "a":1`, false, "what is no JSON is compared by its bytes"},
		{"\"\xff\"", "\"\xfe\"", false, "invalid UTF-8 is no JSON (FAULTS 68)"},
		{"\"\xff\"", `"\ufffd"`, false, "invalid UTF-8 is not U+FFFD"},
		{`"<email:abcd>"`, `"<phone:abcd>"`, true, "a placeholder is its fingerprint alone"},
		{`"\u003cemail:abcd>"`, `"<phone:abcd>"`, true, "a placeholder may be escaped"},
		{`"<email:abcd>"`, `"<email:abce>"`, false, "two fingerprints are two values"},
		{`{"<email:abcd>":1,"z":2}`, `{"z":2,"<name:abcd>":1}`, true, "placeholders in names"},
		{`id <email:abcd>`, `id <phone:abcd>`, true, "placeholders in plain text"},
		{strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat("[", 1001) + " " + strings.Repeat("]", 1001), false, "nested too deeply is no JSON"},
		{strings.Repeat("[", 999) + strings.Repeat("]", 999), strings.Repeat("[", 999) + " " + strings.Repeat("]", 999), true, "nested as deeply as allowed"},

		{`{"messages":["a","b"]}`, `{"messages":["b","a"]}`, false, "the order of messages counts"},
		{`{"messages":["a"]}`, `{"messages":["a","a"]}`, false, "the number of messages counts (FAULTS 55)"},
		{`{"messages":[]}`, `{}`, false, "no message is not no list"},
		{`{"messages":[]}`, `{"messages":null}`, false, "no message is not null"},
		{`{"messages":[{"a":1,"b":2}],"n":1}`, `{"n":1,"messages":[{"b":2,"a":1}]}`, true, "messages are compared by value"},
		{`{"x":{"messages":["a"]}}`, `{"x":{"messages":["b"]}}`, false, "only the top-level list is a chain"},

		{turns("c1", "c2", "c1", "c2"), turns("x", "y", "x", "y"), true, "ids made up anew"},
		{turns("c1", "c2", "c1", "c2"), turns("c1", "c2", "c2", "c1"), false, "swapped results"},
		{turns("c1", "c2", "c1", "c2"), turns("c1", "c1", "c1", "c1"), false, "one id for two calls"},
		{turns("c1", "c2", "c1", "c3"), turns("x", "y", "x", "z"), true, "an id that appears nowhere else is numbered"},
		{turns("c1", "c2", "c1", "c3"), turns("c1", "c2", "c1", "c2"), false, "an id that appears nowhere else is not the second"},
		{`{"messages":[{"tool_call_id":"a"}]}`, `{"messages":[{"tool_call_id":1}]}`, false, "a number in an id's place is a number"},
		{`{"messages":[{"id":"a"}]}`, `{"messages":[{"id":"b"}]}`, false, "an id elsewhere counts (FAULTS 109)"},
		{`{"reply_to":"b","messages":[{"tool_call_id":"a"},{"tool_call_id":"b"}]}`, `{"messages":[{"tool_call_id":"a"},{"tool_call_id":"b"}],"reply_to":"b"}`, true, "ids are numbered in canonical order"},
		{`{"reply_to":"b","messages":[{"tool_call_id":"a"},{"tool_call_id":"b"}]}`, `{"messages":[{"tool_call_id":"a"},{"tool_call_id":"b"}],"reply_to":"a"}`, false, "an id outside the list"},
		{`{"messages":[{"tool_calls":[{"id":"a"}],"tool_call_id":"b"}]}`, `{"messages":[{"tool_call_id":"b","tool_calls":[{"id":"a"}]}]}`, true, "ids are numbered in canonical order inside a message"},
	} {
		a, b := m.Key(chat(t, tc.a)), m.Key(chat(t, tc.b))
		if (a == b) != tc.same {
			t.Errorf("same(%.80s, %.80s) = %v, want %v: %s", tc.a, tc.b, a == b, tc.same, tc.reason)
		}
	}
}

// turns is a conversation with two tool calls and their results, by their ids.
func turns(call1, call2, result1, result2 string) string {
	return `{"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","tool_calls":[{"id":"` + call1 + `","n":1},{"id":"` + call2 + `","n":2}]},` +
		`{"role":"tool","tool_call_id":"` + result1 + `","content":"one"},{"role":"tool","tool_call_id":"` + result2 + `","content":"two"}]}`
}

func TestFault73And111KeyOfRequests(t *testing.T) {
	m := newMatcher(t, Rules{})
	base := func() *Request {
		r := chat(t, `{"messages":["a"]}`)
		r.Query = "api-version=1&x=a"
		return r
	}
	other := func() *Request {
		return &Request{Kind: "http", Method: "GET", Host: "api.example.com", Path: "/v1/items"}
	}
	for _, tc := range []struct {
		of     func() *Request
		change func(*Request)
		same   bool
		reason string
	}{
		{base, func(r *Request) { r.Kind = "http" }, false, "the kind counts"},
		{base, func(r *Request) { r.Provider = "groq" }, false, "the provider counts"},
		{base, func(r *Request) { r.Format = "openai.responses" }, false, "the format counts"},
		{base, func(r *Request) { r.Operation = "embeddings" }, false, "the operation counts"},
		{base, func(r *Request) { r.Model = "gpt-4o-mini" }, false, "the model counts, wherever it stands"},
		{base, func(r *Request) { r.Streamed = true }, false, "a stream is not a plain answer (FAULTS 111)"},
		{base, func(r *Request) { r.Method = "PUT" }, false, "the method counts"},
		{base, func(r *Request) { r.Host, r.Path = "r1.openai.azure.com", "/x" }, true, "host and path of a known format are left out (FAULTS 73)"},
		{base, func(r *Request) { r.Query = "x=a&api-version=1" }, true, "the order of parameters is spelling"},
		{base, func(r *Request) { r.Query = "x=%61&&key=secret&api-version=1" }, true, "escapes and credentials in the query"},
		{base, func(r *Request) { r.Query = "x=a&api-version=2" }, false, "the query counts"},
		{base, func(r *Request) { r.Query = "x=a&x=a&api-version=1" }, false, "a parameter given twice"},
		{base, func(r *Request) { r.Query = "" }, false, "no query"},
		{base, func(r *Request) { r.ContentType = "application/json; charset=utf-8" }, true, "headers are left out"},
		{base, func(r *Request) { r.Query += "&z=%zz" }, false, "a wrong escape counts"},

		{other, func(r *Request) { r.Host = "API.example.com" }, true, "host names have no case"},
		{other, func(r *Request) { r.Host = "api.example.org" }, false, "the host of another format counts"},
		{other, func(r *Request) { r.Host = "api.example.com:8443" }, false, "the port of another host counts"},
		{other, func(r *Request) { r.Path = "/v1/Items" }, false, "the path of another format counts"},
	} {
		a, b := tc.of(), tc.of()
		tc.change(b)
		if same := m.Key(a) == m.Key(b); same != tc.same {
			t.Errorf("same = %v, want %v: %s", same, tc.same, tc.reason)
		}
	}

	q := func(query string) Hash { r := other(); r.Query = query; return m.Key(r) }
	if q("a=1&a=2") == q("a=2&a=1") {
		t.Error("values of one parameter must keep their order")
	}
	if q("a=%zz") == q("a=%25zz") || q("%zz") == q("%25zz") {
		t.Error("a wrong escape must not equal its right spelling")
	}
	if q("a=b%26c=d") == q("a=b&c=d") {
		t.Error("an escaped ampersand must not part parameters")
	}
	if m.Key(&Request{Kind: "tool", Operation: "get", Body: []byte(`{"id":1}`)}) == m.Key(&Request{Kind: "tool", Operation: "get", Body: []byte(`{"id":2}`)}) {
		t.Error("get(id=1) must not equal get(id=2) (FAULTS 109)")
	}
}

func TestLoopbackHostsAreOne(t *testing.T) {
	m := newMatcher(t, Rules{})
	key := func(host string) Hash {
		return m.Key(&Request{Kind: "http", Method: "GET", Host: host, Path: "/"})
	}
	for _, host := range []string{"127.0.0.1", "127.0.0.1:8080", "127.3.2.1:1", "localhost:3", "LocalHost", "[::1]:9", "[::1]", "::1", "[::ffff:127.0.0.1]:80", "app.localhost:80"} {
		if key(host) != key("localhost") {
			t.Errorf("%s is not taken for this machine", host)
		}
	}
	for _, host := range []string{"128.0.0.1", "localhost.example.com", "notlocalhost", "[::2]:80", "10.0.0.1:8080", ""} {
		if key(host) == key("localhost") {
			t.Errorf("%s is taken for this machine", host)
		}
	}
	if key("10.0.0.1:1") == key("10.0.0.1:2") {
		t.Error("a port of another machine must count")
	}
}

func TestFault68BodiesThatAreNotJSON(t *testing.T) {
	m := newMatcher(t, Rules{})
	key := func(contentType, body string) Hash {
		return m.Key(&Request{Kind: "http", Method: "POST", Host: "h.test", ContentType: contentType, Body: []byte(body)})
	}
	upload := func(boundary, content string) (string, string) {
		return `multipart/form-data; boundary="` + boundary + `"`,
			"--" + boundary + "\r\nContent-Disposition: form-data; name=f\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n"
	}
	const form = "application/x-www-form-urlencoded"
	for _, tc := range []struct {
		a, b   Hash
		same   bool
		reason string
	}{
		{key(upload("b1", "x")), key(upload("other", "x")), true, "boundaries are made up anew"},
		{key(upload("b1", "x")), key(upload("b1", "y")), false, "parts count"},
		{key(upload("b1", "\xff\x00")), key(upload("b2", "\xff\x00")), true, "binary parts"},
		{key(upload("b1", "\xff\x00")), key(upload("b2", "\xff\x01")), false, "binary parts count"},
		{key(upload("b1", "<key:abcd>")), key(upload("b2", "<token:abcd>")), true, "placeholders in parts"},
		{key("text/plain", "--b1\r\n"), key("text/plain", "--b2\r\n"), false, "only multipart bodies have boundaries"},
		{key(form, "a=1&b=2"), key(form, "b=2&a=1"), true, "fields of a form are compared by name (FAULTS 53)"},
		{key(form, "a=1&b=2"), key(form, "a=1&b=3"), false, "fields of a form count"},
		{key(form, "key=1"), key(form, "key=2"), false, "a form's fields are never left out"},
		{key("text/plain", "a=1&b=2"), key("text/plain", "b=2&a=1"), false, "text is compared by its bytes"},
		{key(form, `{"a":1}`), key("", `{ "a":1}`), true, "JSON is told by itself, not by its header"},
		{key("", "\xff"), key("", "\xfe"), false, "bytes count"},
		{key("", "a"), key("", `"a"`), false, "text is no JSON string"},
		{key("multipart/form-data", "a"), key("", "a"), true, "a multipart type without a boundary says nothing"},
	} {
		if (tc.a == tc.b) != tc.same {
			t.Errorf("same = %v, want %v: %s", tc.a == tc.b, tc.same, tc.reason)
		}
	}
}

func TestFault63Ignore(t *testing.T) {
	m := newMatcher(t, Rules{Ignore: []string{"$.metadata.run_id", "$.messages[*].content[*].cache_control", "$.messages[0]", "$.tags[1]"}})
	for _, tc := range []struct {
		a, b   string
		same   bool
		reason string
	}{
		{`{"metadata":{"run_id":1,"x":2}}`, `{"metadata":{"x":2}}`, true, "a member is left out"},
		{`{"metadata":{"run_id":1}}`, `{}`, false, "what holds it is not"},
		{`{"run_id":1}`, `{"run_id":2}`, false, "a bare name elsewhere counts"},
		{`{"tags":[1,2,3]}`, `{"tags":[1,9,3]}`, true, "an element is left out"},
		{`{"tags":[1,2,3]}`, `{"tags":[1,2]}`, false, "the others keep their places"},
		{`{"messages":["sys","a"]}`, `{"messages":[{"x":[1]},"a"]}`, true, "a message is left out"},
		{`{"messages":["sys","a"]}`, `{"messages":["sys","b"]}`, false, "other messages count"},
		{`{"messages":[0,{"content":[{"text":"a","cache_control":{"type":"ephemeral"}}]}]}`, `{"messages":[0,{"content":[{"text":"a"}]}]}`, true, "FAULTS 63"},
		{`{"messages":[{"tool_call_id":"z"},{"tool_call_id":"a"},{"tool_call_id":"z"}]}`, `{"messages":[0,{"tool_call_id":"x"},{"tool_call_id":"y"}]}`, true, "ids in what is left out take no number"},
		{`{"metadata":{"run_id":1}`, `{"metadata":{"run_id":2}`, false, "what is no JSON has no paths"},
		{`{"metadata":{"run_id":[1`, `{"metadata":{"run_id":[2`, false, "what is no JSON, in what is left out"},
		{`{"tags":[0,1x`, `{"tags":[0,2x`, false, "what is no JSON, in what is left out"},
		{`{"messages":[{"a":[1`, `{"messages":[{"a":[2`, false, "what is no JSON, in what is left out"},
		{`{"messages":[x`, `{"messages":[y`, false, "what is no JSON, in what is left out"},
	} {
		if same := m.Key(chat(t, tc.a)) == m.Key(chat(t, tc.b)); same != tc.same {
			t.Errorf("same(%s, %s) = %v, want %v: %s", tc.a, tc.b, same, tc.same, tc.reason)
		}
	}

	all := newMatcher(t, Rules{Ignore: []string{"$"}})
	if all.Key(chat(t, `1`)) != all.Key(chat(t, `[2]`)) {
		t.Error("$ must leave out the whole of a JSON body")
	}
	if all.Key(chat(t, `1`)) == all.Key(chat(t, `[2`)) {
		t.Error("$ must not leave out what is no JSON")
	}
	if _, err := New(Rules{Ignore: []string{"$.a", "b..c"}}); err == nil || !strings.Contains(err.Error(), "b..c") {
		t.Errorf("a wrong path gives %v, which does not name it", err)
	}
	if _, err := NewLayout("messages", "nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a wrong id path gives %v, which does not name it", err)
	}
}

func TestMessagesOnly(t *testing.T) {
	m := newMatcher(t, Rules{MessagesOnly: true})
	for _, tc := range []struct {
		a, b   string
		change func(*Request)
		same   bool
		reason string
	}{
		{`{"messages":["a"],"temperature":0}`, `{"messages":["a"],"tools":[]}`, nil, true, "parameters are left out"},
		{`{"messages":["a"]}`, `{"messages":["b"]}`, nil, false, "messages count"},
		{`{"messages":[{"name":"a"}]}`, `{"messages":[{"name":"b"}]}`, nil, false, "all members of messages count"},
		{`{"messages":["a"],"system":"x"}`, `{"messages":["a"],"system":"y"}`, nil, false, "the system prompt counts"},
		{`{"messages":["a"]}`, `{"messages":["a"]}`, func(r *Request) { r.Query, r.Method, r.Operation = "a=b", "PUT", "x" }, true, "query and method are left out"},
		{`{"messages":["a"]}`, `{"messages":["a"]}`, func(r *Request) { r.Model = "o1" }, false, "the model counts"},
		{`{"messages":["a"]}`, `{"messages":["a"]}`, func(r *Request) { r.Provider = "groq" }, false, "the provider counts"},
		{`{"messages":["a"]}`, `{"messages":["a"]}`, func(r *Request) { r.Streamed = true }, false, "a stream is not a plain answer"},
		{`{"messages":"a"}`, `{"messages":"b"}`, nil, false, "a message list that is a string"},
		{`{"messages":"a","n":1}`, `{"messages":"a","n":2}`, nil, true, "a message list that is a string is one"},
		{`{"prompt":"a"}`, `{"prompt":"b"}`, nil, false, "without a message list all counts"},
		{`no JSON`, `NO JSON`, nil, false, "without a message list all counts"},
		{`{"x":{"messages":[]},"a":1}`, `{"x":{"messages":[]},"a":2}`, nil, false, "a list further in is not the message list"},
	} {
		a, b := chat(t, tc.a), chat(t, tc.b)
		if tc.change != nil {
			tc.change(b)
		}
		if same := m.Key(a) == m.Key(b); same != tc.same {
			t.Errorf("same(%s, %s) = %v, want %v: %s", tc.a, tc.b, same, tc.same, tc.reason)
		}
	}
	tool := func(arguments string) Hash {
		return m.Key(&Request{Kind: "tool", Operation: "get", Body: []byte(arguments)})
	}
	if tool(`{"id":1}`) == tool(`{"id":2}`) {
		t.Error("a tool's arguments must count")
	}
}

func TestChainGoesOn(t *testing.T) {
	m := newMatcher(t, Rules{})
	_, short := m.Chain(chat(t, `{"model":"a","messages":[{"a":1,"b":2},"x"]}`), nil)
	_, long := m.Chain(chat(t, `{"messages":[{"b":2,"a":1},"x","y"],"n":1}`), nil)
	if len(short) != 2 || len(long) != 3 {
		t.Fatalf("%d and %d hashes, want 2 and 3", len(short), len(long))
	}
	if short[0] != long[0] || short[1] != long[1] {
		t.Error("a conversation's hashes must go on from those of its beginning")
	}
	if _, none := m.Chain(chat(t, `{"messages":["x",`), nil); len(none) != 0 {
		t.Error("what is no JSON must have no chain")
	}
}

func TestKeyDoesNotKeepOrChangeTheBody(t *testing.T) {
	m := newMatcher(t, Rules{})
	r := chat(t, turns("a", "b", "a", "b"))
	before := bytes.Clone(r.Body)
	first := m.Key(r)
	m.Key(chat(t, `{"x":"\u0041"}`))
	if m.Key(r) != first || !bytes.Equal(before, r.Body) {
		t.Error("a key must depend on its request alone, and leave it alone")
	}
}
