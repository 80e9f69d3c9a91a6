package match

import (
	"bytes"
	"encoding/base64"
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// Relaxed reports whether a live and a stored request with different keys are the same but for what redaction hid in
// only one of them: where a rule was added or dropped since, or learnt of a secret later. A placeholder with a
// fingerprint then equals text of that fingerprint, or a number, and "<credential>" equals text that could be an ambient
// credential, or its placeholder. Base64 is compared by what it holds.
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
	return a.Operation == b.Operation && a.Method == b.Method && m.relaxedPart(hostA, hostB) && m.relaxedPart(unescaped(pathA), unescaped(pathB)) &&
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
	value := func(i, k int) bool { return a[i].raw == b[k].raw && m.relaxedPart(a[i].value, b[k].value) }
	return relaxedNames(len(a), len(b),
		func(i, k int) int { return strings.Compare(a[i].name, b[k].name) },
		value,
		func(i, k int) bool { return m.relaxedPart(a[i].name, b[k].name) && value(i, k) })
}

// relaxedNames compares n things with l others, both sorted by their names. What is hidden in a name gives it another
// place in that order: of those without a namesake each is compared with the first that it fits.
func relaxedNames(n, l int, order func(i, k int) int, value, fits func(i, k int) bool) bool {
	if n != l {
		return false
	}
	var rest, others []int
	for i, k := 0, 0; i < n || k < l; {
		c := 0
		switch {
		case i == n:
			c = 1
		case k == l:
			c = -1
		default:
			c = order(i, k)
		}
		switch {
		case c < 0:
			rest = append(rest, i)
			i++
		case c > 0:
			others = append(others, k)
			k++
		case !value(i, k):
			return false
		default:
			i, k = i+1, k+1
		}
	}
	if len(rest) > maxCandidates {
		return false
	}
	for _, i := range rest {
		at := slices.IndexFunc(others, func(k int) bool { return fits(i, k) })
		if at < 0 {
			return false
		}
		others = slices.Delete(others, at, at+1)
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
	switch {
	case a.token == tokenNumber:
		return m.hidesNumber(b, a)
	case b.token == tokenNumber:
		return m.hidesNumber(a, b)
	case a.token != b.token || len(a.inner) != len(b.inner):
		return false
	}
	switch a.token {
	case tokenArray:
		for i := range a.inner {
			if !m.relaxedNode(&a.inner[i], &b.inner[i]) {
				return false
			}
		}
		return true
	case tokenObject:
		return m.relaxedMembers(a, b)
	case tokenString:
		return m.relaxedText(sizedBytes(a.form), sizedBytes(b.form)) || m.relaxedBase64(a.text(), b.text())
	}
	return false
}

// hidesNumber reports whether a string is the placeholder of a number.
func (m *Matcher) hidesNumber(s, number *node) bool {
	if s.token != tokenString {
		return false
	}
	before, mark, after := cutMark(sizedBytes(s.form))
	return mark != nil && len(before)+len(after) == 0 && m.standsFor(mark, number.source)
}

// relaxedMembers compares the members of two objects.
func (m *Matcher) relaxedMembers(a, b *node) bool {
	value := func(i, k int) bool { return m.relaxedNode(&a.inner[i], &b.inner[k]) }
	return relaxedNames(len(a.names), len(b.names),
		func(i, k int) int { return bytes.Compare(a.names[i].key(), b.names[k].key()) },
		value,
		func(i, k int) bool {
			return m.relaxedText(sizedBytes(a.names[i].form), sizedBytes(b.names[k].form)) && value(i, k)
		})
}

// relaxedBase64 compares the texts that two strings of base64, or data URLs, hold.
func (m *Matcher) relaxedBase64(a, b []byte) bool {
	prefixA, textA, okA := decoded(a)
	prefixB, textB, okB := decoded(b)
	return okA && okB && bytes.Equal(prefixA, prefixB) && m.relaxedPart(string(textA), string(textB))
}

// decoded returns what stands before the base64 in a text, and what the base64 holds.
func decoded(text []byte) (prefix, inside []byte, ok bool) {
	const mark = ";base64,"
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		prefix, text = text[:i+len(mark)], text[i+len(mark):]
	}
	inside, err := base64.StdEncoding.AppendDecode(nil, text)
	return prefix, inside, err == nil
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
	literal, quote := cutQuote(literal, mark)
	if !bytes.HasPrefix(text, literal) {
		return false
	}
	text = text[len(literal):]
	for mark != nil {
		if len(quote) > 0 && startsNumber(text) { // a number in percent escapes has a placeholder in quotes
			if !bytes.HasPrefix(template, quote) {
				return false
			}
			template = template[len(quote):]
		} else if !bytes.HasPrefix(text, quote) {
			return false
		} else {
			text = text[len(quote):]
		}
		var next []byte
		literal, next, template = cutMark(template)
		literal, quote = cutQuote(literal, next)
		end := m.filled(mark, text, literal, next == nil)
		if end < 0 {
			return false
		}
		text = text[end+len(literal):]
		mark = next
	}
	return len(text) == 0
}

// cutQuote cuts the quote off, with its backslashes, that a text before a placeholder ends with.
func cutQuote(text, mark []byte) (before, quote []byte) {
	before, ok := bytes.CutSuffix(text, []byte{'"'})
	if mark == nil || !ok {
		return text, nil
	}
	before = bytes.TrimRight(before, `\`)
	return before, text[len(before):]
}

// startsNumber reports whether a number may stand at the beginning of text.
func startsNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9')
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
	if m.rules.WholeFingerprint == nil {
		return false
	}
	fingerprint := string(mark[1 : len(mark)-1])
	if strings.HasPrefix(m.rules.WholeFingerprint(text), fingerprint) {
		return true
	}
	return startsNumber(text) && jsonlex.Valid(text) &&
		strings.HasPrefix(m.rules.WholeFingerprint(jsonlex.AppendPlainNumber(nil, text)), fingerprint)
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
