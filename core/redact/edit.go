package redact

// edit puts text in the place of the bytes from start to end. A list of edits is sorted and without overlaps. The text
// is made of placeholders, which need no escapes in JSON: so an edit of the text in a string is, with other offsets,
// an edit of the string's token.
type edit struct {
	start, end int
	text       string
}

// apply returns a copy of b with the edits made.
func apply(b []byte, edits []edit) []byte {
	size := len(b)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	return appendEdited(make([]byte, 0, size), b, edits)
}

// appendEdited appends b to dst with the edits made.
func appendEdited(dst, b []byte, edits []edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(append(dst, b[at:e.start]...), e.text...)
		at = e.end
	}
	return append(dst, b[at:]...)
}

// shift moves edits by n bytes, in place.
func shift(edits []edit, n int) []edit {
	for i := range edits {
		edits[i].start += n
		edits[i].end += n
	}
	return edits
}

// compose returns the edits that do what first and then second do; second's offsets are in the text after first. One
// of second that covers a part of what one of first put there leaves the other part.
func compose(first, second []edit) []edit {
	if len(first) == 0 {
		return second
	}
	all := make([]edit, 0, len(first)+len(second))
	delta, k := 0, 0 // first[:k] are done, and made the text delta bytes longer
	for i := 0; i < len(second); {
		e := second[i]
		for k < len(first) && first[k].start+delta+len(first[k].text) <= e.start {
			all = append(all, first[k])
			delta += len(first[k].text) - (first[k].end - first[k].start)
			k++
		}
		both := edit{start: e.start - delta}
		if k < len(first) && first[k].start < both.start {
			both = edit{start: first[k].start, text: first[k].text[:both.start-first[k].start]}
		}
		last, lastEnd := "", 0 // the text of first that e ends in or after, and its end
		for {
			for k < len(first) && first[k].start+delta < e.end {
				last, lastEnd = first[k].text, first[k].start+delta+len(first[k].text)
				delta += len(last) - (first[k].end - first[k].start)
				both.end = first[k].end
				k++
			}
			both.text += e.text
			i++
			if lastEnd <= e.end {
				both.end = e.end - delta
				break
			}
			rest := last[len(last)-(lastEnd-e.end):]
			if i == len(second) || second[i].start >= lastEnd {
				both.text += rest
				break
			}
			both.text += rest[:second[i].start-e.end]
			e = second[i]
		}
		all = append(all, both)
	}
	return append(all, first[k:]...)
}

// cutEdits returns those of edits that are of text[from:to], as edits of that, and those of what follows. One that goes on
// there goes on without its text: the placeholder stands where the hidden value began.
func cutEdits(edits []edit, from, to int) (own, rest []edit) {
	for len(edits) > 0 && edits[0].start < to {
		e := edits[0]
		if e.end > to {
			edits[0] = edit{to, e.end, ""}
		} else {
			edits = edits[1:]
		}
		own = append(own, edit{e.start - from, min(e.end, to) - from, e.text})
	}
	return own, edits
}

// unit returns how many bytes the escape or plain byte that raw begins with takes, and for how many bytes of text it
// stands.
type unit func(raw []byte) (rawLen, textLen int)

// toRaw turns edits of a text, in place, into edits of the escaped form raw that it was read from. An edit that begins
// or ends inside what one escape stands for covers the whole escape.
func toRaw(edits []edit, raw []byte, u unit) []edit {
	at, text := 0, 0 // raw[at:] stands for what follows the first bytes of the text
	for i := range edits {
		e := &edits[i]
		for text < e.start {
			n, m := u(raw[at:])
			if text+m > e.start {
				break
			}
			at, text = at+n, text+m
		}
		start := at
		for text < e.end {
			n, m := u(raw[at:])
			at, text = at+n, text+m
		}
		e.start, e.end = start, at
	}
	return edits
}

// jsonUnit is the unit of the inside of a JSON string token, as jsonlex.AppendUnquoted reads it.
func jsonUnit(raw []byte) (rawLen, textLen int) {
	if raw[0] != '\\' {
		return 1, 1
	}
	if raw[1] != 'u' {
		return 2, 1
	}
	switch r := hex(raw[2:6]); {
	case r < 0x80:
		return 6, 1
	case r < 0x800:
		return 6, 2
	case r>>10 == 0xD800>>10 && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' && hex(raw[8:12])>>10 == 0xDC00>>10:
		return 12, 4
	}
	return 6, 3
}

// percentUnit is the unit of percent-escaped text.
func percentUnit(raw []byte) (rawLen, textLen int) {
	if raw[0] == '%' && len(raw) >= 3 && hexDigit(raw[1]) >= 0 && hexDigit(raw[2]) >= 0 {
		return 3, 1
	}
	return 1, 1
}

// percentDecoded returns the text that raw stands for; plus says that + is a space.
func percentDecoded(raw []byte, plus bool) []byte {
	dst := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		n, _ := percentUnit(raw)
		switch {
		case n == 3:
			dst = append(dst, byte(hex(raw[1:3])))
		case plus && raw[0] == '+':
			dst = append(dst, ' ')
		default:
			dst = append(dst, raw[0])
		}
		raw = raw[n:]
	}
	return dst
}

// hex returns the number that hexadecimal digits write.
func hex(b []byte) (r rune) {
	for _, c := range b {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return int(c - 'A' + 10)
	}
	return -1
}
