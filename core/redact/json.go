package redact

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

const (
	maxInner  = 8    // how deep JSON in strings in JSON is read as JSON
	mediaSize = 1024 // bytes from which a string of base64 alone is media, in which nothing is looked for
)

// JSON returns JSON text with its secrets hidden: the strings at the places that rules name, and the shapes in every
// string and every member's name, also inside strings that are JSON themselves. Everything else stays byte for byte, and
// the result is valid JSON. What is no valid JSON is redacted as plain text. JSON returns b itself when nothing is
// hidden, and never writes to it.
func (r *Redactor) JSON(b []byte) []byte {
	edits, ok := r.jsonEdits(b, scope{})
	if !ok {
		edits = r.proseEdits(b, scope{})
	}
	return edited(b, edits)
}

// scope is what a text stands in.
type scope struct {
	form    form
	depth   int      // how many strings that are JSON
	numbers *numbers // nil where no list of the places of numbers is kept
	masked  *bool    // set where bytes that are no text are overwritten; nil where nobody asks
}

// stringEdits hides the secrets of a text that may be JSON.
func (r *Redactor) stringEdits(text []byte, in scope) []edit {
	if len(text) >= mediaSize && run(text, 0, b64) == len(text) {
		return r.settle(text, r.literals.Load().hits(text), in.form) // what is known to be a secret is one here too
	}
	if in.depth < maxInner && looksLikeJSON(text) {
		inner := in
		inner.depth++
		if edits, ok := r.jsonEdits(text, inner); ok {
			return edits
		}
	}
	return r.proseEdits(text, in)
}

// proseEdits hides the secrets of a text that is not JSON, but may be once its secrets are hidden.
func (r *Redactor) proseEdits(text []byte, in scope) []edit {
	edits := r.textEdits(text, in.form)
	if len(edits) == 0 || !looksLikeJSON(text) {
		return edits
	}
	in.depth++
	if inner, ok := r.jsonEdits(apply(text, edits), in); ok {
		edits = compose(edits, inner)
	}
	return edits
}

// looksLikeJSON reports whether text may be a JSON object or array, or the beginning of one.
func looksLikeJSON(text []byte) bool {
	first := run(text, 0, space)
	second := run(text, first+1, space)
	if second >= len(text) {
		return false
	}
	switch text[first] {
	case '{':
		return text[second] == '"' || text[second] == '}'
	case '[':
		return bytes.IndexByte([]byte(`{["]-tfn0123456789`), text[second]) >= 0
	}
	return false
}

// spot is a place in a JSON value.
type spot struct {
	array    bool
	index    int                // of the element that comes next
	name     span               // of the member's name in the text, quotes included; empty for an element
	at       [2]jsonpath.Cursor // in the paths of the Redactor
	path     *Rule              // hides every string at and below the place
	field    *Rule              // hides the string, or the strings of the array, at the place
	token    bool               // the string at the place is hidden if it can be a credential
	logprobs bool               // the place is in a list of tokens' probabilities
	list     int                // where the list begins at the place, counted from 1; 0 if none does
	edits    int                // how many edits there were before the value
	signed   signed
	piece    pieceSpot
}

// span is a part of a text by its offsets.
type span struct{ start, end int }

// walk is one reading of a JSON text.
type walk struct {
	r *Redactor
	b []byte
	scope
	pieces *pieces // nil outside of streams
	lex    jsonlex.Scanner
	stack  []spot
	buf    []byte // an unescaped string
	edits  []edit
	lists  []logprobs
}

// walks keeps the memory of readings that are over.
var walks = sync.Pool{New: func() any { return new(walk) }}

// jsonEdits hides the secrets of JSON text. ok is false when b is not JSON. Text that is JSON but for an end that is
// missing is read as far as it goes: an answer may have broken off.
func (r *Redactor) jsonEdits(b []byte, in scope) (edits []edit, ok bool) {
	return walk{r: r, b: b, scope: in}.edit()
}

// edit returns the edits of a walk that was just set up.
func (of walk) edit() (edits []edit, ok bool) {
	w := walks.Get().(*walk)
	of.lex, of.stack, of.buf, of.lists = w.lex, w.stack[:0], w.buf[:0], w.lists[:0]
	*w = of
	w.lex.Reset(w.b)
	listed := w.numbers.listed()
	defer func() {
		if !ok {
			w.numbers.forget(listed)
		}
		w.lex.Reset(nil)
		*w = walk{lex: w.lex, stack: w.stack, buf: w.buf, lists: w.lists} // lets go of the text
		walks.Put(w)
	}()
	if edits, ok = w.walk(); ok && len(w.lists) > 0 {
		edits = w.hideLists(edits)
	}
	return edits, ok
}

// hideLists hides in the lists of tokens what their texts show, after edits; or leaves them to the pieces of a stream.
func (w *walk) hideLists(edits []edit) []edit {
	if w.pieces != nil {
		w.pieces.lists = append(w.pieces.lists, w.lists...)
		return edits
	}
	events := []event{{data: w.b, edits: edits}}
	var tokens tokenLists
	for i, x := range w.lists {
		tokens.add(strconv.Itoa(i), 0, w.b, x)
	}
	tokens.hide(w.r, events)
	return events[0].edits
}

