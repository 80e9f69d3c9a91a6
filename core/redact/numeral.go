package redact

import (
	"crypto/sha256"
	"slices"
)

// numbers hides the numbers of one body that a user's rule names. A hidden number is a number too: what was hidden
// shows in the list of its places only.
type numbers struct {
	places *[]string // of the numbers that are hidden, those of earlier times included
	prefix string    // of every path: where a string that is JSON itself stands, and a space
}

// inside returns numbers for the JSON in the string at path.
func (n *numbers) inside(path string) *numbers {
	return &numbers{places: n.places, prefix: n.prefix + path + " "}
}

// number hides the number at next, which stands at w.b[start:end].
func (w *walk) number(rule *Rule, next *spot, start, end int) {
	if w.numbers == nil {
		return
	}
	place := w.numbers.prefix + w.placeOf(next)
	if slices.Contains(*w.numbers.places, place) {
		return
	}
	*w.numbers.places = append(*w.numbers.places, place)
	w.edits = append(w.edits, edit{start, end, otherNumber(rule, w.b[start:end])})
}

// otherNumber returns a number as long as number, with a sign, a point and an exponent at the same places. It is made
// from ten bits of number's fingerprint, as much as a placeholder shows of a value of digits, or from nothing where the
// rule is opaque.
func otherNumber(rule *Rule, number []byte) string {
	seed := rule.name
	if !rule.opaque {
		seed = WholeFingerprint(number)[:shortFingerprint]
	}
	digits := sha256.Sum256([]byte(seed))
	other := slices.Clone(number)
	first := true
	for i, c := range number {
		if c == 'e' || c == 'E' {
			break
		}
		if !is(c, digit) {
			continue
		}
		d := digits[i%len(digits)]
		if first { // a number has no zero in front
			other[i] = '1' + d%9
		} else {
			other[i] = '0' + d%10
		}
		first = false
	}
	return string(other)
}
