package match

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	shownRunes  = 120 // of a value in a difference
	shownBefore = 40  // of these, before the first difference
	shownPlace  = 400 // of a place: a path is to be copied whole, as long as nobody made a name of a text
)

// quoteBoth returns two texts quoted and cut to what surrounds their first difference.
func quoteBoth(a, b []byte) (string, string) {
	at := commonPrefix(a, b)
	return quote(a, at), quote(b, at)
}

// showBoth returns two JSON values cut to what surrounds their first difference.
func showBoth(a, b []byte) (string, string) {
	at := commonPrefix(a, b)
	return escape(cut(a, at)), escape(cut(b, at))
}

// show returns the value as it stands in the source, cut. An id's number follows it.
func (n *node) show() string {
	switch n.token {
	case tokenString:
		return quote(n.text(), 0)
	case tokenID:
		return quote(n.text(), 0) + " (id " + strconv.Itoa(int(binary.BigEndian.Uint32(n.form[1:]))) + ")"
	}
	return escape(cut(n.compact(), 0))
}

// quote returns text, cut to what surrounds the byte at, as a Go string literal.
func quote(text []byte, at int) string { return strconv.Quote(cut(text, at)) }

// cut returns what surrounds the byte at in text, with an ellipsis where something was cut off.
func cut(text []byte, at int) string {
	if utf8.RuneCount(text) <= shownRunes {
		return string(text)
	}
	from := at
	for range shownBefore {
		_, n := utf8.DecodeLastRune(text[:from])
		from -= n
	}
	to := from
	for range shownRunes {
		_, n := utf8.DecodeRune(text[to:])
		to += n
	}
	s := string(text[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(text) {
		s += "…"
	}
	return s
}

// shorten returns s, cut after n characters.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// escape returns s with all that does not print written as in a Go string literal, on one line.
func escape(s string) string {
	var b []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if strconv.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b = append(b, s[i:i+n]...)
		} else {
			quoted := strconv.AppendQuote(nil, s[i:i+n])
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += n
	}
	return string(b)
}

// commonPrefix returns how many bytes a and b have in common at their beginning, whole characters only.
func commonPrefix(a, b []byte) int {
	n := commonBytes(a, b)
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// sameWords reports whether two texts, which differ, have the same words and the same other characters, in another
// order: those of a prompt that was built from a map, say.
func sameWords(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	count := make(map[string]int)
	for len(a) > 0 {
		n := wordLen(a)
		count[string(a[:n])]++
		a = a[n:]
	}
	for len(b) > 0 {
		n := wordLen(b)
		count[string(b[:n])]--
		if count[string(b[:n])] < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// wordLen returns the length of the run of letters and digits that text begins with, of its first character when it
// begins with none.
func wordLen(text []byte) int {
	n := bytes.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	switch n {
	case -1:
		return len(text)
	case 0:
		_, n = utf8.DecodeRune(text)
	}
	return n
}
