package match

import "crypto/sha256"

// Series computes the keys of requests whose message lists go on from one another, each from its new items only. It must
// not be used concurrently.
type Series struct {
	m *Matcher
	e encoder
}

// Mark is a place in the message list of a request that a [Series] has seen. The zero Mark is the beginning of a list.
type Mark struct {
	chain      Hash // of the items before
	items, ids int  // how many there are, and how many ids stand in them
}

// Items returns how many items of the list stand before the mark.
func (m Mark) Items() int { return m.items }

// Chain returns the hash of the list up to the mark, as [Matcher.Chain] gives it.
func (m Mark) Chain() Hash { return m.chain }

// Series returns a Series that has seen nothing.
func (m *Matcher) Series() *Series { return &Series{m: m} }

// IgnoresMessages reports whether message lists of the layout take no part in a key, whatever stands in them.
func (m *Matcher) IgnoresMessages(l *Layout) bool {
	body := m.ignore.Root()
	return body.Matched() || body.Member([]byte(l.messages)).Matched()
}

// HasMessages reports whether l keeps the message list in the top-level member called name.
func (l *Layout) HasMessages(name string) bool {
	return l != nil && l.messages != "" && l.messages == name
}

// Continues reports whether a Series can go on in the message lists of the layout: all ids that it compares stand in them.
func (l *Layout) Continues() bool { return l != nil && l.inList }

// Key returns the key of a request whose message list is what stands before from, then the items in its Body. It is the
// key that [Matcher.Key] gives for the whole list. It returns too the marks after the numbers of these items that at has,
// in rising order, until the next call, and the one after all of them; the zero Mark when there is no list.
//
// A mark is lost when Key is called with one before it: of marks in one list the last has to be used first.
func (s *Series) Key(r *Request, from Mark, at []int) (key Hash, marks []Mark, end Mark) {
	s.e.from, s.e.at = from, at
	s.m.encode(&s.e, r, false)
	return sha256.Sum256(s.e.dst), s.e.marks, s.e.end
}
