package redact

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// numbers hides the numbers of one body that a user's rule names. A hidden number is a number too: that it was hidden
// shows in the list of its places only, with its fingerprint. In percent escapes, where no program reads its own request
// again, a placeholder in quotes stands for it.
type numbers struct {
	list   *numberList
	prefix string // of every path: where a string that is JSON itself stands, and a space
}

// numberList is what one body's numbers have in common.
type numberList struct {
	places *[]string         // of the numbers that are hidden, those of earlier times included
	hidden map[string]string // fingerprints by places, "" for an opaque rule
	shown  bool              // placeholders take the numbers' places
}

// newNumbers returns the numbers of a body; nil where none can be hidden.
func (r *Redactor) newNumbers(places *[]string, shown bool) *numbers {
	if len(*places) == 0 && !r.HasPaths() && !r.hasFields {
		return nil
	}
	list := &numberList{places: places, shown: shown}
	for _, place := range *places {
		if list.hidden == nil {
			list.hidden = make(map[string]string)
		}
		fingerprint := NumberFingerprint(place)
		list.hidden[strings.TrimSuffix(place, " "+fingerprint)] = fingerprint
	}
	return &numbers{list: list}
}

// of returns the numbers of the k-th event or part of the body.
func (n *numbers) of(k int) *numbers {
	if n == nil {
		return nil
	}
	return &numbers{n.list, n.prefix + strconv.Itoa(k) + " "}
}

// listed returns how many places there are, and forget takes those away that were added since: of a text that is not
// JSON after all.
func (n *numbers) listed() int {
	if n == nil {
		return 0
	}
	return len(*n.list.places)
}

func (n *numbers) forget(listed int) {
	if n != nil {
		*n.list.places = (*n.list.places)[:listed]
	}
}

// numbersIn returns the numbers of the JSON in the string at next.
func (w *walk) numbersIn(next *spot) *numbers {
	if w.numbers == nil {
		return nil
	}
	return &numbers{w.numbers.list, w.numbers.prefix + w.placeOf(next) + " "}
}

// numberName is the name of a number's placeholder.
const numberName = "number"

// number hides the number at next, which stands at w.b[start:end].
func (w *walk) number(rule *Rule, next *spot, start, end int) {
	n := w.numbers
	if w.form == urlForm && rule != nil {
		quote := strings.Repeat("%5C", 1<<(w.depth-1)-1) + "%22" // escaped once more in each string
		w.edits = append(w.edits, edit{start, end, quote + w.r.placeholder(rule, numberText(w.b[start:end]), urlForm) + quote})
		return
	}
	if n == nil {
		return
	}
	place := n.prefix + w.placeOf(next)
	fingerprint, hidden := n.list.hidden[place]
	switch {
	case !hidden && rule == nil:
		return
	case !hidden && !rule.opaque && n.list.shown:
		fingerprint = w.r.numberFingerprint(w.b[start:end])
	case !hidden && !rule.opaque:
		fingerprint = w.r.ledger.fingerprint(numberText(w.b[start:end]))
	}
	switch {
	case n.list.shown:
		text := "<" + numberName + ">"
		if fingerprint != "" {
			text = "<" + numberName + ":" + fingerprint + ">"
		}
		if w.depth == 0 { // else it stands in a string already
			text = `"` + text + `"`
		}
		w.edits = append(w.edits, edit{start, end, text})
	case !hidden:
		if fingerprint != "" {
			place += " " + fingerprint
		}
		*n.list.places = append(*n.list.places, place)
		w.edits = append(w.edits, edit{start, end, otherNumber(w.b[start:end], fingerprint)})
	}
}

// numberFingerprint returns the fingerprint of a number that a program sends: its own, or, where a replay gave the number
// that stands in a file, that of the one that was hidden.
func (r *Redactor) numberFingerprint(number []byte) string {
	text := numberText(number)
	known := r.numbers.Load()
	if known == nil {
		return r.ledger.fingerprint(text)
	}
	whole := WholeFingerprint(text)
	if !slices.ContainsFunc(*known, func(f string) bool { return strings.HasPrefix(whole, f) }) {
		for _, f := range *known {
			if otherNumber(number, f) == string(number) {
				return f
			}
		}
	}
	return r.ledger.fingerprint(text)
}

// numberText returns what the fingerprint of a number is one of: however it is spelled, it is one number.
func numberText(number []byte) []byte { return jsonlex.AppendPlainNumber(nil, number) }

// KnownNumbers adds the places of hidden numbers that stand in a loaded file, as [Message.Numbers] has them. A number takes
// the fingerprint of one of these as a text takes that of a placeholder; and one that the file shows in place of another
// is compared as that other.
func (r *Redactor) KnownNumbers(places ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	if known := r.numbers.Load(); known != nil {
		all = slices.Clone(*known)
	}
	for _, place := range places {
		if f := NumberFingerprint(place); f != "" && len(all) < maxKnownNumbers {
			r.ledger.know(f)
			all = append(all, f)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	r.numbers.Store(&all)
}

// maxKnownNumbers bounds what a number is compared with.
const maxKnownNumbers = 4096

func isFingerprint(s string) bool {
	return len(s) >= shortFingerprint && run([]byte(s), 0, fpChar) == len(s)
}

// NumberFingerprint returns the fingerprint at the end of a place of [Message.Numbers]; "" when its rule is Opaque.
func NumberFingerprint(place string) string {
	if last := place[strings.LastIndexByte(place, ' ')+1:]; isFingerprint(last) {
		return last
	}
	return ""
}

// otherNumber returns a number as long as number, with a sign, a point and an exponent at the same places, made from its
// fingerprint.
func otherNumber(number []byte, fingerprint string) string {
	digits := sha256.Sum256([]byte(fingerprint))
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
