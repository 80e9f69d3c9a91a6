package cassette

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/core/redact"
)

// manyBytes are the blob that a cassette names.
var manyBytes = bytes.Repeat([]byte{0xFF}, 100<<10)

// tapeOf loads a cassette as a replay does.
func tapeOf(data []byte, name string, s *settings) (*tape, error) {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		return nil, err
	}
	c, err := newComparer(s, r)
	if err != nil {
		return nil, err
	}
	var outlines []outline
	f, err := readFile(name, data, func(string) ([]byte, error) { return manyBytes, nil }, func(o outline) { outlines = append(outlines, o) })
	if err != nil {
		return nil, err
	}
	return newTape(f, outlines, c, s.repeatLast)
}

// extending is a chat request as it stands in a file. What it goes on from, if anything, stands in extends.
type extending struct {
	kind, format, extends, json, more string
}

func (e extending) String() string {
	if e.kind == "" {
		e.kind = "llm"
	}
	if e.extends != "" {
		e.extends = `"extends":` + e.extends + ","
	}
	return fmt.Sprintf(`{"kind":%q,"provider":"p","format":%q,"operation":"chat","model":"m","request":{"method":"POST","url":"https://api.openai.com/v1/chat/completions",`+
		`"headers":{"Content-Type":"application/json"},"body":{%s"json":%s}},"response":{"status":200,"body":{"json":{}}}%s}`, e.kind, e.format, e.extends, e.json, e.more)
}

func cassetteOf[T fmt.Stringer](interactions ...T) []byte {
	var list []string
	for _, i := range interactions {
		list = append(list, i.String())
	}
	return []byte(`{"format":"mixtape/1","interactions":[` + strings.Join(list, ",\n") + `]}`)
}

// goingOn is the member extends of a list that goes on from these elements.
func goingOn(member string, back int, items ...string) string {
	h := firstHash([]byte(items[0]))
	for _, i := range items[1:] {
		h = h.next([]byte(i))
	}
	return fmt.Sprintf(`{"member":%q,"back":%d,"items":%d,"hash":%q}`, member, back, len(items), h)
}

// TestKeysOfTurns compares the keys that a tape computes with those of the whole requests, in files that no recorder
// writes.
func TestKeysOfTurns(t *testing.T) {
	const chat, claude, responses = "openai.chat", "anthropic.messages", "openai.responses"
	call := `{"role":"assistant","tool_calls":[{"id":"call_1"}]}`
	result := `{"role":"tool","tool_call_id":"call_1","content":"ok"}`
	list := func(items ...string) string { return `{"messages":[` + strings.Join(items, ",") + `]}` }
	for _, tc := range []struct {
		reason string
		file   []extending
	}{
		{"a chain", []extending{{"", chat, "", list(`1`), ""}, {"", chat, goingOn("messages", 1, `1`), list(call), ""}, {"", chat, goingOn("messages", 1, `1`, call), list(result), ""}}},
		{"a branch", []extending{{"", chat, "", list(call, result), ""}, {"", chat, goingOn("messages", 1, call, result), list(`1`), ""}, {"", chat, goingOn("messages", 2, call), list(result), ""}}},
		{"a list in another member", []extending{{"", chat, "", `{"tools":[1,2],"messages":[]}`, ""}, {"", chat, goingOn("tools", 1, `1`, `2`), `{"tools":[3],"messages":[]}`, ""}}},
		{"a list in another member, and a longer one", []extending{{"", chat, "", `{"tools":[1],"messages":[1,2]}`, ""}, {"", chat, goingOn("tools", 1, `1`), `{"tools":[3],"messages":[4]}`, ""}}},
		{"another format", []extending{{"", claude, "", list(call, result), ""}, {"", chat, goingOn("messages", 1, call, result), list(result), ""}}},
		{"a format with another list", []extending{{"", responses, "", list(`1`), ""}, {"", chat, goingOn("messages", 1, `1`), list(`2`), ""}}},
		{"no format at all", []extending{{"http", "", "", list(`1`), ""}, {"", chat, goingOn("messages", 1, `1`), list(`2`), ""}, {"", "mine", goingOn("messages", 1, `1`, `2`), list(`2`), ""}}},
		{"a number that is hidden", []extending{{"", chat, "", list(`1`), ""}, {"", chat, goingOn("messages", 1, `1`), list(`2`), `,"hidden":["request $.messages[0]"]`}, {"", chat, goingOn("messages", 1, `1`, `2`), list(`2`), ""}}},
	} {
		for _, s := range []settings{
			{}, {messagesOnly: true}, {ignore: []string{"$"}}, {ignore: []string{"$.messages"}}, {ignore: []string{"$.messages[*]"}}, {ignore: []string{"$.messages[1]"}},
			{normalize: []func(*Request){func(r *Request) { r.Body = bytes.ReplaceAll(r.Body, []byte("1"), []byte("0")) }}},
		} {
			checkKeys(t, fmt.Sprint(tc.reason, s.ignore, s.messagesOnly), cassetteOf(tc.file...), &s)
		}
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var file []extending
		var lists [][]string
		for i := range 30 {
			e := extending{format: []string{chat, chat, chat, claude, ""}[rng.IntN(5)]}
			var items []string
			if back := 1 + rng.IntN(3); back <= i && rng.IntN(5) > 0 && len(lists[i-back]) > 0 {
				items = lists[i-back][:1+rng.IntN(len(lists[i-back]))]
				e.extends = goingOn("messages", back, items...)
			}
			own := []string{`1`, call, result}[:rng.IntN(4)]
			e.json = list(own...)
			lists = append(lists, append(items[:len(items):len(items)], own...))
			file = append(file, e)
		}
		checkKeys(t, fmt.Sprint("seed ", seed), cassetteOf(file...), &settings{})
	}
}

