package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/internal/eventstream"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// streamed is a way to send a text in pieces.
type streamed struct {
	name        string
	deltas      []string // nil: an unknown format
	contentType string
	frame       func(pieces []string) string // the stream
	text        func(data map[string]any) string
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// sse makes each event's JSON an event of server-sent events.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

// each makes one event of every piece.
func each(format string, lines bool) func([]string) string {
	return func(pieces []string) string {
		var events []string
		for _, p := range pieces {
			events = append(events, strings.ReplaceAll(format, "PIECE", quoted(p)))
		}
		if lines {
			return strings.Join(events, "\n") + "\n"
		}
		return sse(events...)
	}
}

// at returns the string at a path of an event, "" when there is none.
func at(path ...any) func(map[string]any) string {
	return func(data map[string]any) string {
		var v any = data
		for _, step := range path {
			switch step := step.(type) {
			case string:
				m, _ := v.(map[string]any)
				v = m[step]
			case int:
				if a, _ := v.([]any); step < len(a) {
					v = a[step]
				} else {
					v = nil
				}
			}
		}
		s, _ := v.(string)
		return s
	}
}

var streams = []streamed{
	{"chat text", []string{"$.choices[*].delta.content"}, "text/event-stream",
		each(`{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":PIECE}}]}`, false), at("choices", 0, "delta", "content")},
	{"chat reasoning", []string{"$.choices[*].delta.reasoning_content"}, "text/event-stream",
		each(`{"choices":[{"delta":{"reasoning_content":PIECE},"index":0}]}`, false), at("choices", 0, "delta", "reasoning_content")},
	{"anthropic text", []string{"$.delta.text"}, "text/event-stream",
		each(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":PIECE}}`, false), at("delta", "text")},
	{"responses", []string{"$.delta"}, "text/event-stream",
		each(`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":PIECE}`, false), at("delta")},
	{"unknown events", nil, "text/event-stream",
		each(`{"model":"m-1","parts":[{"t":PIECE}]}`, false), at("parts", 0, "t")},
	{"unknown lines", nil, "application/x-ndjson",
		each(`{"model":"m-1","message":{"content":PIECE},"done":false}`, true), at("message", "content")},
	{"Bedrock Converse", nil, eventstream.ContentType,
		frames(`{"contentBlockIndex":0,"delta":{"text":PIECE},"p":"abcdefghij"}`, false), at("delta", "text")},
	{"Bedrock InvokeModel", nil, eventstream.ContentType,
		frames(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":PIECE}}`, true), at("delta", "text")},
}

// frames makes each event's JSON the payload of a frame; with chunk set, in base64 in its member "bytes".
func frames(format string, chunk bool) func([]string) string {
	return func(pieces []string) string {
		var b []byte
		for _, p := range pieces {
			payload := strings.ReplaceAll(format, "PIECE", quoted(p))
			if chunk {
				payload = `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(payload)) + `","p":"abcdef"}`
			}
			b = eventstream.Frame{Headers: []byte("\x0b:event-type\x07\x00\x05chunk"), Payload: []byte(payload)}.Append(b)
		}
		return string(b)
	}
}

// dataOf returns the JSON of the events of a stream.
func dataOf(t *testing.T, contentType, stream string) (all []map[string]any) {
	t.Helper()
	if contentType == eventstream.ContentType {
		var lines []string
		for rest := []byte(stream); len(rest) > 0; {
			f, n, err := eventstream.Next(rest)
			if err != nil {
				t.Fatalf("a frame is broken: %v", err)
			}
			_, data := chunkOf(f.Payload)
			lines, rest = append(lines, string(data)), rest[n:]
		}
		stream = strings.Join(lines, "\n")
	}
	for line := range strings.SplitSeq(stream, "\n") {
		line = strings.TrimPrefix(line, "data: ")
		if line == "" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("an event is no JSON any more: %s", line)
		}
		all = append(all, v)
	}
	return all
}

// cuts yields ways to cut text: in two everywhere, and in pieces of one and of three characters.
func cuts(text string) (ways [][]string) {
	var runes []string
	for _, r := range text {
		runes = append(runes, string(r))
	}
	for i := 1; i < len(runes); i++ {
		ways = append(ways, []string{strings.Join(runes[:i], ""), strings.Join(runes[i:], "")})
	}
	var threes []string
	for part := range slices.Chunk(runes, 3) {
		threes = append(threes, strings.Join(part, ""))
	}
	return append(ways, runes, threes)
}

func (s *streamed) redact(r *Redactor, stream string) string {
	m := Message{ContentType: s.contentType, Body: []byte(stream)}
	if s.deltas != nil {
		m.Deltas, _ = NewDeltas(s.deltas...)
	}
	r.Message(&m)
	return string(m.Body)
}

func (s *streamed) assembled(t *testing.T, stream string) string {
	t.Helper()
	var b strings.Builder
	for _, data := range dataOf(t, s.contentType, stream) {
		b.WriteString(s.text(data))
	}
	return b.String()
}

// TestCutOverEvents sends every shape in pieces, cut everywhere. In a known format the pieces together have to read as
// the whole text does when it is redacted; in another no cut may show the secret.
func TestCutOverEvents(t *testing.T) {
	for _, tc := range positives {
		if tc.shape == privateKey && testing.Short() {
			continue
		}
		text := "say: " + tc.secret + " \"now\"\n"
		want := newDefault(t).String(text)
		for _, s := range streams {
			r := newDefault(t)
			for _, pieces := range cuts(text) {
				stream := s.frame(pieces)
				got := s.redact(r, stream)
				assembled := s.assembled(t, got)
				if strings.Contains(assembled, tc.secret) || s.deltas != nil && assembled != want {
					t.Fatalf("%s in %s, cut as %q: %q, want %q", tc.reason, s.name, pieces, assembled, want)
				}
				if n := len(dataOf(t, s.contentType, got)); n != len(pieces) {
					t.Fatalf("%s in %s: %d events for %d pieces:\n%s", tc.reason, s.name, n, len(pieces), got)
				}
				if again := s.redact(r, got); again != got {
					t.Fatalf("%s in %s, cut as %q: once %q, twice %q", tc.reason, s.name, pieces, got, again)
				}
			}
		}
	}
}

// TestArgumentsInPieces hides by the names of members in arguments that only the pieces together make JSON.
func TestArgumentsInPieces(t *testing.T) {
	const arguments = `{"user":"bob","password":"p\"w 1","note":"\u0062ob@corp.com","n":[1,2]}`
	whole := string(newDefault(t).JSON([]byte(arguments)))
	formats := []streamed{
		{"chat", []string{"$.choices[*].delta.tool_calls[*].function.arguments"}, "text/event-stream",
			each(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":PIECE}}]}}]}`, false),
			at("choices", 0, "delta", "tool_calls", 0, "function", "arguments")},
		{"anthropic", []string{"$.delta.partial_json"}, "text/event-stream",
			each(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":PIECE}}`, false), at("delta", "partial_json")},
		{"unknown", nil, "text/event-stream", each(`{"args":PIECE}`, false), at("args")},
	}
	for _, s := range formats {
		for _, pieces := range cuts(arguments) {
			r := newDefault(t)
			if got := s.assembled(t, s.redact(r, s.frame(pieces))); got != whole {
				t.Fatalf("%s, cut as %q: %s, want %s", s.name, pieces, got, whole)
			}
			// The answer breaks off: what came of the password must not stay.
			for n := 1; n < len(pieces); n++ {
				got := s.assembled(t, s.redact(r, s.frame(pieces[:n])))
				if strings.Contains(got, `p\"w`) || strings.Contains(got, "ob@corp.com") {
					t.Fatalf("%s, broken off after %q: %s", s.name, pieces[:n], got)
				}
			}
		}
	}
}

// TestTextsApart has texts that must not be taken for one.
func TestTextsApart(t *testing.T) {
	chat := []string{"$.choices[*].delta.content", "$.choices[*].delta.tool_calls[*].function.arguments"}
	anthropic := []string{"$.delta.text", "$.delta.thinking", "$.delta.signature", "$.delta.partial_json"}
	for _, tc := range []struct {
		reason       string
		deltas       []string
		events, want []string
	}{
		{"two choices by turns", chat,
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"bob@co"}}]}`, `{"choices":[{"index":1,"delta":{"content":"ann@co"}}]}`,
				`{"choices":[{"index":0,"delta":{"content":"rp.com"}}]}`, `{"choices":[{"index":1,"delta":{"content":"rp.com"}}]}`,
			},
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"email-BOB@redacted.invalid"}}]}`, `{"choices":[{"index":1,"delta":{"content":"email-ANN@redacted.invalid"}}]}`,
				`{"choices":[{"index":0,"delta":{"content":""}}]}`, `{"choices":[{"index":1,"delta":{"content":""}}]}`,
			}},
		{"two choices in one event, the other way round in the next", chat,
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"bob@co"}},{"index":1,"delta":{"content":"ann@co"}}]}`,
				`{"choices":[{"delta":{"content":"rp.com"},"index":1},{"delta":{"content":"rp.com"},"index":0}]}`,
			},
			[]string{
				`{"choices":[{"index":0,"delta":{"content":"email-BOB@redacted.invalid"}},{"index":1,"delta":{"content":"email-ANN@redacted.invalid"}}]}`,
				`{"choices":[{"delta":{"content":""},"index":1},{"delta":{"content":""},"index":0}]}`,
			}},
		{"fault 74: a new id begins a new call under the same index", chat,
			[]string{
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","function":{"arguments":"{\"password\":\"x1"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"y2\"}"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_b","function":{"arguments":"{\"q\":"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"z\"}"}}]}}]}`,
			},
			[]string{
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","function":{"arguments":"{\"password\":\"<field:FP>"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_b","function":{"arguments":"{\"q\":"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"z\"}"}}]}}]}`,
			}},
		{"fault 76: where thinking is hidden its signature goes, and another block's stays", anthropic,
			[]string{
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"mail bob@co"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"rp.com"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCg"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"IYAQ=="}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"nothing"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"EqQBDd=="}}`,
			},
			[]string{
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"mail email-BOB@redacted.invalid"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"<signature:FP>"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":""}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"nothing"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"EqQBDd=="}}`,
			}},
		{"an unknown format: what one event holds whole is taken as it stands", nil,
			[]string{`{"to":"bob@corp.com"}`, `{"to":"ann@corp.com"}`, `{"to":"x"}`},
			[]string{`{"to":"email-BOB@redacted.invalid"}`, `{"to":"email-ANN@redacted.invalid"}`, `{"to":"x"}`}},
		{"an unknown format: text that is no JSON", nil, []string{`bob@co`, `rp.com`}, []string{`email-BOB@redacted.invalid`, ``}},
		{"an unknown format: the same in each event is no text in pieces", nil,
			[]string{`{"n":"4539"}`, `{"n":"4539"}`}, []string{`{"n":"4539"}`, `{"n":"4539"}`}},
		{"an index that is missing is the place in the list", chat,
			[]string{`{"choices":[{"index":0,"delta":{"content":"bob@co"}}]}`, `{"choices":[{"delta":{"content":"rp.com"}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"content":"email-BOB@redacted.invalid"}}]}`, `{"choices":[{"delta":{"content":""}}]}`}},
		{"calls without an index", chat,
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":"{\"password\":\"x1y2\"}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"arguments":"{\"password\":\"x1y2\"}"}}]}}]}`,
			},
			[]string{
				`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":"{\"password\":\"<field:FP>\"}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"arguments":"{\"password\":\"<field:FP>\"}"}}]}}]}`,
			}},
		{"calls that nothing tells apart", chat,
			[]string{
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"password\":\"x1y2\"}"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"password\":\"x1y2\"}"}}]}}]}`,
			},
			[]string{
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"password\":\"<field:FP>\"}"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"password\":\"<field:FP>\"}"}}]}}]}`,
			}},
		{"an unknown format: what begins as a key goes on in the next event", nil,
			[]string{`{"t":"Key: sk-ABCDEFGH"}`, `{"t":"12345678, and"}`}, []string{`{"t":"Key: <openai_key:FP>"}`, `{"t":", and"}`}},
		{"escapes at the cuts", chat,
			[]string{`{"choices":[{"index":0,"delta":{"content":"\u00e9 bo\u0062"}}]}`, `{"choices":[{"index":0,"delta":{"content":"\u0040corp.co\u006d\u00e9"}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"content":"\u00e9 email-BOB@redacted.invalid"}}]}`, `{"choices":[{"index":0,"delta":{"content":"\u00e9"}}]}`}},
	} {
		s := streamed{deltas: tc.deltas, contentType: "text/event-stream"}
		got := s.redact(newDefault(t), sse(tc.events...))
		for _, name := range []string{"bob", "ann"} {
			fp := WholeFingerprint([]byte(name + "@corp.com"))[:fingerprintLen]
			got = strings.ReplaceAll(got, "email-"+fp, "email-"+strings.ToUpper(name))
		}
		got = regexp.MustCompile(`:[a-z2-7]{4}>`).ReplaceAllString(got, ":FP>")
		if want := sse(tc.want...); got != want {
			t.Errorf("%s:\n%swant\n%s", tc.reason, got, want)
		}
	}
}

// TestFault76Signatures hides signatures in whole messages too.
func TestFault76Signatures(t *testing.T) {
	r := newDefault(t)
	for _, tc := range []struct{ in, want, reason string }{
		{`{"type":"thinking","thinking":"bob@corp.com","signature":"EqQB"}`, `{"type":"thinking","thinking":"email-FP@redacted.invalid","signature":"<signature:FP>"}`, "hidden thinking"},
		{`{"signature":"EqQB","thinking":"bob@corp.com","type":"thinking"}`, `{"signature":"<signature:FP>","thinking":"email-FP@redacted.invalid","type":"thinking"}`, "the signature first"},
		{`{"thinking":"fine","signature":"EqQB"}`, `{"thinking":"fine","signature":"EqQB"}`, "nothing hidden"},
		{`{"thinking":"bob@corp.com","signature":""}`, `{"thinking":"email-FP@redacted.invalid","signature":""}`, "no signature"},
		{`{"thinking":"bob@corp.com","signature":"<signature:abcd>"}`, `{"thinking":"email-FP@redacted.invalid","signature":"<signature:FP>"}`, "hidden before"},
		{`{"functionCall":{"args":{"to":"bob@corp.com"}},"thoughtSignature":"Cvc"}`, `{"functionCall":{"args":{"to":"email-FP@redacted.invalid"}},"thoughtSignature":"<signature:FP>"}`, "a part of Gemini's"},
		{`[{"thinking":"bob@corp.com"},{"thinking":"x","signature":"EqQB"}]`, `[{"thinking":"email-FP@redacted.invalid"},{"thinking":"x","signature":"EqQB"}]`, "another block's"},
		{`{"name":"bob@corp.com","signature":"yours, Bob"}`, `{"name":"email-FP@redacted.invalid","signature":"yours, Bob"}`, "a signature of something else"},
	} {
		got := r.JSON([]byte(tc.in))
		if plain := regexp.MustCompile(`([:-])[a-z2-7]{4}([>@])`).ReplaceAllString(string(got), "${1}FP$2"); plain != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, plain, tc.want)
		}
		if again := r.JSON(got); !bytes.Equal(again, got) {
			t.Errorf("%s: redacted again %s", tc.reason, again)
		}
	}
}

// TestCutJSON hides by the names of members in JSON that was cut anywhere.
func TestCutJSON(t *testing.T) {
	const text = `{"a":["x",{"password":"hun\"ter\u00e9 2"}],"b":{"api_key":["kkk","lll"]},"c":-1.5e3,"d":true,"e":"bob@corp.com"}`
	r := newDefault(t)
	for n := range text {
		got := string(r.Body("application/json", []byte(text[:n])))
		for _, secret := range []string{`hun`, "kkk", "lll", "bob@corp.com"} {
			if strings.Contains(got, secret) {
				t.Errorf("cut to %s: %s", text[:n], got)
			}
		}
		if again := string(r.Body("application/json", []byte(got))); again != got {
			t.Errorf("cut to %s: once %s, twice %s", text[:n], got, again)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(`{"{}`, uint64(5)) // cut in the name of a member
	f.Add("00000000://: 0000@0.AA", uint64(85))
	for i, s := range textSeeds {
		f.Add(s, uint64(i))
		f.Add(`{"password":"hunter2","mail":"bob@corp.com","in":`+quoted(s)+"}", uint64(i))
	}
	r := fuzzed(f)
	f.Fuzz(func(t *testing.T, text string, cut uint64) {
		if !jsonlex.Valid([]byte(quoted(text))) {
			t.Skip()
		}
		s := streams[cut%uint64(len(streams))]
		var pieces []string
		for len(text) > 0 {
			cut = cut*6364136223846793005 + 1442695040888963407
			n := min(len(text), 1+int(cut>>33)%9)
			for n < len(text) && text[n]&0xC0 == 0x80 {
				n++
			}
			pieces, text = append(pieces, text[:n]), text[n:]
		}
		stream := s.frame(pieces)
		once := s.redact(r, stream)
		s.assembled(t, once) // which checks that each event is JSON
		twice := s.redact(r, once)
		if s.deltas == nil {
			// By itself a piece may look like more than it is in its text: "://: " before an address makes that a password.
			// So the second time may hide more, but not the third.
			once, twice = twice, s.redact(r, twice)
		}
		if twice != once {
			t.Fatalf("not idempotent:\n  text %q\n  once %q\n twice %q", stream, once, twice)
		}
	})
}

