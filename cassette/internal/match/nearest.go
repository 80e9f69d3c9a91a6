package match

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
)

const (
	finalists = 8       // how many stored requests are read to find the nearest
	maxRead   = 1 << 20 // bytes of bodies that are read, the live one's included
)

// Nearest returns the index of the stored request that is most like a live one, the earliest of several; false when
// none is of its kind.
//
// Of all stored requests it only looks at how far the bytes of their bodies agree at both ends; a few of them it reads
// in full, the most alike first, as long as they are not large.
//
// Where stored requests hold the end of their message lists only, whole returns all of one, and likely are indexes to look
// at in any case.
func (m *Matcher) Nearest(live *Request, stored []*Request, whole func(i int) *Request, likely []int) (index int, ok bool) {
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
	for _, i := range likely {
		best = slices.DeleteFunc(best, func(c candidate) bool { return c.index == i })
		best = slices.Insert(best, 0, candidate{i, alike(live, stored[i])})
	}

	seed := maphash.MakeSeed()
	var have contents
	nearest := best[0]
	unread := maxRead - len(live.Body)
	for i, c := range best {
		r := stored[c.index]
		if whole != nil {
			r = whole(c.index)
		}
		if unread -= len(r.Body); unread < 0 {
			break
		}
		if have == nil {
			have = m.contents(live, seed)
		}
		c.score += have.overlap(m.contents(r, seed))
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

// resemblance returns how much of the longer of two bodies their common beginning and end are, from 0 to 1. White space
// does not count: a stored body may be laid out otherwise.
func resemblance(a, b []byte) float64 {
	head, a, b := commonHead(a, b)
	tail, a, b := commonTail(a, b)
	same := head + tail
	return float64(same) / float64(max(same+max(len(a), len(b)), 1))
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

// commonHead returns how many bytes a and b have in common at their beginning, white space apart, and what follows them.
func commonHead(a, b []byte) (n int, restA, restB []byte) {
	for {
		same := commonBytes(a, b)
		n, a, b = n+same, a[same:], b[same:]
		x, y := bytes.TrimLeft(a, spaces), bytes.TrimLeft(b, spaces)
		if len(x) == len(a) && len(y) == len(b) {
			return n, a, b
		}
		a, b = x, y
	}
}

// commonTail returns how many bytes a and b have in common at their end, white space apart, and what is before them.
func commonTail(a, b []byte) (n int, restA, restB []byte) {
	for {
		for len(a) >= block && len(b) >= block && bytes.Equal(a[len(a)-block:], b[len(b)-block:]) {
			n, a, b = n+block, a[:len(a)-block], b[:len(b)-block]
		}
		for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
			n, a, b = n+1, a[:len(a)-1], b[:len(b)-1]
		}
		x, y := bytes.TrimRight(a, spaces), bytes.TrimRight(b, spaces)
		if len(x) == len(a) && len(y) == len(b) {
			return n, a, b
		}
		a, b = x, y
	}
}

const spaces = " \t\r\n"

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
