package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// encoder appends canonical forms to dst. It keeps its memory from one request to the next.
type encoder struct {
	dst         []byte
	fingerprint func(dst, s []byte) []byte // nil appends s
	layout      *Layout                    // nil when there is none
	only        bool                       // of an object, the conversation only
	traced      bool                       // spans and gaps are marked, and no list is hashed: a form for readers
	root        place

	scan    jsonlex.Scanner
	text    []byte   // an unescaped string
	members []member // of the objects that are open
	sorted  []byte   // members in their order
	ids     numbering
	pairs   []pair

	from    Mark   // where the message list goes on
	at      []int  // after how many of its items in the body marks are wanted, in rising order
	marks   []Mark // these, of the last message list
	end     Mark   // after the last of its items
	listed  bool   // a message list was met
	chained bool   // chain is wanted
	chain   []Hash // of the last message list, one hash an item
}

// member is a member of an object, as offsets in dst.
type member struct{ start, name, nameEnd, end int }

// json appends the form of body. It reports false, and appends nothing, when body is not one JSON value.
func (e *encoder) json(body []byte) bool {
	start := len(e.dst)
	e.scan.Reset(body)
	e.ids.cut(e.from.ids)
	e.members, e.chain, e.marks, e.end, e.listed = e.members[:0], e.chain[:0], e.marks[:0], Mark{}, false
	if e.root.ignored.Matched() {
		return jsonlex.Valid(body)
	}
	if !e.value(e.scan.Next(), e.root) || e.scan.Next() != jsonlex.End {
		e.dst, e.chain, e.listed = e.dst[:start], e.chain[:0], false
		return false
	}
	e.ids.number(e.dst[start:])
	return true
}

// value appends the value in the place at, which begins with the token k.
func (e *encoder) value(k jsonlex.Kind, at place) bool {
	start, _ := e.scan.Span()
	switch k {
	case jsonlex.Null:
		e.dst = append(e.dst, tokenNull)
	case jsonlex.True:
		e.dst = append(e.dst, tokenTrue)
	case jsonlex.False:
		e.dst = append(e.dst, tokenFalse)
	case jsonlex.Number:
		e.dst = append(jsonlex.AppendNumber(append(e.dst, tokenNumber), e.scan.Raw()), endNumber)
	case jsonlex.String:
		if at.ids.Matched() {
			from := len(e.dst)
			e.dst = e.appendText(e.dst, e.unquoted())
			e.dst = e.ids.append(e.dst[:from], e.dst[from:])
		} else {
			e.string(e.unquoted())
		}
	case jsonlex.ArrayStart:
		if !e.array(at) {
			return false
		}
	case jsonlex.ObjectStart:
		if !e.object(at) {
			return false
		}
	default:
		return false
	}
	e.span(start)
	return true
}

func (e *encoder) array(at place) bool {
	e.dst = append(e.dst, tokenArray)
	for i := 0; ; i++ {
		k := e.scan.Next()
		if k == jsonlex.ArrayEnd {
			e.dst = append(e.dst, endArray)
			return true
		}
		below := at.element(i)
		if below.ignored.Matched() {
			if !e.skip(k) {
				return false
			}
			if e.traced {
				e.dst = append(e.dst, tokenGap)
			}
		} else if !e.value(k, below) {
			return false
		}
	}
}

func (e *encoder) object(at place) bool {
	first, ordered := len(e.members), true
	e.dst = append(e.dst, tokenObject)
	for {
		switch e.scan.Next() {
		case jsonlex.ObjectEnd:
			if !ordered {
				e.sort(first)
			}
			e.members = e.members[:first]
			e.dst = append(e.dst, endObject)
			return true
		case jsonlex.Name:
		default:
			return false
		}

		name, top := e.unquoted(), e.scan.Depth() == 1
		list := top && e.layout.isMessages(name)
		leftOut := top && e.only && !e.layout.isConversation(name)
		below := at.member(name)
		if leftOut || below.ignored.Matched() {
			if !e.skip(e.scan.Next()) {
				return false
			}
			continue
		}
		e.listed = e.listed || list
		m := member{start: len(e.dst)}
		nameStart, _ := e.scan.Span()
		e.string(name)
		from, _ := sizedText(e.dst[m.start+1:])
		m.name, m.nameEnd = m.start+1+from, len(e.dst)
		e.span(nameStart)
		k := e.scan.Next()
		if list && k == jsonlex.ArrayStart {
			if !e.list(below) {
				return false
			}
		} else if !e.value(k, below) {
			return false
		}
		m.end = len(e.dst)
		if n := len(e.members); n > first && bytes.Compare(e.name(e.members[n-1]), e.name(m)) > 0 {
			ordered = false
		}
		e.members = append(e.members, m)
	}
}

