package redact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// An answer with logprobs spells its text twice: once as such, and once as a list of tokens, each with its probability,
// its bytes and the tokens that might have stood there. What is hidden in the text is hidden in the list too: in the
// tokens that spell it, with all that is said of them but their probability.

// isLogprobs reports whether the name is that of a list of tokens with their probabilities.
func isLogprobs(name []byte) bool {
	return strings.HasPrefix(string(name), "logprobs") || strings.HasPrefix(string(name), "top_logprobs")
}

// logprobs is a value under such a name: data[start:end]. It may be cut.
type logprobs struct {
	in         int // the node of the object it is a member of, where texts come in pieces
	start, end int
}

// tokenLists are the tokens of a body, by the texts that they spell. The zero tokenLists are none.
type tokenLists struct {
	texts map[string]*[]token
	order []*[]token
}

// token is one element of a list of tokens.
type token struct {
	event   int
	text    []byte
	inside  span // of its string, in the event's data
	escaped bool
	odd     bool // its string is not its text: a part of a character
	bytes   span // of the array of its bytes, if there is one
	others  []edit
}

// value is a JSON value in an event's data.
type value struct {
	kind    jsonlex.Kind
	start   int
	end     int
	escaped bool
	name    string
	inner   []value
}

// add takes in the logprobs x of an event; key tells the texts of one event apart.
func (t *tokenLists) add(key string, event int, data []byte, x logprobs) {
	lex := jsonlex.New(data[x.start:x.end])
	v, _ := readValue(lex, lex.Next(), x.start)
	v.eachList(key, func(name string, list *value, beside []*value) {
		tokens := t.texts[name]
		if tokens == nil {
			if t.texts == nil {
				t.texts = make(map[string]*[]token)
			}
			tokens = new([]token)
			t.texts[name] = tokens
			t.order = append(t.order, tokens)
		}
		for i := range list.inner {
			if tok, ok := list.inner[i].token(data); ok {
				tok.event = event
				for _, b := range beside {
					tok.others = append(tok.others, b.inner[i].blank(b.name)...)
				}
				*tokens = append(*tokens, tok)
			}
		}
	})
}

// readValue reads the value that begins with the token k, shifted by at. ok is false when it is cut: then it is what there
// is of it.
func readValue(lex *jsonlex.Scanner, k jsonlex.Kind, at int) (v value, ok bool) {
	start, end := lex.Span()
	v = value{kind: k, start: at + start, end: at + end, escaped: lex.Escaped()}
	if k != jsonlex.ObjectStart && k != jsonlex.ArrayStart {
		return v, k != jsonlex.Invalid
	}
	for {
		name := ""
		k := lex.Next()
		switch k {
		case jsonlex.ObjectEnd, jsonlex.ArrayEnd:
			_, end := lex.Span()
			v.end = at + end
			return v, true
		case jsonlex.Name:
			raw := lex.Raw()
			name = string(raw[1 : len(raw)-1])
			k = lex.Next()
		}
		inner, ok := readValue(lex, k, at)
		if !ok {
			return v, false
		}
		inner.name = name
		v.inner = append(v.inner, inner)
		v.end = inner.end
	}
}

// eachList calls f with each list of tokens in v, what it is called, and the arrays that say more of the same tokens.
func (v *value) eachList(name string, f func(name string, list *value, beside []*value)) {
	if v.isList() {
		f(name, v, nil)
		return
	}
	found := false
	for i := range v.inner {
		list := &v.inner[i]
		if !list.isList() {
			continue
		}
		found = true
		var beside []*value
		for k := range v.inner {
			if b := &v.inner[k]; b.kind == jsonlex.ArrayStart && len(b.inner) == len(list.inner) && !b.isList() {
				beside = append(beside, b)
			}
		}
		f(name+"."+list.name, list, beside)
	}
	for i := range v.inner {
		if m := &v.inner[i]; !found {
			m.eachList(name+"."+cmp.Or(m.name, strconv.Itoa(i)), f)
		}
	}
}

// isList reports whether v is a list of tokens: objects that have one, or strings by the name of tokens.
func (v *value) isList() bool {
	if v.kind != jsonlex.ArrayStart || len(v.inner) == 0 {
		return false
	}
	first := &v.inner[0]
	return first.member("token", jsonlex.String) != nil || first.kind == jsonlex.String && v.name == "tokens"
}

