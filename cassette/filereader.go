package cassette

import (
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// rawMember is a member that this version does not know, as it stands in the file.
type rawMember struct{ name, value []byte }

// reader reads the JSON of a cassette in one pass. The first flaw sticks: after it every method returns at once, so
// that callers look at it once, at the end.
type reader struct {
	s    *jsonlex.Scanner
	data []byte // what s reads
	base int    // its offset in the file
	kind jsonlex.Kind
	held bool   // the token was read and is not used yet
	name []byte // of the member being read, as it stands
	flaw *flaw

	interned map[string]string // short texts that were met; nil where none is kept
	names    []string          // of the objects that are open

	asked       span   // the member "request" of the interaction that was read last, or what a tool or function was given
	depths      int    // of the array or object that raw read last: how deep its tokens stand in it, summed up
	known       []span // arrays and objects that were read before, and need not be read again
	answerOnly  bool   // what was asked is of no interest
	outlineOnly bool   // what an outline leaves out is checked, and need not be returned
}

func newReader(data []byte, base int) *reader {
	return &reader{s: jsonlex.New(data), data: data, base: base}
}

// reset makes r read data, which it may go on to after a text without a flaw.
func (r *reader) reset(data []byte, base int) {
	r.s.Reset(data)
	r.data, r.base, r.held = data, base, false
}

// offset returns where the current token begins.
func (r *reader) offset() int { start, _ := r.s.Span(); return r.base + start }

func (r *reader) fail(format string, args ...any) {
	r.failAt(r.offset(), remedyEdit, fmt.Errorf(format, args...))
}

// failNewer is fail for what a later version may have written.
func (r *reader) failNewer(format string, args ...any) {
	r.failAt(r.offset(), remedyNewer, fmt.Errorf(format, args...))
}

func (r *reader) failAt(at int, remedy string, err error) {
	if r.flaw == nil {
		r.flaw = &flaw{at: at, remedy: remedy, err: err}
	}
}

func (r *reader) next() jsonlex.Kind {
	if r.flaw != nil {
		return jsonlex.Invalid
	}
	if r.held {
		r.held = false
		return r.kind
	}
	r.kind = r.s.Next()
	if r.kind == jsonlex.Invalid {
		var syntax *jsonlex.SyntaxError
		errors.As(r.s.Err(), &syntax)
		r.failAt(r.base+syntax.Offset, remedyEdit, syntax)
	}
	return r.kind
}

func (r *reader) peek() jsonlex.Kind {
	k := r.next()
	r.held = true
	return k
}

// end checks that nothing follows.
func (r *reader) end() { r.next() }

// members yields the names of an object's members; the body of the loop reads each value.
func (r *reader) members(what string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if k := r.next(); k != jsonlex.ObjectStart {
			r.fail("%s must be an object, not %s", what, kindWord(k))
			return
		}
		first := len(r.names)
		defer func() { r.names = r.names[:first] }()
		var many map[string]bool
		for r.next() == jsonlex.Name {
			r.name = r.s.Raw()
			name := r.nameText()
			if many[name] || slices.Contains(r.names[first:], name) {
				r.fail("%s has two members %s", what, brief(name))
				return
			}
			if len(r.names)-first < fewNames {
				r.names = append(r.names, name)
			} else {
				if many == nil {
					many = make(map[string]bool)
				}
				many[name] = true
			}
			if !yield(name) {
				return
			}
		}
	}
}

// fewNames are looked through faster than a map.
const fewNames = 16

// nameText returns the text of the name being read.
func (r *reader) nameText() string {
	if r.s.Escaped() {
		return string(jsonlex.AppendUnquoted(nil, r.name))
	}
	return r.intern(r.name[1 : len(r.name)-1])
}

const (
	internLen  = 64   // bytes of a text that may come again
	internMany = 4096 // texts that are remembered
)

// commonTexts are names and texts that stand in most interactions.
var commonTexts = func() map[string]string {
	m := make(map[string]string)
	for _, s := range []string{
		"kind", "provider", "format", "operation", "model", "request", "method", "url", "headers", "body", "json", "text", "layout",
		"extends", "member", "back", "items", "hash", "response", "status", "stream", "framing", "events", "data", "event", "times",
		"cuts", "ending", "start_ms", "duration_ms", "attempt", "name", "id", "arguments", "result", "encoding", "wire_length",
		"llm", "http", "tool", "func", "POST", "GET", "chat", "complete", "sse", "Content-Type", "application/json", "text/event-stream",
	} {
		m[s] = s
	}
	return m
}()

