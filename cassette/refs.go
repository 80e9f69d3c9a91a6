package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// A conversation's requests each hold the whole conversation so far. In the file, a message list that begins as that of
// an earlier interaction does holds only what is new, and "extends" says what it goes on from.
type extends struct {
	member string // of the JSON body: the one that holds the list
	back   int    // how many interactions back the other stands
	items  int    // how many of its elements come first
	hash   string // chainHash.String of these
	at     int    // offset in the file
}

// chainHash is a hash of the elements at the beginning of a list: SHA-256 over the hash of those before the last
// (nothing for the first), then the last one's compact JSON text. So a longer list costs its new elements only.
type chainHash [sha256.Size]byte

func firstHash(item []byte) chainHash { return sha256.Sum256(item) }

func (h chainHash) next(item []byte) chainHash {
	return sha256.Sum256(append(h[:len(h):len(h)], item...))
}

// String returns the short form that stands in the file.
func (h chainHash) String() string { return hex.EncodeToString(h[:4]) }

// span is a part of a text by its offsets.
type span struct{ from, to int }

func (s span) of(text []byte) []byte { return text[s.from:s.to] }

// listIn finds the array that an object's member holds, and its elements. ok is false when text is no object with just
// one such member.
func listIn(text []byte, member string) (array span, items []span, ok bool) {
	s := jsonlex.New(text)
	quoted := jsonlex.AppendQuoted(nil, []byte(member))
	found := false
	for {
		switch k := s.Next(); {
		case k == jsonlex.Invalid:
			return array, nil, false
		case k == jsonlex.End:
			return array, items, ok && found
		case k == jsonlex.Name && s.Depth() == 1 && bytes.Equal(s.Raw(), quoted):
			if found || s.Next() != jsonlex.ArrayStart {
				return array, nil, false
			}
			found = true
			array.from, _ = s.Span()
			items, ok = itemsOf(s)
			_, array.to = s.Span()
		}
	}
}

// itemsOf reads the elements of an array that s has begun, up to its end.
func itemsOf(s *jsonlex.Scanner) (items []span, ok bool) {
	depth := s.Depth()
	for {
		k := s.Next()
		if k == jsonlex.Invalid {
			return nil, false
		}
		if s.Depth() < depth {
			return items, true
		}
		var item span
		item.from, item.to = s.Span()
		for s.Depth() > depth {
			if s.Next() == jsonlex.Invalid {
				return nil, false
			}
			_, item.to = s.Span()
		}
		items = append(items, item)
	}
}

// references finds, while a file is written, what each message list shares with those before.
type references struct {
	// member names the member that holds the message list of a request in a wire format; empty when there is none.
	member func(format string) string
	index  int // of the interaction being written
	seen   map[listKey]holder
}

type listKey struct {
	member string
	hash   chainHash
}

// holder is an interaction whose list begins with the elements of a hash.
type holder struct {
	index int
	whole bool // these are all its elements
}

// minShared is how many bytes of elements are worth a reference when they are not the whole of another list: a system
// message alone reads better where it stands.
const minShared = 512

// share writes the member "extends" if the compact JSON text has a message list that begins as an earlier one does, and
// returns the text without what they share.
func (p *printer) share(text []byte, format string, refs *references) []byte {
	member := refs.member(format)
	if member == "" {
		return text
	}
	array, items, ok := listIn(text, member)
	if !ok {
		return text
	}
	ext, ok := refs.add(text, member, items)
	if !ok {
		return text
	}
	p.name("extends")
	p.openLine('{')
	p.textMember("member", ext.member)
	p.numberMember("back", int64(ext.back))
	p.numberMember("items", int64(ext.items))
	p.textMember("hash", ext.hash)
	p.closeLine('}')
	rest := array.to - 1
	if ext.items < len(items) {
		rest = items[ext.items].from
	}
	return slices.Concat(text[:items[0].from], text[rest:])
}