func (v *value) member(name string, kind jsonlex.Kind) *value {
	for i := range v.inner {
		if m := &v.inner[i]; m.name == name && m.kind == kind {
			return m
		}
	}
	return nil
}

// token returns the token that an element of a list is or has.
func (v *value) token(data []byte) (t token, ok bool) {
	s := v
	if v.kind != jsonlex.String {
		if s = v.member("token", jsonlex.String); s == nil {
			return t, false
		}
	}
	t = token{text: jsonlex.AppendUnquoted(nil, data[s.start:s.end]), inside: span{s.start + 1, s.end - 1}, escaped: s.escaped}
	for i := range v.inner {
		m := &v.inner[i]
		switch {
		case m.name == "bytes" && m.kind == jsonlex.ArrayStart && t.bytes.end == 0:
			t.bytes = span{m.start, m.end}
			if text, ok := m.byteValues(data); ok {
				t.odd = string(text) != string(t.text)
				t.text = text
			}
		case m.kind != jsonlex.String || m != s && string(data[m.start:m.end]) == string(data[s.start:s.end]):
			t.others = append(t.others, m.blank(m.name)...)
		}
	}
	return t, true
}

// byteValues returns the bytes that an array of numbers names.
func (v *value) byteValues(data []byte) (text []byte, ok bool) {
	for _, n := range v.inner {
		b, err := strconv.ParseUint(string(data[n.start:n.end]), 10, 8)
		if err != nil {
			return nil, false
		}
		text = append(text, byte(b))
	}
	return text, true
}

// blank returns the edit that leaves nothing of v, which is called name, but its kind. A number stays, unless it is the
// token's place in a vocabulary.
func (v *value) blank(name string) []edit {
	switch v.kind {
	case jsonlex.String:
		return []edit{{v.start + 1, v.end - 1, ""}}
	case jsonlex.ArrayStart:
		return []edit{{v.start, v.end, "[]"}}
	case jsonlex.ObjectStart:
		return []edit{{v.start, v.end, "{}"}}
	case jsonlex.Number:
		if name := strings.ToLower(strings.TrimSuffix(name, "s")); strings.HasSuffix(name, "id") {
			return []edit{{v.start, v.end, "0"}}
		}
	}
	return nil
}

// hide hides the secrets of the texts that the tokens of events spell.
func (t *tokenLists) hide(r *Redactor, events []event) {
	all := map[int][]edit{}
	for _, tokens := range t.order {
		var text []byte
		for i := range *tokens {
			text = append(text, (*tokens)[i].text...)
		}
		edits := r.stringEdits(text, scope{})
		from := 0
		for i := range *tokens {
			tok := &(*tokens)[i]
			var own []edit
			own, edits = cutEdits(edits, from, from+len(tok.text))
			if len(own) > 0 {
				all[tok.event] = append(all[tok.event], tok.edits(own, events[tok.event].data)...)
			}
			from += len(tok.text)
		}
	}
	for event, edits := range all {
		slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
		events[event].edits = override(events[event].edits, edits)
	}
}

// edits returns the edits of the event's data that make own edits of the token's text.
func (t *token) edits(own []edit, data []byte) []edit {
	text := apply(t.text, own)
	all := slices.Clone(t.others)
	if t.bytes.end > 0 {
		numbers := []byte{'['}
		for i, b := range text {
			if i > 0 {
				numbers = append(numbers, ',')
			}
			numbers = strconv.AppendUint(numbers, uint64(b), 10)
		}
		all = append(all, edit{t.bytes.start, t.bytes.end, string(numbers) + "]"})
	}
	if t.odd {
		placeholders := ""
		for _, e := range own {
			placeholders += e.text
		}
		return append(all, edit{t.inside.start, t.inside.end, placeholders})
	}
	if t.escaped {
		own = toRaw(own, data[t.inside.start:t.inside.end], jsonUnit)
	}
	return append(all, shift(own, t.inside.start)...)
}

// override puts edits over those that touch them. Both are sorted.
func override(old, over []edit) []edit {
	old = slices.DeleteFunc(old, func(e edit) bool {
		i, _ := slices.BinarySearchFunc(over, e.start, func(o edit, start int) int { return cmp.Compare(o.end, start+1) })
		return i < len(over) && over[i].start < e.end
	})
	return inOrder(append(old, over...))
}
