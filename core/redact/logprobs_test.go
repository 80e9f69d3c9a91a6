package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// probable returns tokens as OpenAI's chat lists them.
func probable(tokens ...string) string {
	var all []string
	for _, token := range tokens {
		text, _ := json.Marshal(token)
		numbers := byteList(token)
		all = append(all, fmt.Sprintf(`{"token":%s,"logprob":-0.5,"bytes":[%s],"top_logprobs":[{"token":%s,"logprob":-0.5,"bytes":[%s]},{"token":"nn","logprob":-2}]}`, text, numbers, text, numbers))
	}
	return strings.Join(all, ",")
}

// byteList returns the bytes of a text as the elements of a JSON array.
func byteList(text string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint([]byte(text)), "[]"), " ", ",")
}

// TestLogprobs hides in lists of tokens what is hidden in the texts that they spell.
func TestLogprobs(t *testing.T) {
	const chat = `{"choices":[{"index":0,"message":{"content":"mail ann.lee@bigcorp.io now"},"logprobs":{"content":[%s],"refusal":null}}]}`
	mail := newDefault(t).String("ann.lee@bigcorp.io")
	field := string(newDefault(t).JSON([]byte(`{"password":"troub4dor"}`)))[len(`{"password":"`):]
	field = strings.TrimSuffix(field, `"}`)
	hidden := func(text string) string {
		numbers := byteList(text)
		return fmt.Sprintf(`{"token":%q,"logprob":-0.5,"bytes":[%s],"top_logprobs":[]}`, text, numbers)
	}
	chunk := func(k int, tokens string) string {
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{},"logprobs":{"content":[%s]}}]}`, k, tokens)
	}
	delta := func(tokens string) string {
		return `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"","logprobs":[` + tokens + `]}`
	}
	for _, tc := range []struct{ reason, in, want string }{
		{"over tokens", fmt.Sprintf(chat, probable("mail", " ann", ".lee", "@big", "corp.io", " now")),
			fmt.Sprintf(strings.Replace(chat, "ann.lee@bigcorp.io", mail, 1), probable("mail")+","+hidden(" "+mail)+","+hidden("")+","+hidden("")+","+hidden("")+","+probable(" now"))},
		{"in one token, and a part of another", fmt.Sprintf(chat, probable("(ann.lee@bigcorp.io", ")")), fmt.Sprintf(strings.Replace(chat, "ann.lee@bigcorp.io", mail, 1), hidden("("+mail)+","+probable(")"))},
		{"nothing is hidden", fmt.Sprintf(chat, probable("mail", " ann", " now")), fmt.Sprintf(strings.Replace(chat, "ann.lee@bigcorp.io", mail, 1), probable("mail", " ann", " now"))},
		{"over events", sse(chunk(0, probable("ann.lee", "@")), chunk(1, probable("bob", "@")), chunk(0, probable("bigcorp.io")), chunk(1, probable(" x"))),
			sse(chunk(0, hidden(mail)+","+hidden("")), chunk(1, probable("bob", "@")), chunk(0, hidden("")), chunk(1, probable(" x")))},
		{"over events that carry their text in their root", sse(delta(probable("ann.lee", "@")), delta(probable("bigcorp.io"))), sse(delta(hidden(mail)+","+hidden("")), delta(hidden("")))},
		{"strings by turns with numbers", `{"logprobs":{"tokens":["to ann.lee","@bigcorp.io"],"token_logprobs":[-1,-2],"token_ids":[17,4],"top_logprobs":[{"to ann.lee":-1},{"@bigcorp.io":-2}],"text_offset":[0,7]}}`,
			`{"logprobs":{"tokens":["to ` + mail + `",""],"token_logprobs":[-1,-2],"token_ids":[0,0],"top_logprobs":[{},{}],"text_offset":[0,7]}}`},
		{"candidates beside", `{"candidates":[{"logprobsResult":{"topCandidates":[{"candidates":[{"token":"x"}]},{"candidates":[{"token":"ann.lee"}]},{"candidates":[{"token":"@bigcorp.com"}]}],"chosenCandidates":[{"token":"x ","tokenId":7},{"token":"ann.lee@","tokenId":8},{"token":"bigcorp.io","tokenId":9}]}}]}`,
			`{"candidates":[{"logprobsResult":{"topCandidates":[{"candidates":[{"token":"x"}]},{},{}],"chosenCandidates":[{"token":"x ","tokenId":7},{"token":"` + mail + `","tokenId":0},{"token":"","tokenId":0}]}}]}`},
		{"escapes", `{"logprobs":[{"token":"\u0061nn.lee"},{"token":"@big\u0063orp.io \u00e9"}]}`, `{"logprobs":[{"token":"` + mail + `"},{"token":" \u00e9"}]}`},
		{"parts of a character", `{"logprobs":[{"token":"ann.lee@bigcorp.io bytes","bytes":[195]},{"token":"bytes","bytes":[169,97,110,110,46]},{"token":"lee@bigcorp.io"}]}`,
			`{"logprobs":[{"token":"` + mail + ` bytes","bytes":[195]},{"token":"` + mail + `","bytes":[169,` + byteList(mail) + `]},{"token":""}]}`},
		{"JSON in a string", `{"log":"{\"logprobs\":[{\"token\":\"ann.lee\",\"bytes\":null},{\"token\":\"@bigcorp.io\"}]}"}`, `{"log":"{\"logprobs\":[{\"token\":\"` + mail + `\",\"bytes\":null},{\"token\":\"\"}]}"}`},
		{"an answer that is cut", `{"logprobs":[{"token":"ann.lee"},{"token":"@bigcorp.io"},{"token":"x`, `{"logprobs":[{"token":"` + mail + `"},{"token":""},{"token":"x`},
		{"a JSON text spelled by tokens", `{"logprobs":[{"token":"{\"pass"},{"token":"word\":\"tro"},{"token":"ub4dor\"}"}]}`, `{"logprobs":[{"token":"{\"pass"},{"token":"word\":\"` + field + `"},{"token":"\"}"}]}`},
		{"odd values", `{"logprobs":[{"token":"a"},7,null,{"token":8},"x",[]],"top_logprobs":{"tokens":[]}}`, `{"logprobs":[{"token":"a"},7,null,{"token":8},"x",[]],"top_logprobs":{"tokens":[]}}`},
	} {
		for _, known := range []bool{true, false} {
			r := newDefault(t)
			m := Message{Body: []byte(tc.in)}
			if known {
				d, err := NewDeltas("$.choices[*].delta.content", "$.delta")
				if err != nil {
					t.Fatal(err)
				}
				m.Deltas = d
			}
			r.Message(&m)
			if got := string(m.Body); got != tc.want {
				t.Errorf("%s, known format %v: %s\nbecame %s\nwant   %s", tc.reason, known, tc.in, got, tc.want)
			}
			again := Message{Body: m.Body, Deltas: m.Deltas}
			if r.Message(&again); string(again.Body) != string(m.Body) {
				t.Errorf("%s: redacted again %s", tc.reason, again.Body)
			}
		}
	}
}