func checkKeys(t *testing.T, reason string, data []byte, s *settings) {
	t.Helper()
	tape, err := tapeOf(data, "a.json", s)
	if err != nil {
		t.Errorf("%s: %v", reason, err)
		return
	}
	for i := range tape.file.Len() {
		r, err := tape.comparer.compared(requestOf(tape.file.Interaction(i)))
		if err != nil {
			t.Fatal(err)
		}
		if tape.byKey[tape.matcher.Key(r)] == nil {
			t.Errorf("%s: interaction %d does not stand under the key of its request", reason, i+1)
		}
	}
}

// TestOneListInOneObject has members that differ in their escapes only, of which matching sees one list and a reader
// might see another.
func TestOneListInOneObject(t *testing.T) {
	for _, json := range []string{`{"messages":[1,2],"\u006dessages":[]}`, `{"\u006dessages":[],"messages":[1,2]}`, `{"messages":[1,2],"messages":[]}`} {
		file := cassetteOf(extending{format: "openai.chat", json: json}, extending{format: "openai.chat", extends: goingOn("messages", 1, `1`, `2`), json: `{"messages":[]}`})
		if _, err := tapeOf(file, "a.json", &settings{}); err == nil || !strings.Contains(err.Error(), "which has no list") {
			t.Errorf("%s: the error is %v", json, err)
		}
	}
	file := cassetteOf(extending{format: "openai.chat", json: `{"\u006dessages":[1,2]}`}, extending{format: "openai.chat", extends: goingOn("messages", 1, `1`, `2`), json: `{"messages":[3]}`})
	checkKeys(t, "an escaped name", file, &settings{})
}