func (w *walk) walk() (edits []edit, ok bool) {
	r, lex := w.r, &w.lex
	next := spot{at: [2]jsonpath.Cursor{r.paths[0].Root(), r.paths[1].Root()}} // of the value that comes next
	next.path = r.pathAt(&next)
	w.pieces.root(&next)
	kind, end := jsonlex.Invalid, 0
	for {
		last := kind
		kind = lex.Next()
		switch kind {
		case jsonlex.Invalid:
			if !w.cut(&next, last, end) {
				return nil, false
			}
			for i := range slices.Backward(w.stack) {
				w.closed(i, len(w.b))
			}
			return w.edits, true
		case jsonlex.End:
			return w.edits, true
		case jsonlex.ObjectEnd, jsonlex.ArrayEnd:
			_, end = lex.Span()
			n := len(w.stack) - 1
			w.closed(n, end)
			w.stack = w.stack[:n]
			continue
		}
		if n := len(w.stack); kind == jsonlex.Name {
			next = w.memberSpot(&w.stack[n-1], w.text())
			next.name.start, next.name.end = lex.Span()
		} else if n > 0 && w.stack[n-1].array {
			next = w.elementSpot(&w.stack[n-1])
		}
		var start int
		start, end = lex.Span()
		next.edits = len(w.edits)
		switch kind {
		case jsonlex.ObjectStart, jsonlex.ArrayStart:
			next.array = kind == jsonlex.ArrayStart
			next.index = 0
			if n := len(w.stack); next.logprobs && next.path == nil && (n == 0 || !w.stack[n-1].logprobs) {
				next.list = start + 1
			}
			w.pieces.open(&next, w)
			w.stack = append(w.stack, next)
		case jsonlex.Number:
			w.pieces.scalar(&next, w, lex.Raw())
			rule := next.path
			if rule == nil && next.field != nil && next.field.kind == fieldRule {
				rule = next.field
			}
			if rule != nil || w.numbers != nil && len(w.numbers.list.hidden) > 0 {
				w.number(rule, &next, start, end)
			}
		case jsonlex.True, jsonlex.False:
			w.pieces.scalar(&next, w, lex.Raw())
		case jsonlex.Name, jsonlex.String:
			s := w.text()
			var found []edit
			if kind == jsonlex.Name {
				found = r.textEdits(s, w.form)
			} else {
				w.pieces.scalar(&next, w, lex.Raw())
				w.sign(&next, start, end)
				found = w.stringEdits(&next, s, start+1, lex.Escaped())
			}
			if len(found) == 0 {
				continue
			}
			if lex.Escaped() {
				found = toRaw(found, w.b[start+1:end-1], jsonUnit)
			}
			w.edits = append(w.edits, shift(found, start+1)...)
		}
	}
}

// closed notes that the array or object at w.stack[i] ends.
func (w *walk) closed(i, end int) {
	s := &w.stack[i]
	w.unsign(s)
	if s.list > 0 {
		in := 0
		if i > 0 {
			in = w.stack[i-1].piece.node
		}
		w.lists = append(w.lists, logprobs{in, s.list - 1, end})
	}
}

// stringEdits hides what it must in the string at a place; at is where the string's inside begins.
func (w *walk) stringEdits(next *spot, s []byte, at int, escaped bool) []edit {
	switch {
	case next.path != nil:
		return w.r.wholeEdit(next.path, s, w.form)
	case next.field != nil && (!next.token || isCredential(string(s))):
		return w.r.wholeEdit(next.field, s, w.form)
	case w.pieces.defers(next):
		var found []edit
		if w.pieces.deltas == nil {
			found = w.innerEdits(next, s)
		}
		w.pieces.add(next, w, s, at, escaped, found)
		return nil
	}
	return w.innerEdits(next, s)
}

// innerEdits hides the secrets of a string that may be JSON itself.
func (w *walk) innerEdits(next *spot, s []byte) []edit {
	if edits, ok := w.base64Edits(next, s); ok {
		return edits
	}
	return w.r.stringEdits(s, w.inside(next, s))
}

// inside returns the scope of the text s in the string at next.
func (w *walk) inside(next *spot, s []byte) scope {
	in := w.scope
	if in.numbers != nil && looksLikeJSON(s) {
		in.numbers = w.numbersIn(next)
	}
	return in
}

// valuesEdits is stringEdits for a text that may be several JSON values, one behind the other: two calls under one
// index, with nothing to tell them apart.
func (r *Redactor) valuesEdits(text []byte, in scope) []edit {
	end := firstValue(text)
	if end == 0 {
		return r.stringEdits(text, in)
	}
	in.numbers = nil // which have no place of their own
	var all []edit
	at := 0
	for ; end > 0; end = firstValue(text[at:]) {
		all = append(all, shift(r.stringEdits(text[at:at+end], in), at)...)
		at += end
	}
	return append(all, shift(r.stringEdits(text[at:], in), at)...)
}

