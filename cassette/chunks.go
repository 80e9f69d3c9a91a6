package cassette

import (
	"bytes"
	"math/rand/v2"

	"github.com/mixtape-go/mixtape/bus"
)

// remapChunks carries the chunks of a stream over to what redaction made of it. Cuts outside of what was changed stay
// where they were; a cut at the start of an event stays at the start of that event. The lengths of what is returned
// add up to those of redacted, and the order of times is kept. Chunks that do not add up to original are replaced by
// the events of redacted.
func remapChunks(chunks []bus.Chunk, original, redacted []byte) []bus.Chunk {
	total := 0
	for _, c := range chunks {
		total += c.Len
	}
	if total != len(original) {
		return recutChunks(chunks, redacted)
	}
	if bytes.Equal(original, redacted) {
		return chunks
	}
	m := newMapping(original, redacted)
	list := make([]bus.Chunk, 0, len(chunks))
	cut, done := 0, 0
	for i, c := range chunks {
		cut += c.Len
		to := len(redacted)
		if i < len(chunks)-1 {
			to = m.position(cut)
		}
		if to > done || c.Len == 0 {
			list = append(list, bus.Chunk{At: c.At, Len: to - done})
		}
		done = to
	}
	return list
}

// recutChunks cuts a stream at its events, with the times of chunks.
func recutChunks(chunks []bus.Chunk, stream []byte) []bus.Chunk {
	f, _, _ := split(stream)
	times := make([]int64, len(chunks))
	for i, c := range chunks {
		times[i] = millis(c.At)
	}
	return f.cutAtEvents(stream, times)
}

// mapping tells where a position in one text is in another that was made from it. Positions come in rising order.
type mapping struct {
	pairs []pair // aligned parts, in order; together they are the two texts
	next  int
}

// pair is a part of one text and what it became.
type pair struct{ from, to span }

func newMapping(original, redacted []byte) *mapping {
	a, b := eventSpans(original), eventSpans(redacted)
	if len(a) != len(b) {
		a, b = []span{{0, len(original)}}, []span{{0, len(redacted)}}
	}
	m := &mapping{}
	for i := range a {
		p, s := sharedEnds(a[i].of(original), b[i].of(redacted))
		m.pairs = append(m.pairs,
			pair{span{a[i].from, a[i].from + p}, span{b[i].from, b[i].from + p}},
			pair{span{a[i].from + p, a[i].to - s}, span{b[i].from + p, b[i].to - s}},
			pair{span{a[i].to - s, a[i].to}, span{b[i].to - s, b[i].to}})
	}
	return m
}

// position maps a position that is no less than the one before.
func (m *mapping) position(at int) int {
	for m.next < len(m.pairs)-1 && at >= m.pairs[m.next].from.to {
		m.next++
	}
	p := m.pairs[m.next]
	return min(p.to.from+at-p.from.from, p.to.to)
}

// eventSpans returns the events of a stream; one for all of it when it has none.
func eventSpans(stream []byte) []span {
	f, _, ok := split(stream)
	if !ok {
		return []span{{0, len(stream)}}
	}
	var spans []span
	for at := 0; at < len(stream); {
		n := f.eventLen(stream[at:])
		spans = append(spans, span{at, at + n})
		at += n
	}
	return spans
}

// sharedEnds returns the lengths of the longest beginning, and of the longest end after it, that a and b share.
func sharedEnds(a, b []byte) (prefix, suffix int) {
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// cutAnywhere returns chunks of n bytes, cut at places that the seeds decide, most of them small.
func cutAnywhere(n int, seed1, seed2 uint64) []bus.Chunk {
	rng := rand.New(rand.NewPCG(seed1, seed2))
	var chunks []bus.Chunk
	for most := max(16, n/256); n > 0; {
		size := min(n, 1+rng.IntN(1+rng.IntN(most)))
		chunks = append(chunks, bus.Chunk{Len: size})
		n -= size
	}
	return chunks
}
