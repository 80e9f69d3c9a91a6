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
		find := func(from int, what string) int {
			if i := bytes.Index(b[from:], []byte(what)); i >= 0 {
				return from + i
			}
			return len(b)
		}
		floor := 0
		angle, word := find(0, "<"), find(0, hidden)
		for angle < len(b) || word < len(b) {
			var m mark
			var ok bool
			if angle < word {
				m, ok = angleMark(b, angle, known)
				if !ok {
					angle = find(angle+1, "<")
				}
			} else {
				m, ok = wordMark(b, word, floor)
				if !ok {
					word = find(word+len(hidden), hidden)
				}
			}
			if !ok {
				continue
			}
			if !yield(m) {
				return
			}
			floor = m.end
			if angle < floor {
				angle = find(floor, "<")
			}
			if word < floor {
				word = find(floor, hidden)
			}
		}
	}
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

// wordMark reads redacted-fingerprint, or email-fingerprint@redacted.invalid, whose "redacted" is at at.
func wordMark(b []byte, at, floor int) (mark, bool) {
	if bytes.HasPrefix(b[at:], []byte(hiddenDash)) && (at == floor || !joined(b, at)) {
		f := fingerprintAt(b, at+len(hiddenDash))
		if end := at + len(hiddenDash) + len(f); len(f) > 0 && string(f) != hidden && (end == len(b) || !is(b[end], alnum)) {
			return mark{at, end, string(f)}, true
		}
		return mark{}, false
	}
	if at == 0 || !bytes.HasPrefix(b[at-1:], []byte(emailTail)) {
		return mark{}, false
	}
	from := at - 1
	for from > floor && at-from <= wholeLen && is(b[from-1], fpChar) {
		from--
	}
	f := fingerprintAt(b[:at-1], from)
	if start := from - len(emailDash); len(f) == at-1-from && len(f) > 0 && start >= floor && string(b[start:from]) == emailDash {
		return mark{start, at - 1 + len(emailTail), string(f)}, true
	}
	return mark{}, false
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
