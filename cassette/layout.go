package cassette

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// maxBodyDepth is how deep a JSON value in a cassette may nest, so that the file around it stays within
// jsonlex.MaxDepth.
const maxBodyDepth = jsonlex.MaxDepth - 8

// layout is how a JSON text is spaced. Member order, the digits of numbers and the escapes of strings are no part of
// it: these stand in the file as they were.
type layout struct {
	indent  string // of one level; empty when all stands on one line
	comma   string // "," or ", "
	colon   string // ":" or ": "
	newline bool   // the text ends in one
}

var (
	compact = layout{comma: ",", colon: ":"}
	colon   = layout{comma: ",", colon: ": "}  // as Gemini spaces a line of a stream
	spaced  = layout{comma: ", ", colon: ": "} // as Python's json.dumps does
)

const maxIndent = 8

// A layout is noted where white space comes to maxSpace bytes at most, or to maxSpacing bytes for each other one. A reader
// estimates it, at four times as much at worst.
const (
	maxSpace   = 16 << 20
	maxSpacing = 4
)

func indented(indent string) layout { return layout{indent: indent, comma: ",", colon: ": "} }

// String returns the name that stands in the file.
func (l layout) String() string {
	name := "indent " + strconv.Itoa(len(l.indent))
	line := l
	line.newline = false
	switch {
	case line == compact:
		name = "compact"
	case line == colon:
		name = "colon"
	case line == spaced:
		name = "spaced"
	case l.indent == "\t":
		name = "indent tab"
	}
	if l.newline {
		name += " newline"
	}
	return name
}

// layoutByName returns the layout that String names.
func layoutByName(name string) (l layout, ok bool) {
	name, newline := strings.CutSuffix(name, " newline")
	switch name {
	case "compact":
		l = compact
	case "colon":
		l = colon
	case "spaced":
		l = spaced
	case "indent tab":
		l = indented("\t")
	default:
		n, found := strings.CutPrefix(name, "indent ")
		if !found || len(n) != 1 || n[0] < '1' || n[0] > '0'+maxIndent {
			return l, false
		}
		l = indented(strings.Repeat(" ", int(n[0]-'0')))
	}
	l.newline = newline
	return l, true
}

// layoutOf finds the layout that gives data back, byte for byte, and returns data's compact form. ok is false when
// there is none, when data is not JSON, or when it nests deeper than a cassette can hold.
func layoutOf(data []byte) (l layout, text []byte, ok bool) {
	l = guessLayout(data)
	if !fits(data) {
		return l, nil, false
	}
	text = appendCompact(nil, data)
	if l == compact {
		return l, text, len(text) == len(data)
	}
	if space := len(data) - len(text); space > maxSpace && space > maxSpacing*len(text) {
		return l, text, false
	}
	again := l.append(make([]byte, 0, len(data)), text)
	return l, text, bytes.Equal(again, data)
}

// guessLayout judges by the first gaps of each kind between the tokens of data.
func guessLayout(data []byte) layout {
	l := compact
	l.newline = bytes.HasSuffix(data, []byte{'\n'})
	var gapComma, gapColon string
	s := jsonlex.New(data)
	last, end := jsonlex.Invalid, 0
	for gapComma == "" || gapColon == "" {
		k := s.Next()
		if k == jsonlex.Invalid || k == jsonlex.End {
			break
		}
		from, to := s.Span()
		gap := string(data[end:from])
		switch {
		case last == jsonlex.ObjectStart || last == jsonlex.ArrayStart:
			if indent, ok := strings.CutPrefix(gap, "\n"); ok && (indent == "\t" || strings.Trim(indent, " ") == "") &&
				len(indent) >= 1 && len(indent) <= maxIndent {
				in := indented(indent)
				in.newline = l.newline
				return in
			}
		case last == jsonlex.Name:
			if gapColon == "" {
				gapColon = gap
			}
		case strings.HasPrefix(gap, ","):
			if gapComma == "" {
				gapComma = gap
			}
		}
		last, end = k, to
	}
	switch {
	case gapComma == ", ":
		l.comma, l.colon = spaced.comma, spaced.colon
	case gapColon == ": ":
		l.colon = colon.colon
	}
	return l
}

