package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

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

func (h chainHash) next(item []byte) (next chainHash) {
	d := sha256.New()
	d.Write(h[:])
	d.Write(item)
	d.Sum(next[:0])
	return next
}

// with returns the hash of n elements, which is h, and item.
func (h chainHash) with(n int, item []byte) chainHash {
	if n == 0 {
		return firstHash(item)
	}
	return h.next(item)
}

// String returns the short form that stands in the file.
func (h chainHash) String() string { return hex.EncodeToString(h[:4]) }

// span is a part of a text by its offsets.
type span struct{ from, to int }

func (s span) of(text []byte) []byte { return text[s.from:s.to] }

// arrayIn finds the array that an object's member holds. ok is false when text is no object with just one such member,
// however its name is escaped.
func arrayIn(text []byte, member string) (array span, ok bool) {
	s := jsonlex.New(text)
	var unquoted []byte
	is := func() bool {
		raw := s.Raw()
		if !s.Escaped() {
			return string(raw[1:len(raw)-1]) == member
		}
		unquoted = jsonlex.AppendUnquoted(unquoted[:0], raw)
		return string(unquoted) == member
	}
	for {
		switch k := s.Next(); {
		case k == jsonlex.Invalid:
			return array, false
		case k == jsonlex.End:
			return array, ok
		case k == jsonlex.Name && s.Depth() == 1 && is():
			if ok || s.Next() != jsonlex.ArrayStart {
				return array, false
			}
			array.from, _ = s.Span()
			for depth := s.Depth(); s.Depth() >= depth; {
				if s.Next() == jsonlex.Invalid {
					return array, false
				}
			}
			_, array.to = s.Span()
			ok = true
		}
	}
}

// elements yields the elements of an array that stand between at, where one begins or a comma stands before it, and end,
// where the array ends; and of each how deep its tokens stand in it, summed up.
func elements(data []byte, at, end int) iter.Seq2[span, int] {
	return func(yield func(span, int) bool) {
		var s jsonlex.Scanner
		for {
			for at < end && bytes.IndexByte([]byte(", \t\r\n"), data[at]) >= 0 {
				at++
			}
			if at == end {
				return
			}
			s.Reset(data[at:end])
			depths := 0
			for more := true; more; more = s.Depth() > 0 {
				s.Next()
				depths += s.Depth()
			}
			_, n := s.Span()
			if !yield(span{at, at + n}, depths) {
				return
			}
			at += n
		}
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
	array, ok := arrayIn(text, member)
	if !ok {
		return text
	}
	var items []span
	for item := range elements(text, array.from+1, array.to-1) {
		items = append(items, item)
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
		h = h.with(i, item)
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
			r.failNewer("%s has an unknown member %s", what, brief(name))
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
	array, _ := arrayIn(text, e.member)
	at := array.from + 1
	comma := []byte{','}
	if at == array.to-1 { // there is no element
		comma = nil
	}
	return slices.Concat(text[:at], shared, comma, text[at:])
}

// list is the message list of one interaction of a file that was read: the first elements of another's, then its own.
// It keeps where some of its elements stand, so that its memory is a small part of theirs.
type list struct {
	index  int // of the interaction
	member string
	from   *list  // itself when all elements are its own
	jump   *list  // one that from goes on from, or from, such that a few jumps lead to any of them
	depth  int    // how many lists it goes on from
	shared int    // how many elements are from's; more than from shares
	own    int    // how many are its own
	before extent // of those that are from's
	inside span   // of the array that holds its own, in the file
	depths int    // of the extent of its own
	stops  []stop
}

// extent is how much elements come to.
type extent struct {
	bytes  int // in the file
	depths int // how deep their tokens stand in them, summed up
}

// stop is a place before an element of a list.
type stop struct {
	items  int       // how many of the list's own elements stand before it
	at     int       // in the file
	depths int       // of the extent of the own elements before
	hash   chainHash // of all elements before; of none at the beginning of a list that shares none
}

// stopDistance is how many bytes stand between two stops, and one element more.
const stopDistance = 512

func (l *list) len() int { return l.shared + l.own }

// holding returns the list whose own elements the last of the first n elements of l is one of.
func (l *list) holding(n int) *list {
	for n <= l.shared {
		if n <= l.jump.shared {
			l = l.jump
		} else {
			l = l.from
		}
	}
	return l
}

// hash returns the hash of the first n elements, n > 0.
func (l *list) hash(data []byte, n int) chainHash {
	l = l.holding(n)
	s := l.stops[sort.Search(len(l.stops), func(i int) bool { return l.shared+l.stops[i].items > n })-1]
	if l.shared+s.items == n {
		return s.hash
	}
	var text []byte
	for item, depths := range elements(data, s.at, l.inside.to) {
		text = compact.append(text[:0], item.of(data))
		if s = l.after(s, text, item.to, depths); l.shared+s.items == n {
			break // before the next is looked at, which may be long
		}
	}
	return s.hash
}

// extent returns the extent of the first n elements, n > 0, or of a few more.
func (l *list) extent(n int) extent {
	l = l.holding(n)
	own := extent{l.inside.to - l.inside.from, l.depths}
	if at := sort.Search(len(l.stops), func(i int) bool { return l.shared+l.stops[i].items >= n }); at < len(l.stops) {
		own = extent{l.stops[at].at - l.inside.from, l.stops[at].depths}
	}
	return extent{l.before.bytes + own.bytes, l.before.depths + own.depths}
}

// after returns the place behind an element that stands at s, whose text is text and which ends at end.
func (l *list) after(s stop, text []byte, end, depths int) stop {
	return stop{s.items + 1, end, s.depths + depths, s.hash.with(l.shared+s.items, text)}
}

// newList makes the list whose own elements stand in array, in the file data, after the first shared of from, whose hash
// is hash.
func newList(index int, member string, from *list, shared int, hash chainHash, data []byte, array span) *list {
	l := &list{index: index, member: member, shared: shared, inside: span{array.from + 1, array.to - 1}}
	l.from, l.jump = l, l
	s := stop{at: l.inside.from}
	if from != nil {
		// A list that shares no more than from does itself need not go through it: so each step back is to a shorter list.
		l.from = from.holding(shared)
		l.depth = l.from.depth + 1
		l.jump = l.from
		if j := l.from.jump; l.from.depth-j.depth == j.depth-j.jump.depth {
			l.jump = j.jump
		}
		s.hash = hash
		l.before = l.from.extent(shared)
	}
	l.stops = []stop{s}
	var text []byte
	for item, depths := range elements(data, s.at, l.inside.to) {
		text = compact.append(text[:0], item.of(data))
		s = l.after(s, text, item.to, depths)
		if s.at-l.stops[len(l.stops)-1].at >= stopDistance {
			l.stops = append(l.stops, s)
		}
	}
	l.own, l.depths = s.items, s.depths
	return l
}

// append appends the first n elements, separated by commas.
func (l *list) append(dst, data []byte, n int) []byte {
	type part struct {
		l *list
		n int // of its own elements
	}
	var parts []part
	for l = l.holding(n); ; l = l.from {
		parts = append(parts, part{l, n - l.shared})
		n = l.shared
		if n == 0 {
			break
		}
	}
	first := true
	for _, p := range slices.Backward(parts) {
		n := 0
		for item := range elements(data, p.l.inside.from, p.l.inside.to) {
			if n == p.n {
				break
			}
			n++
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = compact.append(dst, item.of(data))
		}
	}
	return dst
}
