package match

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
)

const (
	finalists = 8       // how many stored requests are read to find the nearest
	maxRead   = 4 << 20 // bytes of bodies that are read, the live one's included
)

// Nearest returns the index of the stored request that is most like a live one, the earliest of several; false when
// none is of its kind.
//
// Of all stored requests it only looks at how far the bytes of their bodies agree at both ends; a few of them it reads
// in full, the most alike first, as long as they are not large.
func (m *Matcher) Nearest(live *Request, stored []*Request) (index int, ok bool) {
	type candidate struct {
		index int
		score float64
	}
	best := make([]candidate, 0, finalists+1) // by falling score
	for i, r := range stored {
		if r.Kind != live.Kind {
			continue
		}
		c := candidate{i, alike(live, r) + resemblance(live.Body, r.Body)}
		if len(best) == finalists && best[finalists-1].score >= c.score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, func(x, c candidate) int {
			if x.score >= c.score {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), finalists)]
	}
	if len(best) == 0 {
		return 0, false
	}

	seed := maphash.MakeSeed()
	var have contents
	nearest := best[0]
	unread := maxRead - len(live.Body)
	for i, c := range best {
		if unread -= len(stored[c.index].Body); unread < 0 {
			break
		}
		if have == nil {
			have = m.contents(live, seed)
		}
		c.score += have.overlap(m.contents(stored[c.index], seed))
		if i == 0 || c.score > nearest.score || c.score == nearest.score && c.index < nearest.index {
			nearest = c
		}
	}
	return nearest.index, true
}

// alike weighs what two requests of one kind have in common beside their bodies. A body that is the same weighs 1: less
// than the same operation, since an answer to another one is of no use, and more than the same model.
func alike(a, b *Request) float64 {
	score := 0.0
	add := func(same bool, weight float64) {
		if same {
			score += weight
		}
	}
	hostA, pathA := a.where()
	hostB, pathB := b.where()
	add(a.Operation == b.Operation, 4)
	add(a.Format == b.Format, 4)
	add(pathA == pathB, 0.5)
	add(a.Method == b.Method, 0.25)
	add(a.Model == b.Model, 0.25)
	add(a.Provider == b.Provider, 0.125)
	add(hostA == hostB, 0.125)
	add(a.Query == b.Query, 0.0625)
	add(kindOf(a.ContentType) == kindOf(b.ContentType), 0.0625)
	add(a.Streamed == b.Streamed, 0.03125) // most bodies say it themselves
	return score
}

// kindOf returns a content type without its parameters.
func kindOf(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return kind
}

// resemblance returns how much of the longer of two bodies their common beginning and end are, from 0 to 1.
func resemblance(a, b []byte) float64 {
	longest := max(len(a), len(b))
	if longest == 0 {
		return 1
	}
	n := commonBytes(a, b)
	return float64(n+commonTail(a[n:], b[n:])) / float64(longest)
}

// block is how many bytes are compared at once while they agree.
const block = 32

// commonBytes returns how many bytes a and b have in common at their beginning.
func commonBytes(a, b []byte) int {
	n := 0
	for len(a)-n >= block && len(b)-n >= block && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// commonTail returns how many bytes a and b have in common at their end.
func commonTail(a, b []byte) int {
	n := 0
	for len(a)-n >= block && len(b)-n >= block && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < len(a) && n < len(b) && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// contents says how often a body holds each value that holds no other, each field of a form, each part. What a
// conversation says counts twice: parameters beside it are less of a request.
type contents map[uint64]int

func (m *Matcher) contents(r *Request, seed maphash.Seed) contents {
	c := make(contents)
	switch v := m.view(r, seed); v.kind {
	case jsonBody:
		c.add(&v.root)
		for i, name := range v.root.names {
			if r.Layout.isConversation(name.text()) {
				c.add(&v.root.inner[i])
			}
		}
	case tokenPairs:
		for _, p := range appendPairs(nil, string(r.Body), nil) {
			c[maphash.Comparable(seed, p)]++
		}
	case tokenParts:
		_, boundary := media(r.ContentType)
		for _, part := range split(r.Body, boundary) {
			c[maphash.Bytes(seed, part)]++
		}
	default:
		c[maphash.Bytes(seed, v.body)]++
	}
	return c
}

func (c contents) add(n *node) {
	if len(n.inner) == 0 {
		c[n.sum]++
	}
	for i := range n.inner {
		c.add(&n.inner[i])
	}
}

// overlap returns how much of the larger of two contents both hold, from 0 to 1.
func (c contents) overlap(other contents) float64 {
	both, mine, others := 0, 0, 0
	for sum, n := range c {
		both += min(n, other[sum])
		mine += n
	}
	for _, n := range other {
		others += n
	}
	return float64(both) / float64(max(mine, others, 1))
}