func TestFrameHeaders(t *testing.T) {
	const secret = "sk-" + "proj-" + "aB3dE5gH7jK9mN1pQ3sT5vW7"
	value := "bad key " + secret
	headers := "\x05:flag\x00" + "\x06:count\x04\x00\x00\x00\x07" + "\x0e:error-message\x07\x00" + string(rune(len(value))) + value + "\x05:date\x08\x00\x00\x01\x02\x03\x04\x05\x06"
	stream := eventstream.Frame{Headers: []byte(headers), Payload: []byte(`{"a":1}`)}.Append(nil)
	got := newDefault(t).Body(eventstream.ContentType, stream)
	f, n, err := eventstream.Next(got)
	if err != nil || n != len(got) || strings.Contains(string(f.Headers), secret) || !strings.Contains(string(f.Headers), "<openai_key:") || string(f.Payload) != `{"a":1}` {
		t.Errorf("%q, %v", got, err)
	}
	for n := range headers { // what cannot be read stays, and nothing panics
		newDefault(t).Body(eventstream.ContentType, eventstream.Frame{Headers: []byte(headers[:n]), Payload: []byte("{}")}.Append(nil))
	}
}

// TestByteOrderMark finds what stands behind one.
func TestByteOrderMark(t *testing.T) {
	for _, in := range []string{`{"password":"hunter2hunter"}`, "data: {\"password\":\"hunter2hunter\"}\n\n", `{"password":"hunter2hunter"}` + "\n{}\n"} {
		got := string(newDefault(t).Body("", []byte("\uFEFF"+in)))
		if strings.Contains(got, "hunter2") || !strings.HasPrefix(got, "\uFEFF") {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// TestStreamsAreLinear has streams that a quadratic reading would take minutes for.
func TestStreamsAreLinear(t *testing.T) {
	r := newDefault(t)
	r.Body("text/event-stream", []byte(strings.Repeat("data: x\n", 500_000)+"\n"))
	r.Body("application/x-ndjson", []byte(strings.Repeat(`{"a":"word "}`+"\n"+`{"a":"bob@corp.com"}`+"\n", 60_000)))
}
