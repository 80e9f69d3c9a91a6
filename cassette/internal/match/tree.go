package match

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"slices"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// node is a value of a traced form: a JSON value as matching sees it, what is left out gone, with where it stands in
// its source.
type node struct {
	token  byte
	form   []byte // of a value that holds no other
	sum    uint64 // equal for two nodes of one seed when they are the same
	source []byte
	names  []name // of the members of an object
	inner  []node // values of members, or elements
	index  int    // of an element in its source, those left out counted
}

// name is the name of a member.
type name struct {
	form   []byte
	source []byte
}

// key returns what members are sorted by: the name's text, without its size.
func (n name) key() []byte {
	from, _ := sizedText(n.form[1:])
	return n.form[1+from:]
}

// reader reads a traced form.
type reader struct {
	form, source []byte
	seed         maphash.Seed
}

// value reads the value that the form begins with, and moves behind it.
func (r *reader) value() node {
	n := node{token: r.form[0]}
	var h maphash.Hash
	h.SetSeed(r.seed)
	h.WriteByte(n.token)
	switch n.token {
	case tokenArray:
		r.form = r.form[1:]
		for i := 0; r.form[0] != endArray; i++ {
			if r.form[0] == tokenGap {
				r.form = r.form[1:]
				continue
			}
			inner := r.value()
			inner.index = i
			n.add(&h, inner)
		}
		r.form = r.form[1:]
	case tokenObject:
		for r.form = r.form[1:]; r.form[0] != endObject; {
			var nm name
			nm.form = r.leaf()
			nm.source = r.span()
			h.Write(nm.form)
			n.names = append(n.names, nm)
			n.add(&h, r.value())
		}
		r.form = r.form[1:]
	default:
		n.form = r.leaf()
		h.Write(n.form)
	}
	n.source = r.span()
	n.sum = h.Sum64()
	return n
}

func (n *node) add(h *maphash.Hash, inner node) {
	maphash.WriteComparable(h, inner.sum)
	n.inner = append(n.inner, inner)
}

// leaf reads a value that holds no other, without its span.
func (r *reader) leaf() []byte {
	n := 1
	switch r.form[0] {
	case tokenString:
		_, to := sizedText(r.form[1:])
		n += to
	case tokenNumber:
		n += bytes.IndexByte(r.form, endNumber)
	case tokenID:
		n += 4
	}
	leaf := r.form[:n]
	r.form = r.form[n:]
	return leaf
}

// span reads a span and returns what stands there in the source.
func (r *reader) span() []byte {
	start, n := binary.Uvarint(r.form[1:])
	end, k := binary.Uvarint(r.form[1+n:])
	r.form = r.form[1+n+k:]
	return r.source[start:end]
}

// member returns the first member called name, nil when there is none.
func (n *node) member(name string) *node {
	for i := range n.names {
		if string(n.names[i].text()) == name {
			return &n.inner[i]
		}
	}
	return nil
}

// text returns the text of a string.
func (n *node) text() []byte { return jsonlex.AppendUnquoted(nil, n.source) }

// text returns the name as it stands in the source, unescaped.
func (n name) text() []byte { return jsonlex.AppendUnquoted(nil, n.source) }

// compact returns the value as it stands in the source, without white space.
func (n *node) compact() []byte {
	var b bytes.Buffer
	if json.Compact(&b, n.source) != nil { // unreachable while jsonlex is the stricter of the two
		return n.source
	}
	return b.Bytes()
}

// sums returns the sums of nodes, sorted.
func sums(nodes []node) []uint64 {
	s := make([]uint64, len(nodes))
	for i := range nodes {
		s[i] = nodes[i].sum
	}
	slices.Sort(s)
	return s
}