func (e *encoder) name(m member) []byte { return e.dst[m.name:m.nameEnd] }

// sort brings the members of the object that ends in dst, from the one called first on, into the order of their names.
// Members of one name keep theirs.
func (e *encoder) sort(first int) {
	members := e.members[first:]
	from := members[0].start
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(e.name(a), e.name(b)) })
	e.sorted = e.sorted[:0]
	for _, m := range members {
		e.sorted = append(e.sorted, e.dst[m.start:m.end]...)
	}
	copy(e.dst[from:], e.sorted)
}

// list appends the message list whose first token was read as a chain of hashes: the next hash is SHA-256 of the one
// before and of the item's form, so that a conversation's hash goes on from that of its beginning.
func (e *encoder) list(at place) bool {
	from := len(e.dst)
	if e.traced {
		start, _ := e.scan.Span()
		if !e.array(at) {
			return false
		}
		e.ids.number(e.dst[from:])
		e.span(start)
		return true
	}
	e.chain, e.marks = e.chain[:0], e.marks[:0]
	last := e.from.chain
	if e.from.items == 0 {
		last = chainStart
	}
	for i := e.from.items; ; i++ {
		e.end = Mark{chain: last, items: i, ids: len(e.ids.ids)}
		for len(e.marks) < len(e.at) && e.at[len(e.marks)] == i-e.from.items {
			e.marks = append(e.marks, e.end)
		}
		k := e.scan.Next()
		if k == jsonlex.ArrayEnd {
			e.dst = append(append(e.dst[:from], tokenMessages), last[:]...)
			return true
		}
		below := at.element(i)
		if below.ignored.Matched() {
			if !e.skip(k) {
				return false
			}
		} else {
			e.dst = append(e.dst[:from], last[:]...)
			if !e.value(k, below) {
				return false
			}
			e.ids.number(e.dst[from+chainLen:])
			last = sha256.Sum256(e.dst[from:])
			if e.chained {
				e.chain = append(e.chain, last)
			}
		}
	}
}

// skip reads the value that begins with the token k and appends nothing.
func (e *encoder) skip(k jsonlex.Kind) bool {
	if k != jsonlex.ArrayStart && k != jsonlex.ObjectStart {
		return k != jsonlex.Invalid
	}
	for depth := e.scan.Depth() - 1; e.scan.Depth() > depth; {
		if e.scan.Next() == jsonlex.Invalid {
			return false
		}
	}
	return true
}

// unquoted returns the text of the string or name that was read last, until the next call.
func (e *encoder) unquoted() []byte {
	raw := e.scan.Raw()
	if !e.scan.Escaped() {
		return raw[1 : len(raw)-1]
	}
	e.text = jsonlex.AppendUnquoted(e.text[:0], raw)
	return e.text
}

// string appends the form of the text s.
func (e *encoder) string(s []byte) { e.sized(tokenString, s) }

// sized appends the text s, sized, behind token.
func (e *encoder) sized(token byte, s []byte) {
	at := len(e.dst) + 1
	e.dst = sized(e.appendText(append(e.dst, token, 0), s), at)
}

func (e *encoder) appendText(dst, s []byte) []byte {
	if e.fingerprint == nil {
		return append(dst, s...)
	}
	return e.fingerprint(dst, s)
}

// span appends where in the source the value or name stands that began at start and ended with the last token.
func (e *encoder) span(start int) {
	if !e.traced {
		return
	}
	_, end := e.scan.Span()
	e.dst = binary.AppendUvarint(append(e.dst, tokenSpan), uint64(start))
	e.dst = binary.AppendUvarint(e.dst, uint64(end))
}