// TestInsideOfServedCalls serves a call at each depth of calls that were made inside of one another.
func TestInsideOfServedCalls(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"format":"mixtape/1","interactions":[{"kind":"tool","name":"t0"}`)
	const n = 20
	for i := range n - 1 {
		fmt.Fprintf(&b, `,{"kind":"tool","name":"t%d","within":1}`, i+1)
	}
	b.WriteString(`]}`)
	for first := range n {
		tape, err := tapeOf([]byte(b.String()), "a.json", &settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{n - 1, first} {
			tape.calls[i].serve()
		}
		if got := len(tape.unused()); got != first {
			t.Errorf("%d calls are unused once the one at depth %d is served", got, first)
		}
	}
}

// TestMuchFromLittle loads files that would come to many times their size once their bodies are made.
func TestMuchFromLittle(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat("[", 900) + strings.Repeat("1,", n) + "1" + strings.Repeat("]", 900)
	}
	answer := func(layout, json string) string {
		return `{"format":"mixtape/1","interactions":[{"kind":"http","request":{"method":"GET","url":"https://example.com/"},` +
			`"response":{"status":200,"body":{"layout":"` + layout + `","json":` + json + `}}}]}`
	}
	element := deep(20_000)
	goesOn := func(layout string) string {
		return string(cassetteOf(extending{format: "openai.chat", json: `{"messages":[` + element + `]}`},
			extending{format: "openai.chat", extends: goingOn("messages", 1, element), json: `{"messages":[2]},"layout":"` + layout + `"`}))
	}
	for _, tc := range []struct{ reason, file, want string }{
		{"a line for each element, far to the right", answer("indent 8", deep(20_000)), "the layout indent 8 makes"},
		{"the same in a list that is gone on from", goesOn("indent 8"), "the layout indent 8 makes"},
		{"not so far to the right", answer("indent 1", deep(20_000)), ""},
		{"no lines", answer("spaced", deep(20_000)), ""},
		{"no lines in a list that is gone on from", goesOn("compact"), ""},
	} {
		_, err := tapeOf([]byte(tc.file), "a.json", &settings{})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.want)
		}
	}
}

// TestBytesOfARequest replays uploads of what stands beside the file once.
func TestBytesOfARequest(t *testing.T) {
	upload := `{"kind":"http","request":{"method":"POST","url":"https://example.com/","body":{"blob":"` + nameOfBlob(manyBytes) + `"}}}`
	file := []byte(`{"format":"mixtape/1","interactions":[` + strings.Repeat(upload+",", 9) + upload + `]}`)
	checkKeys(t, "a blob", file, &settings{})
	tape, err := tapeOf(file, "a.json", &settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tape.keys(tape.file.outlines(), 10*len(manyBytes)); err != nil {
		t.Error(err)
	}
	if _, err := tape.keys(tape.file.outlines(), 9*len(manyBytes)); err == nil || !strings.Contains(err.Error(), "interaction 10: the requests up to here come to") {
		t.Errorf("the error is %v", err)
	}
}

// TestWholeTurns computes the keys of turns that are read as a whole, and stops once they come to too much.
func TestWholeTurns(t *testing.T) {
	var file []extending
	var items []string
	for i := range 100 {
		items = append(items, message(i))
		e := extending{kind: "http", json: `{"messages":[` + message(i) + `]}`}
		if i > 0 {
			e.extends = goingOn("messages", 1, items[:i]...)
		}
		file = append(file, e)
	}
	tape, err := tapeOf(cassetteOf(file...), "a.json", &settings{})
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for i, o := range tape.outlines {
		whole += len(tape.file.Interaction(i).HTTP.Request.Bytes)
		if len(o.Body) > 2*len(message(0)) {
			t.Fatalf("the tape keeps %d bytes of interaction %d", len(o.Body), i+1)
		}
	}
	if _, err := tape.keys(tape.file.outlines(), whole/2); err == nil || !strings.Contains(err.Error(), "that is too much to compare") {
		t.Errorf("the error is %v", err)
	}
}

// TestLongElements has turns that go on from a place before a long element. To read that for each would take 60 GB.
func TestLongElements(t *testing.T) {
	file := []extending{{format: "openai.chat", json: `{"messages":["a","` + strings.Repeat("b", 8<<20) + `"]}`}}
	for i := range 8000 {
		file = append(file, extending{format: "openai.chat", extends: goingOn("messages", i+1, `"a"`), json: `{"messages":[1]}`})
	}
	if _, err := tapeOf(cassetteOf(file...), "a.json", &settings{}); err != nil {
		t.Error(err)
	}
}
