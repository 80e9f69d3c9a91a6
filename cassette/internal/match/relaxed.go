package match

import (
	"bytes"
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Relaxed reports whether a live and a stored request with different keys are the same but for what redaction hid in
// only one of them: where a rule was added or dropped since, or learnt of a secret later. A placeholder with a
// fingerprint then equals text of that fingerprint, and "<credential>" equals text that could be an ambient credential,
// or its placeholder.
//
// It reads both requests in full, and is for a call that is a miss otherwise. Its work is bounded: placeholders are
// taken in their order, each with the first text that fits it.
func (m *Matcher) Relaxed(live, stored *Request) bool {
	if live.Kind != stored.Kind || live.Provider != stored.Provider || live.Format != stored.Format || live.Streamed != stored.Streamed {
		return false
	}
	seed := maphash.MakeSeed()
	a, b := m.view(live, seed), m.view(stored, seed)
	return a.only == b.only && a.kind == b.kind && m.relaxedHeader(&a, &b) && m.relaxedBody(&a, &b)
}

func (m *Matcher) relaxedHeader(a, b *view) bool {
	if !m.relaxedPart(a.Model, b.Model) {
		return false
	}
	if a.only {
		return true
	}
	hostA, pathA := a.where()
	hostB, pathB := b.where()
	return a.Operation == b.Operation && a.Method == b.Method && hostA == hostB && m.relaxedPart(unescaped(pathA), unescaped(pathB)) &&
		m.relaxedPairs(appendPairs(nil, a.Query, m.rules.Credential), appendPairs(nil, b.Query, m.rules.Credential))
}

// unescaped returns the text of a path: a fingerprint is one of the text.
func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

func (m *Matcher) relaxedBody(a, b *view) bool {
	switch a.kind {
	case jsonBody:
		return m.relaxedNode(&a.root, &b.root)
	case tokenPairs:
		return m.relaxedPairs(appendPairs(nil, string(a.Body), nil), appendPairs(nil, string(b.Body), nil))
	case tokenParts:
		return m.relaxedParts(a.Request, b.Request)
	case tokenText:
		return m.relaxedPart(string(a.Body), string(b.Body))
	}
	return bytes.Equal(a.body, b.body)
}

// relaxedParts compares the parts of two multipart bodies.
func (m *Matcher) relaxedParts(a, b *Request) bool {
	_, boundaryA := media(a.ContentType)
	_, boundaryB := media(b.ContentType)
	return slices.EqualFunc(split(a.Body, boundaryA), split(b.Body, boundaryB), func(x, y []byte) bool {
		return m.relaxedPart(string(x), string(y))
	})
}

func (m *Matcher) relaxedPairs(a, b []pair) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].raw != b[i].raw || !m.relaxedPart(a[i].name, b[i].name) || !m.relaxedPart(a[i].value, b[i].value) {
			return false
		}
	}
	return true
}

// relaxedPart compares texts whose placeholders stand in them as they are.
func (m *Matcher) relaxedPart(a, b string) bool {
	if a == b {
		return true
	}
	if m.rules.Fingerprint == nil || !utf8.ValidString(a) || !utf8.ValidString(b) {
		return false
	}
	return m.relaxedText(m.rules.Fingerprint(nil, []byte(a)), m.rules.Fingerprint(nil, []byte(b)))
}

func (m *Matcher) relaxedNode(a, b *node) bool {
	if a.sum == b.sum {
		return true
	}
	if a.token != b.token || len(a.inner) != len(b.inner) {
		return false
	}
	for i := range a.names {
		if !m.relaxedText(sizedBytes(a.names[i].form), sizedBytes(b.names[i].form)) {
			return false
		}
	}
	for i := range a.inner {
		if !m.relaxedNode(&a.inner[i], &b.inner[i]) {
			return false
		}
	}
	switch a.token {
	case tokenArray, tokenObject:
		return true
	case tokenString:
		return m.relaxedText(sizedBytes(a.form), sizedBytes(b.form))
	}
	return false
}

// sizedBytes returns the text of a string's form.
func sizedBytes(form []byte) []byte {
	from, to := sizedText(form[1:])
	return form[1+from : 1+to]
}

// relaxedText compares texts in which each placeholder with a fingerprint is a token.
func (m *Matcher) relaxedText(a, b []byte) bool {
	return bytes.Equal(a, b) || m.fits(a, b) || m.fits(b, a)
}

const (
	tokenMark     = 0xFF // begins and ends a token, and stands in no text
	credential    = "<credential>"
	minCredential = 16   // bytes
	maxHidden     = 8192 // bytes of a text that a placeholder may stand for: a private key's
	maxCandidates = 64   // texts tried for one placeholder
)

// fits reports whether template is text once its placeholders are filled in.
func (m *Matcher) fits(template, text []byte) bool {
	literal, mark, template := cutMark(template)
	if !bytes.HasPrefix(text, literal) {
		return false
	}
	text = text[len(literal):]
	for mark != nil {
		var next []byte
		literal, next, template = cutMark(template)
		end := m.filled(mark, text, literal, next == nil)
		if end < 0 {
			return false
		}
		text = text[end+len(literal):]
		mark = next
	}
	return len(text) == 0
}

// filled returns the length of the text that mark stands for at the beginning of text, where literal follows it, to the
// end of text if it is the last; -1 when there is none.
func (m *Matcher) filled(mark, text, literal []byte, last bool) int {
	if last {
		end := len(text) - len(literal)
		if end < 1 || !bytes.HasSuffix(text, literal) || !m.standsFor(mark, text[:end]) {
			return -1
		}
		return end
	}
	end := 0
	for range maxCandidates {
		i := bytes.Index(text[min(end+1, len(text)):], literal)
		if i < 0 {
			return -1
		}
		end += 1 + i
		if end > len(text) || end > maxHidden {
			return -1
		}
		if m.standsFor(mark, text[:end]) {
			return end
		}
	}
	return -1
}

// cutMark cuts a text round its first placeholder, which is nil when it has none. It looks at nothing behind it.
func cutMark(text []byte) (before, mark, after []byte) {
	for i, c := range text {
		to := i
		switch {
		case c == tokenMark:
			to += 1 + bytes.IndexByte(text[i+1:], tokenMark) + 1
		case c == credential[0] && bytes.HasPrefix(text[i:], []byte(credential)):
			to += len(credential)
		default:
			continue
		}
		return text[:i], text[i:to], text[to:]
	}
	return text, nil, nil
}

// standsFor reports whether a placeholder can stand for text, which has placeholders as tokens itself.
func (m *Matcher) standsFor(mark, text []byte) bool {
	switch {
	case len(text) > maxHidden:
		return false
	case bytes.Equal(mark, text):
		return true
	case string(mark) == credential:
		before, inner, after := cutMark(text)
		return inner != nil && len(before)+len(after) == 0 || inner == nil && couldBeCredential(text)
	}
	fingerprint := mark[1 : len(mark)-1]
	return m.rules.WholeFingerprint != nil && strings.HasPrefix(m.rules.WholeFingerprint(text), string(fingerprint))
}

// couldBeCredential reports whether text is within the bounds of an ambient credential.
func couldBeCredential(text []byte) bool {
	letter, digit := false, false
	for _, c := range text {
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			return false
		case '0' <= c && c <= '9':
			digit = true
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letter = true
		}
	}
	return letter && digit && len(text) >= minCredential
}
