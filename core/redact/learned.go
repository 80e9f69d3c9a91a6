package redact

import (
	"slices"
	"sync"
)

// memory holds what a Redactor hid, so that it can be hidden wherever it stands.
type memory struct {
	mu      sync.Mutex
	seen    map[string]bool
	values  []literal
	learned *Redactor // for values, nil when there are new ones
}

// minLearned is how long a value must be, in bytes, to be hidden where only its text tells.
const minLearned = 8

// remember notes a value that rule hid.
func (r *Redactor) remember(rule *Rule, value []byte) {
	if r.memory == nil || len(value) < minLearned || rule == &credentialRule || rule == &signatureRule ||
		rule.kind != shapeRule && !hasLetterAndDigit(value) {
		return
	}
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[string(value)] {
		return
	}
	for range marks(value, r.named) {
		return // what is left of it would not tell it from others
	}
	if m.seen == nil {
		m.seen = make(map[string]bool)
	}
	m.seen[string(value)] = true
	m.values = append(m.values, literal{string(value), rule})
	m.learned = nil
}

// Learned returns a Redactor that hides the values that r has hidden so far wherever they stand as words, whatever is
// around them: in a text without the name of a member, say, by which r knew them. It hides values of at least 8 bytes
// that have a shape, or a letter and a digit, with the placeholders that r gave them; nothing else. It is nil when there
// are none.
//
// To hide in several texts each value that stands in one of them, give all of them to r, then what comes back to
// Learned.
func (r *Redactor) Learned() *Redactor {
	m := r.memory
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.values) == 0 {
		return nil
	}
	if m.learned == nil {
		words := newLiterals(slices.Clone(m.values))
		words.words = true
		l := &Redactor{ledger: r.ledger, shapeless: true}
		l.literals.Store(words)
		l.nameSet.Store(r.nameSet.Load())
		m.learned = l
	}
	return m.learned
}

// isWord reports whether what stands at b[start:end] does not go on as a word before or after.
func isWord(b []byte, start, end int) bool {
	return (start == 0 || !is(b[start], alnum) || !is(b[start-1], alnum)) && (end == len(b) || !is(b[end-1], alnum) || !is(b[end], alnum))
}