// add looks for the longest beginning of a list that an earlier one has, and notes the list for those to come.
func (refs *references) add(text []byte, member string, items []span) (ext extends, ok bool) {
	var h chainHash
	size := 0
	var fresh []listKey
	for i, it := range items {
		item := it.of(text)
		if i == 0 {
			h = firstHash(item)
		} else {
			h = h.next(item)
		}
		size += len(item)
		key := listKey{member, h}
		other, known := refs.seen[key]
		if known && (other.whole || size >= minShared) {
			ext, ok = extends{member: member, back: refs.index - other.index, items: i + 1, hash: h.String()}, true
		}
		if !known {
			fresh = append(fresh, key)
		}
		if i == len(items)-1 {
			refs.seen[key] = holder{refs.index, true}
		}
	}
	for _, key := range fresh {
		if _, known := refs.seen[key]; !known {
			refs.seen[key] = holder{refs.index, false}
		}
	}
	return ext, ok
}

// extends reads what printer.share wrote.
func (r *reader) extends(what string) *extends {
	r.peek()
	e := &extends{at: r.offset()}
	for name := range r.members(what) {
		switch name {
		case "member":
			e.member = r.text(what + ".member")
		case "back":
			e.back = int(r.number(what+".back", math.MaxInt32))
		case "items":
			e.items = int(r.number(what+".items", math.MaxInt32))
		case "hash":
			e.hash = r.text(what + ".hash")
		default:
			r.fail("%s has an unknown member %s", what, brief(name))
		}
	}
	if e.member == "" || e.back == 0 || e.items == 0 || e.hash == "" {
		r.failAt(e.at, remedyEdit, fmt.Errorf("%s must have member, back, items and hash", what))
	}
	return e
}

// join puts the shared elements, separated by commas, in front of those in text.
func (e *extends) join(text, shared []byte) []byte {
	text = compact.append(nil, text)
	array, items, _ := listIn(text, e.member)
	at := array.from + 1
	comma := []byte{','}
	if len(items) == 0 {
		comma = nil
	}
	return slices.Concat(text[:at], shared, comma, text[at:])
}

// list is the message list of one interaction of a file that was read: the first elements of another's, then its own.
type list struct {
	member string
	from   *list // nil when all elements are its own
	shared int   // how many are from's
	own    []span
	hashes []chainHash // up to and with each of its own
}

func (l *list) len() int { return l.shared + len(l.own) }

// hash returns the hash of the first n elements, n > 0.
func (l *list) hash(n int) chainHash {
	for n <= l.shared {
		l = l.from
	}
	return l.hashes[n-l.shared-1]
}

// newList makes the list of the elements own of the file data, after the first shared of from.
func newList(member string, from *list, shared int, data []byte, own []span) *list {
	// A list that shares no more than from does itself need not go through it: so each step back is to a shorter list.
	for from != nil && shared <= from.shared {
		from = from.from
	}
	l := &list{member: member, from: from, shared: shared, own: own, hashes: make([]chainHash, len(own))}
	var text []byte
	for i, it := range own {
		text = compact.append(text[:0], it.of(data))
		switch {
		case i > 0:
			l.hashes[i] = l.hashes[i-1].next(text)
		case shared > 0:
			l.hashes[i] = from.hash(shared).next(text)
		default:
			l.hashes[i] = firstHash(text)
		}
	}
	return l
}

// append appends the first n elements, separated by commas.
func (l *list) append(dst, data []byte, n int) []byte {
	type part struct {
		l *list
		n int // of its own elements
	}
	var parts []part
	for ; l != nil; l = l.from {
		if n > l.shared {
			parts = append(parts, part{l, n - l.shared})
		}
		n = min(n, l.shared)
	}
	first := true
	for _, p := range slices.Backward(parts) {
		for _, it := range p.l.own[:p.n] {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = compact.append(dst, it.of(data))
		}
	}
	return dst
}