// intern returns b as a string, the same one for the same short text.
func (r *reader) intern(b []byte) string {
	if s, ok := commonTexts[string(b)]; ok {
		return s
	}
	if s, ok := r.interned[string(b)]; ok {
		return s
	}
	s := string(b)
	if r.interned != nil && len(b) <= internLen && len(r.interned) < internMany {
		r.interned[s] = s
	}
	return s
}

// items runs the body of the loop before each element of an array, with its index; the body reads it.
func (r *reader) items(what string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if k := r.next(); k != jsonlex.ArrayStart {
			r.fail("%s must be an array, not %s", what, kindWord(k))
			return
		}
		for i := 0; r.peek() != jsonlex.ArrayEnd && r.flaw == nil; i++ {
			if !yield(i) {
				return
			}
		}
		r.next()
	}
}

// raw reads any value and returns its text.
func (r *reader) raw() []byte {
	k := r.next()
	start, end := r.s.Span()
	r.depths = 0
	if k == jsonlex.ObjectStart || k == jsonlex.ArrayStart {
		for _, known := range r.known {
			if known.from == r.base+start {
				end = known.to - r.base
				r.s.Leave(end)
				return r.data[start:end:end]
			}
		}
		for around := r.s.Depth() - 1; r.s.Depth() > around; {
			if r.next() == jsonlex.Invalid {
				return nil
			}
			r.depths += r.s.Depth() - around
		}
		_, end = r.s.Span()
	}
	return r.data[start:end:end]
}

// unknown reads the value of a member that this version does not know, and adds it to the list. Where all that counts is
// whether there are any, it keeps the first.
func (r *reader) unknown(list *[]rawMember) {
	m := rawMember{name: r.name}
	m.value = r.raw()
	if !r.outlineOnly || len(*list) == 0 {
		*list = append(*list, m)
	}
}

// text reads a string of Unicode text, or one of other bytes that stands as {"base64": …}.
func (r *reader) text(what string) string {
	if r.peek() != jsonlex.ObjectStart {
		return r.intern(r.string(what))
	}
	var b []byte
	found := false
	for name := range r.members(what) {
		if name != "base64" {
			r.fail("%s must be a string or {\"base64\": …}", what)
			return ""
		}
		b, found = r.base64(what), true
	}
	if !found {
		r.fail("%s must be a string or {\"base64\": …}", what)
	}
	return string(b)
}

// string reads a string of Unicode text.
func (r *reader) string(what string) []byte {
	if k := r.next(); k != jsonlex.String {
		r.fail("%s must be a string, not %s", what, kindWord(k))
		return nil
	}
	raw := r.s.Raw()
	if !r.s.Escaped() {
		return raw[1 : len(raw)-1]
	}
	b := jsonlex.AppendUnquoted(make([]byte, 0, len(raw)), raw)
	if !utf8.Valid(b) {
		r.fail("%s holds half of a surrogate pair, which no text can", what)
		return nil
	}
	return b
}

// base64 reads a string and decodes it.
func (r *reader) base64(what string) []byte {
	s := r.string(what)
	b, err := base64.StdEncoding.AppendDecode(nil, s)
	if err != nil && r.flaw == nil {
		r.fail("%s is not base64: %v", what, err)
	}
	return b
}

// number reads a whole number from 0 to limit.
func (r *reader) number(what string, limit int64) int64 {
	k := r.next()
	if k == jsonlex.Number {
		if n, err := strconv.ParseInt(string(r.s.Raw()), 10, 64); err == nil && n >= 0 && n <= limit {
			return n
		}
	}
	r.fail("%s must be a whole number from 0 to %d", what, limit)
	return 0
}

func (r *reader) bool(what string) bool {
	k := r.next()
	if k != jsonlex.True && k != jsonlex.False {
		r.fail("%s must be true or false", what)
	}
	return k == jsonlex.True
}

func (r *reader) numbers(what string, limit int64) []int64 {
	list := []int64{}
	for range r.items(what) {
		if n := r.number(what, limit); !r.outlineOnly {
			list = append(list, n)
		}
	}
	return list
}

func (r *reader) texts(what string) []string {
	list := []string{}
	for range r.items(what) {
		list = append(list, r.text(what))
	}
	return list
}

func kindWord(k jsonlex.Kind) string {
	switch k {
	case jsonlex.ObjectStart:
		return "an object"
	case jsonlex.ArrayStart:
		return "an array"
	case jsonlex.String:
		return "a string"
	case jsonlex.Number:
		return "a number"
	case jsonlex.True, jsonlex.False:
		return "a boolean"
	case jsonlex.Null:
		return "null"
	}
	return "nothing"
}

// brief quotes a word of the file for an error.
func brief(s string) string {
	const limit = 40
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return strconv.QuoteToASCII(s)
}