// append appends the JSON text data, laid out as l.
func (l layout) append(dst, data []byte) []byte {
	if l == compact {
		return appendCompact(dst, data)
	}
	return l.appendAt(dst, data, 0, false)
}

// appendCompact appends the JSON text data without the white space between its tokens.
func appendCompact(dst, data []byte) []byte {
	dst = slices.Grow(dst, len(data))
	for len(data) > 0 {
		n := 0
		for n < len(data) && data[n] > ' ' && data[n] != '"' {
			n++
		}
		dst = append(dst, data[:n]...)
		data = data[n:]
		switch {
		case len(data) == 0:
		case data[0] != '"':
			data = data[1:]
		default:
			n = stringLen(data)
			dst = append(dst, data[:n]...)
			data = data[n:]
		}
	}
	return dst
}

// stringLen returns the length of the string that data begins with, quotes included.
func stringLen(data []byte) int {
	for n := 1; ; {
		i := bytes.IndexByte(data[n:], '"')
		if i < 0 {
			return len(data)
		}
		n += i
		slashes := 0
		for data[n-1-slashes] == '\\' {
			slashes++
		}
		if n++; slashes%2 == 0 {
			return n
		}
	}
}

// appendAt appends data as it stands depth levels deep in an outer text; with fold set, what fits on one line stands on
// one.
func (l layout) appendAt(dst, data []byte, depth int, fold bool) []byte {
	s := jsonlex.New(data)
	first, named, onLine := false, false, false
	for {
		k := s.Next()
		level := s.Depth()
		switch k {
		case jsonlex.Invalid:
			return dst // unreachable: it was read before
		case jsonlex.End:
			if l.newline {
				dst = append(dst, '\n')
			}
			return dst
		case jsonlex.ObjectEnd, jsonlex.ArrayEnd:
			if !first && !onLine {
				dst = l.breakLine(dst, depth+level)
			}
			dst = append(dst, s.Raw()...)
			first, onLine = false, false
			continue
		case jsonlex.ObjectStart, jsonlex.ArrayStart:
			level--
		}
		if !named && level > 0 {
			if !first {
				dst = append(dst, l.comma...)
				if onLine {
					dst = append(dst, ' ')
				}
			}
			if !onLine {
				dst = l.breakLine(dst, depth+level)
			}
		}
		dst = append(dst, s.Raw()...)
		named = k == jsonlex.Name
		first = k == jsonlex.ObjectStart || k == jsonlex.ArrayStart
		if named {
			dst = append(dst, l.colon...)
		}
		if first && fold {
			_, end := s.Span()
			onLine = fitsOnLine(data[end:])
		}
	}
}

func (l layout) breakLine(dst []byte, depth int) []byte {
	if l.indent == "" {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, l.indent...)
	}
	return dst
}

// foldedLen is how long an array or object may be, its longest string left out, to stand on one line.
const foldedLen = 72

// fitsOnLine reports whether the array or object whose inside rest begins with stands on one line: it holds no others,
// and is nothing but numbers, or short but for one string. A message of a conversation is a line then.
func fitsOnLine(rest []byte) bool {
	numbers, longest := true, 0
	for i := 0; i < len(rest); i++ {
		if !numbers && i-longest > foldedLen {
			return false
		}
		switch c := rest[i]; {
		case c == ']' || c == '}':
			return true
		case c == '[' || c == '{':
			return false
		case c == '"':
			from := i
			for i++; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
			numbers, longest = false, max(longest, i-from)
		case 'a' <= c && c <= 'z' && c != 'e': // of true, false and null
			numbers = false
		}
	}
	return false
}
