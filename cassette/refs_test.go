package cassette

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// message is an element of about 60 bytes, distinct for each n.
func message(n int) string {
	return fmt.Sprintf(`{"role":"user","content":"message number %06d, of some length"}`, n)
}

func request(messages ...string) string {
	return `{"model":"gpt-5","messages":[` + strings.Join(messages, ",") + `],"stream":true}`
}

// turns returns a conversation's requests: turn i holds 2i+1 messages.
func turns(n int) []string {
	var list, all []string
	for i := range n {
		list = append(list, message(2*i))
		all = append(all, request(list...))
		list = append(list, message(2*i+1))
	}
	return all
}

func fileOf(requests ...string) *File {
	f := &File{}
	for _, r := range requests {
		f.Append(chatCall(r, "{}"))
	}
	return f
}

func TestSharedMessages(t *testing.T) {
	long := `{"role":"system","content":"` + strings.Repeat("s", minShared) + `"}`
	spacedTurn := string(spaced.append(nil, []byte(request(message(1), message(2)))))
	for _, test := range []struct {
		reason   string
		requests []string
		want     []string // "back items" of each interaction, empty for none
	}{
		{"the next turn", []string{request(message(1)), request(message(1), message(2))}, []string{"", "1 1"}},
		{"a chain", turns(4), []string{"", "1 1", "1 3", "1 5"}},
		{"the same again", []string{request(message(1)), request(message(1)), request(message(1))}, []string{"", "1 1", "1 1"}},
		{"another in between", []string{request(message(1)), request(message(9)), request(message(1), message(2))}, []string{"", "", "2 1"}},
		{"a short part of another is written out", []string{request(message(1), message(2)), request(message(1), message(3))}, []string{"", ""}},
		{"a long part of another", []string{request(long, message(2)), request(long, message(3))}, []string{"", "1 1"}},
		{"a changed last message", []string{request(long, message(2)), request(long, `{"changed":1}`), request(long, message(3), message(4))},
			[]string{"", "1 1", "2 1"}},
		{"another spacing", []string{request(message(1)), spacedTurn}, []string{"", "1 1"}},
		{"other escapes are another text", []string{request(`"a"`), request(`"\u0061"`, message(2))}, []string{"", ""}},
		{"an empty list", []string{request(), request(), request(message(1))}, []string{"", "", ""}},
		{"no list", []string{`{"messages":"a"}`, `{"messages":"a"}`, `["messages",[1]]`, `{"messages":[1],"messages":[1]}`}, []string{"", "", "", ""}},
		{"a list deep inside", []string{`{"a":{"messages":[1]}}`, `{"a":{"messages":[1]}}`}, []string{"", ""}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := fileOf(test.requests...)
			bothForms(t, func(t *testing.T, name string) {
				g := reload(t, f, name)
				for i, want := range test.requests {
					if got := g.Interaction(i).HTTP.Request.Bytes; string(got) != want {
						t.Errorf("request %d came back as\n%s\nwant\n%s", i, got, want)
					}
					got := ""
					if ext := g.read(&g.entries[i]).in.extends; ext != nil {
						got = fmt.Sprint(ext.back, " ", ext.items)
					}
					if got != test.want[i] {
						t.Errorf("request %d extends %q, want %q", i, got, test.want[i])
					}
				}
			})
		})
	}
}

func TestOnlyKnownFormatsShare(t *testing.T) {
	f := fileOf(turns(2)...)
	f.Interaction(1).Format = ""
	if text := f.Encode("a.json"); bytes.Contains(text, []byte("extends")) {
		t.Errorf("shared:\n%s", text)
	}
}

// A conversation grows by what each turn adds.
func TestConversationGrowsLinearly(t *testing.T) {
	size := func(n int) int { return len(fileOf(turns(n)...).Encode("a.json")) }
	if got, half := size(100), size(50); got > 21*half/10 {
		t.Errorf("100 turns take %d bytes, 50 take %d", got, half)
	}
}

// TestFault118Growth holds a conversation of 100 turns, 800 bytes each, against three times its transcript.
func TestFault118Growth(t *testing.T) {
	question, answer := strings.Repeat("why? ", 80), strings.Repeat("thus ", 80)
	f, transcript := &File{}, 0
	var messages []string
	for range 100 {
		messages = append(messages, `{"role":"user","content":"`+question+`"}`)
		reply := `{"role":"assistant","content":"` + answer + `"}`
		f.Append(chatCall(`{"model":"gpt-5","messages":[`+strings.Join(messages, ",")+`]}`,
			`{"id":"chatcmpl-1","model":"gpt-5","choices":[{"index":0,"message":`+reply+`,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`))
		messages = append(messages, reply)
		transcript += len(question) + len(answer)
	}
	if got := len(f.Encode("a.json")); got > 3*transcript {
		t.Errorf("the file takes %d bytes, %.2f times the transcript", got, float64(got)/float64(transcript))
	}
}

