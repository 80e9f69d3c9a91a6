package redact

import (
	"bytes"
	"iter"
)

const (
	credentialName = "credential"
	hidden         = "redacted"          // in a URL, where there is no fingerprint
	hiddenDash     = hidden + "-"        // in a URL, before the fingerprint
	emailName      = "email"             //
	emailDash      = emailName + "-"     // before an e-mail address's fingerprint
	emailTail      = "@redacted.invalid" // after it
)

// form is the place that a placeholder must parse in.
type form byte

const (
	textForm form = iota
	urlForm
)

// placeholder returns what stands in value's place.
func (r *Redactor) placeholder(rule *Rule, value []byte, f form) string {
	r.remember(rule, value)
	switch {
	case rule.opaque && f == urlForm:
		return hidden
	case rule.opaque:
		return "<" + rule.name + ">"
	}
	fp := r.ledger.fingerprint(value)
	switch {
	case f == urlForm:
		return hiddenDash + fp
	case rule.kind == shapeRule && rule.shape == email:
		return emailDash + fp + emailTail
	}
	return "<" + rule.name + ":" + fp + ">"
}

// mark is a placeholder in a text. The fingerprint of an opaque one is empty.
type mark struct {
	start, end  int
	fingerprint string
}

// marks yields the placeholders in b, in order. known says which names a placeholder in angle brackets may have.
func marks(b []byte, known func(name []byte) bool) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		nextAngle := func(from int) int { return indexBy(b, from, "<", 0) }
		nextWord := func(from int) int { return indexBy(b, from, hiddenDash, len(hidden)) }
		nextEmail := func(from int) int { return indexBy(b, from, emailTail, 0) }
		floor := 0 // the end of the last one
		angle, word, tail := nextAngle(0), nextWord(0), nextEmail(0)
		for {
			var m mark
			var ok bool
			switch at := min(angle, word, tail); at {
			case len(b):
				return
			case angle:
				m, ok = angleMark(b, at, known)
				angle = nextAngle(at + 1)
			case word:
				m, ok = wordMark(b, at, floor)
				word = nextWord(at + 1)
			default:
				m, ok = emailMark(b, at, floor)
				tail = nextEmail(at + 1)
			}
			if !ok {
				continue
			}
			if !yield(m) {
				return
			}
			floor = m.end
			if angle < floor {
				angle = nextAngle(floor)
			}
			if word < floor {
				word = nextWord(floor)
			}
			if tail < floor {
				tail = nextEmail(floor)
			}
		}
	}
}

// indexBy returns where what stands first in b, at or after from, the length of b if nowhere. It looks for the byte at
// k in what, which should be rare: few texts hold many.
func indexBy(b []byte, from int, what string, k int) int {
	for at := from + k; at < len(b); at++ {
		i := bytes.IndexByte(b[at:], what[k])
		if i < 0 {
			break
		}
		at += i
		if bytes.HasPrefix(b[at-k:], []byte(what)) {
			return at - k
		}
	}
	return len(b)
}

// angleMark reads <name:fingerprint> or <name>.
func angleMark(b []byte, at int, known func([]byte) bool) (mark, bool) {
	end := at + 1
	for end < len(b) && end-at <= 32 && (is(b[end], lower|digit) || b[end] == '_') {
		end++
	}
	name := b[at+1 : end]
	if end == len(b) || !known(name) {
		return mark{}, false
	}
	switch b[end] {
	case '>':
		return mark{start: at, end: end + 1}, true
	case ':':
		f := fingerprintAt(b, end+1)
		if last := end + 1 + len(f); len(f) > 0 && last < len(b) && b[last] == '>' {
			return mark{at, last + 1, string(f)}, true
		}
	}
	return mark{}, false
}

// wordMark reads redacted-fingerprint.
func wordMark(b []byte, at, floor int) (mark, bool) {
	if at != floor && joined(b, at) {
		return mark{}, false
	}
	f := fingerprintAt(b, at+len(hiddenDash))
	end := at + len(hiddenDash) + len(f)
	if len(f) == 0 || string(f) == hidden || end < len(b) && is(b[end], alnum) {
		return mark{}, false
	}
	return mark{at, end, string(f)}, true
}

// emailMark reads email-fingerprint@redacted.invalid, whose "@" is at at.
func emailMark(b []byte, at, floor int) (mark, bool) {
	from := at
	for from > floor && at-from < wholeLen && is(b[from-1], fpChar) {
		from--
	}
	f := fingerprintAt(b[:at], from)
	start := from - len(emailDash)
	if len(f) == 0 || start < floor || string(b[start:from]) != emailDash {
		return mark{}, false
	}
	return mark{start, at + len(emailTail), string(f)}, true
}

// fingerprintAt returns the fingerprint that stands at b[at:], nil if none does.
func fingerprintAt(b []byte, at int) []byte {
	end := run(b, at, fpChar)
	if end-at < shortFingerprint || end-at > wholeLen {
		return nil
	}
	return b[at:end]
}

// isPlaceholder reports whether the whole of text is one placeholder.
func (r *Redactor) isPlaceholder(text []byte) bool {
	if string(text) == hidden {
		return true
	}
	for m := range marks(text, r.named) {
		return m.start == 0 && m.end == len(text)
	}
	return false
}

// Placeholders yields the fingerprints of the placeholders in text, whatever their rules' names.
func Placeholders[T string | []byte](text T) iter.Seq[string] {
	return func(yield func(string) bool) {
		for m := range marks([]byte(text), func(name []byte) bool { return validName(string(name)) }) {
			if m.fingerprint != "" && !yield(m.fingerprint) {
				return
			}
		}
	}
}

// AppendFingerprinted appends s to dst, with a token in the place of each placeholder that has a fingerprint: 0xFF, the
// fingerprint, 0xFF. No valid UTF-8 text holds one, so that two texts give the same bytes only if they are the same but
// for the names of rules. In angle brackets only the names of this Redactor's rules, and those given to
// [Redactor.Names], make a placeholder.
func (r *Redactor) AppendFingerprinted(dst, s []byte) []byte {
	at := 0
	for m := range marks(s, r.named) {
		if m.fingerprint == "" {
			continue
		}
		dst = append(dst, s[at:m.start]...)
		dst = append(dst, 0xFF)
		dst = append(dst, m.fingerprint...)
		dst = append(dst, 0xFF)
		at = m.end
	}
	return append(dst, s[at:]...)
}
