package redact

import (
	"bytes"

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
	edits, ok := r.jsonEdits(b, textForm, 0)
	if !ok {
		edits = r.proseEdits(b, textForm, 0)
	}
	return edited(b, edits)
}

// stringEdits hides the secrets of a text that may be JSON.
func (r *Redactor) stringEdits(text []byte, f form, depth int) []edit {
	if len(text) >= mediaSize && run(text, 0, b64) == len(text) {
		return nil
	}
	if depth < maxInner && looksLikeJSON(text) {
		if edits, ok := r.jsonEdits(text, f, depth+1); ok {
			return edits
		}
	}
	return r.proseEdits(text, f, depth)
}

// proseEdits hides the secrets of a text that is not JSON, but may be once its secrets are hidden.
func (r *Redactor) proseEdits(text []byte, f form, depth int) []edit {
	edits := r.textEdits(text, f)
	if len(edits) == 0 || !looksLikeJSON(text) {
		return edits
	}
	if inner, ok := r.jsonEdits(apply(text, edits), f, depth+1); ok {
		edits = compose(edits, inner)
	}
	return edits
}

// looksLikeJSON reports whether text may be a JSON object or array.
func looksLikeJSON(text []byte) bool {
	text = bytes.Trim(text, " \t\r\n")
	n := len(text)
	return n >= 2 && (text[0] == '{' && text[n-1] == '}' || text[0] == '[' && text[n-1] == ']')
}

// spot is a place in a JSON value.
type spot struct {
	array    bool
	index    int
	at       [2]jsonpath.Cursor // in the paths of the Redactor
	path     *Rule              // hides every string at and below the place
	field    *Rule              // hides the string, or the strings of the array, at the place
	token    bool               // the string at the place is hidden if it can be a credential
	logprobs bool               // the place is in a list of tokens' probabilities
}

// jsonEdits hides the secrets of JSON text. ok is false when b is not JSON.
func (r *Redactor) jsonEdits(b []byte, f form, depth int) (edits []edit, ok bool) {
	var buf [256]byte
	var open [16]spot
	stack := open[:0]
	next := spot{at: [2]jsonpath.Cursor{r.paths[0].Root(), r.paths[1].Root()}} // of the value that comes next
	next.path = r.pathAt(&next)
	lex := jsonlex.New(b)
	for {
		kind := lex.Next()
		switch kind {
		case jsonlex.Invalid:
			return nil, false
		case jsonlex.End:
			return edits, true
		case jsonlex.ObjectEnd, jsonlex.ArrayEnd:
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); kind == jsonlex.Name {
			next = r.memberSpot(&stack[n-1], text(lex, buf[:0]))
		} else if n > 0 && stack[n-1].array {
			next = r.elementSpot(&stack[n-1])
		}
		switch kind {
		case jsonlex.ObjectStart, jsonlex.ArrayStart:
			next.array = kind == jsonlex.ArrayStart
			next.index = 0
			stack = append(stack, next)
		case jsonlex.Name, jsonlex.String:
			s := text(lex, buf[:0])
			var found []edit
			switch {
			case kind == jsonlex.Name:
				found = r.textEdits(s, f)
			case next.path != nil:
				found = r.wholeEdit(next.path, s, f)
			case next.field != nil && (!next.token || isCredential(string(s))):
				found = r.wholeEdit(next.field, s, f)
			default:
				found = r.stringEdits(s, f, depth)
			}
			if len(found) == 0 {
				continue
			}
			start, end := lex.Span()
			if lex.Escaped() {
				found = toRaw(found, b[start+1:end-1], jsonUnit)
			}
			edits = append(edits, shift(found, start+1)...)
		}
	}
}

// text returns the unescaped text of the string or name that lex is at. It may use buf.
func text(lex *jsonlex.Scanner, buf []byte) []byte {
	raw := lex.Raw()
	if !lex.Escaped() {
		return raw[1 : len(raw)-1]
	}
	return jsonlex.AppendUnquoted(buf, raw)
}

func (r *Redactor) memberSpot(in *spot, name []byte) spot {
	next := spot{path: in.path, logprobs: in.logprobs || isLogprobs(name)}
	next.at[0], next.at[1] = in.at[0].Member(name), in.at[1].Member(name)
	if next.path == nil {
		next.path = r.pathAt(&next)
	}
	next.field = r.fieldRule(name)
	if next.field == nil && r.members != nil && !next.logprobs && isToken(name) {
		next.field, next.token = r.members, true
	}
	return next
}

func (r *Redactor) elementSpot(in *spot) spot {
	next := spot{path: in.path, field: in.field, token: in.token, logprobs: in.logprobs}
	next.at[0], next.at[1] = in.at[0].Index(in.index), in.at[1].Index(in.index)
	in.index++
	if next.path == nil {
		next.path = r.pathAt(&next)
	}
	return next
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