// TestFault117LongConversation reads each turn of a conversation in the time that its own size explains.
func TestFault117LongConversation(t *testing.T) {
	all := turns(1000)
	g, err := decodeFile("a.json", fileOf(all...).Encode("a.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 499, 999} {
		if got := g.Interaction(i).HTTP.Request.Bytes; string(got) != all[i] {
			t.Errorf("turn %d is not what it was", i)
		}
	}
}

func TestReferencesThatDoNotFit(t *testing.T) {
	interaction := func(extends, messages string) string {
		return `{"kind":"llm","format":"openai.chat","request":{"body":{` + extends + `"json":{"messages":` + messages + `}}}}`
	}
	ext := func(back, items int, hash string) string {
		return fmt.Sprintf(`"extends":{"member":"messages","back":%d,"items":%d,"hash":%q},`, back, items, hash)
	}
	good := firstHash([]byte("1")).String()
	for _, test := range []struct {
		reason string
		second string
		want   string
	}{
		{"it fits", interaction(ext(1, 1, good), "[2]"), ""},
		{"itself", interaction(ext(0, 1, good), "[2]"), "must have member, back, items and hash"},
		{"forward", interaction(ext(-1, 1, good), "[2]"), "back must be a whole number"},
		{"before the beginning", interaction(ext(2, 1, good), "[2]"), "2 interactions back, and only 1 stand before"},
		{"nothing shared", interaction(ext(1, 0, good), "[2]"), "must have member"},
		{"more than there is", interaction(ext(1, 2, good), "[2]"), "first 2 elements of interaction 1, which has 1"},
		{"another hash", interaction(ext(1, 1, "00000000"), "[2]"), `interaction 2 extends interaction 1, whose first 1 elements have changed: their hash was "00000000"; if interaction 1 was edited on purpose write "` + good + `" here`},
		{"no list of its own", interaction(ext(1, 1, good), "null"), "has itself no list"},
		{"another member", strings.ReplaceAll(interaction(ext(1, 1, good), "[2]"), `"messages"`, `"input"`), "interaction 1, which has no list"},
		{"no JSON", strings.Replace(interaction(ext(1, 1, good), "[2]"), `"json"`, `"later"`, 1), "nothing that this version can read"},
		{"text", `{"kind":"llm","request":{"body":{` + ext(1, 1, good) + `"text":""}}}`, `"extends" and no "json"`},
		{"an answer", `{"kind":"llm","response":{"status":200,"body":{` + ext(1, 1, good) + `"json":{"messages":[]}}}}`, "only the body of a request"},
		{"a member too many", interaction(strings.Replace(ext(1, 1, good), "{", `{"x":1,`, 1), "[2]"), "unknown member"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			text := `{"format":"mixtape/1","interactions":[` + interaction("", "[1]") + "," + test.second + `]}`
			_, err := decodeFile("a.json", []byte(text))
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			checkFileError(t, err, 2, test.want)
		})
	}
	t.Run("a tool has no list", func(t *testing.T) {
		text := `{"format":"mixtape/1","interactions":[{"kind":"tool","arguments":{"messages":[1]}},` + interaction(ext(1, 1, good), "[2]") + `]}`
		_, err := decodeFile("a.json", []byte(text))
		checkFileError(t, err, 2, "interaction 1, which has no list")
	})
}

// Chains of references that share less and less cost no more than the lists they make.
func TestReferencesPastEachOther(t *testing.T) {
	list := []string{message(0)}
	requests := []string{request(list...)}
	for i := 1; i < 200; i++ {
		list = append(list, message(i))
		requests = append(requests, request(list...))
	}
	for i := 199; i > 100; i-- {
		requests = append(requests, request(append(list[:i:i], message(-i))...))
	}
	g := reload(t, fileOf(requests...), "a.json")
	for i, r := range requests {
		if got := g.Interaction(i).HTTP.Request.Bytes; string(got) != r {
			t.Fatalf("request %d is not what it was", i)
		}
		if l := g.entries[i].list; l != nil && l.depth > 201 {
			t.Fatalf("request %d is %d steps deep", i, l.depth)
		}
	}
}