// firstValue returns where the JSON value ends that text begins with, if another begins right behind it; else 0.
func firstValue(text []byte) int {
	lex := jsonlex.New(text)
	for {
		kind := lex.Next()
		if kind == jsonlex.Invalid || kind == jsonlex.End {
			return 0
		}
		if lex.Depth() == 0 {
			if _, end := lex.Span(); looksLikeJSON(text[end:]) {
				return end
			}
			return 0
		}
	}
}

// cut reports whether the text, which is not JSON, would be if it went on: then it hides what it must in what follows
// the last token, which is of kind last and ends at end.
func (w *walk) cut(next *spot, last jsonlex.Kind, end int) bool {
	if last == jsonlex.Invalid {
		return false // it does not even begin
	}
	rest := bytes.TrimLeft(w.b[end:], " \t\r\n,:")
	if len(rest) == 0 {
		return true
	}
	if rest[0] != '"' {
		if run(rest, 0, alnum|dash|dot) < len(rest) && rest[0] != '-' {
			return false
		}
		w.edits = append(w.edits, shift(w.r.textEdits(rest, w.form), len(w.b)-len(rest))...) // half a number or a word
		return true
	}
	raw, ok := cutString(rest[1:])
	if !ok {
		return false
	}
	at := len(w.b) - len(rest) + 1
	escaped := bytes.IndexByte(raw, '\\') >= 0
	s := raw
	if escaped {
		s = jsonlex.AppendUnquoted(nil, slices.Concat([]byte{'"'}, raw, []byte{'"'}))
	}
	var found []edit
	n := len(w.stack)
	switch {
	case n > 0 && !w.stack[n-1].array && last != jsonlex.Name: // it is the name of a member
		found = w.r.textEdits(s, w.form)
	case n > 0 && w.stack[n-1].array:
		*next = w.elementSpot(&w.stack[n-1])
		fallthrough
	default:
		found = w.stringEdits(next, s, at, escaped)
	}
	if escaped {
		found = toRaw(found, raw, jsonUnit)
	}
	w.edits = append(w.edits, shift(found, at)...)
	return true
}

// cutString returns the inside of a string that has no end, without half an escape at its end. ok is false when rest,
// which begins after the quote, is no such string.
func cutString(rest []byte) (inside []byte, ok bool) {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			return nil, false
		case '\\':
			i++
			if i == len(rest) {
				return rest[:i-1], true
			}
			if rest[i] == 'u' {
				for range 4 {
					if i++; i == len(rest) {
						return rest[:bytes.LastIndexByte(rest, '\\')], true
					}
					if hexDigit(rest[i]) < 0 {
						return nil, false
					}
				}
			} else if bytes.IndexByte([]byte(`"\/bfnrt`), rest[i]) < 0 {
				return nil, false
			}
		}
	}
	return rest, true
}

// text returns the unescaped text of the string or name that was read last, until the next call.
func (w *walk) text() []byte {
	raw := w.lex.Raw()
	if !w.lex.Escaped() {
		return raw[1 : len(raw)-1]
	}
	w.buf = jsonlex.AppendUnquoted(w.buf[:0], raw)
	return w.buf
}

func (w *walk) memberSpot(in *spot, name []byte) spot {
	r := w.r
	next := spot{path: in.path, logprobs: in.logprobs || isLogprobs(name)}
	next.at[0], next.at[1] = in.at[0].Member(name), in.at[1].Member(name)
	if next.path == nil {
		next.path = r.pathAt(&next)
	}
	next.field = r.fieldRule(name)
	if next.field == nil && r.members != nil && !next.logprobs && isToken(name) {
		next.field, next.token = r.members, true
	}
	w.pieces.member(&next, in, name)
	return next
}

func (w *walk) elementSpot(in *spot) spot {
	next := spot{path: in.path, field: in.field, token: in.token, logprobs: in.logprobs}
	next.at[0], next.at[1] = in.at[0].Index(in.index), in.at[1].Index(in.index)
	w.pieces.element(&next, in)
	in.index++
	if next.path == nil {
		next.path = w.r.pathAt(&next)
	}
	return next
}

// placeOf returns the path of the value at next, whose parents are on the stack.
func (w *walk) placeOf(next *spot) string {
	path := []byte("$")
	for i := range w.stack {
		if i > 0 {
			path = w.appendStep(path, &w.stack[i], &w.stack[i-1])
		}
	}
	if n := len(w.stack); n > 0 {
		path = w.appendStep(path, next, &w.stack[n-1])
	}
	return string(path)
}

func (w *walk) appendStep(path []byte, s, in *spot) []byte {
	if in.array {
		return jsonpath.AppendIndex(path, in.index-1)
	}
	return jsonpath.AppendName(path, jsonlex.AppendUnquoted(nil, w.b[s.name.start:s.name.end]))
}

// pathAt returns the rule whose path ends at s.
func (r *Redactor) pathAt(s *spot) *Rule {
	for k := range s.at {
		if s.at[k].Matched() {
			return r.pathRule[k]
		}
	}
	return nil
}
