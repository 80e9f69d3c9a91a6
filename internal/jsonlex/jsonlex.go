// Package jsonlex reads JSON text (RFC 8259) token by token, in place: what it returns are slices of its input, so that
// numbers keep their digits, strings their escapes and members their order.
//
// It is strict where encoding/json is lenient: invalid UTF-8 is an error, since a reader that repairs text cannot tell
// two texts apart. It accepts lone surrogates in escapes, which JSON allows and UTF-8 cannot hold; [Unquote] keeps them
// apart from U+FFFD.
package jsonlex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 1000

// Kind is the kind of a token.
type Kind byte

const (
	Invalid     Kind = iota // a syntax error: see [Scanner.Err]
	End                     // the one value has ended and nothing follows it
	ObjectStart             // {
	ObjectEnd               // }
	ArrayStart              // [
	ArrayEnd                // ]
	Name                    // a member's name, a string followed by a colon
	String
	Number
	True
	False
	Null
)

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int // in bytes
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// A Scanner yields the tokens of one JSON value. Commas and colons are checked and not returned.
type Scanner struct {
	data       []byte
	pos        int
	start, end int
	stack      []byte // '{' or '['
	expect     expectation
	escaped    bool
	err        error
}

type expectation byte

const (
	value        expectation = iota // a value must follow
	valueOrEnd                      // a value, or the end of the array just opened
	nameOrEnd                       // a name, or the end of the object just opened
	commaOrEnd                      // after a value
	name                            // after a comma in an object
	nothing                         // after the top-level value
	colonThenVal                    // after a name
)

// New returns a Scanner over data, which must not change while it is in use.
func New(data []byte) *Scanner { return &Scanner{data: data} }

// Reset makes s read data from its start, keeping its memory.
func (s *Scanner) Reset(data []byte) { *s = Scanner{data: data, stack: s.stack[:0]} }

// Raw returns the text of the token that Next returned last, quotes included.
func (s *Scanner) Raw() []byte { return s.data[s.start:s.end] }

// Span returns the offsets of that text.
func (s *Scanner) Span() (start, end int) { return s.start, s.end }

// Escaped reports whether the last string or name holds an escape.
func (s *Scanner) Escaped() bool { return s.escaped }

// Depth returns how many arrays and objects are open after the last token.
func (s *Scanner) Depth() int { return len(s.stack) }

// Err returns the error that made Next return Invalid.
func (s *Scanner) Err() error { return s.err }

func (s *Scanner) fail(at int, msg string) Kind {
	if s.err == nil {
		s.err = &SyntaxError{Offset: at, Msg: msg}
	}
	s.start, s.end = at, at
	return Invalid
}

// Next returns the kind of the next token. After Invalid or End it returns the same again.
func (s *Scanner) Next() Kind {
	if s.err != nil {
		return Invalid
	}
	c, ok := s.look()
	switch s.expect {
	case nothing:
		if ok {
			return s.fail(s.pos, "text after the value")
		}
		s.start, s.end = s.pos, s.pos
		return End
	case colonThenVal:
		if !ok {
			return s.cut()
		}
		if c != ':' {
			return s.fail(s.pos, "a colon is missing after a member's name")
		}
		s.pos++
		s.expect = value
		c, ok = s.look()
	case commaOrEnd:
		if !ok {
			return s.cut()
		}
		open := s.stack[len(s.stack)-1]
		switch c {
		case ',':
			s.pos++
			s.expect = value
			if open == '{' {
				s.expect = name
			}
			c, ok = s.look()
		case open + 2: // '{'+2 == '}', '['+2 == ']'
			return s.close(open)
		default:
			return s.fail(s.pos, "a comma or a closing bracket is missing")
		}
	case nameOrEnd:
		if c == '}' {
			return s.close('{')
		}
	case valueOrEnd:
		if c == ']' {
			return s.close('[')
		}
	}
	if !ok {
		return s.cut()
	}
	if s.expect == name || s.expect == nameOrEnd {
		return s.name(c)
	}
	return s.value(c)
}

// look returns the byte after white space, which s.pos is at then; false at the end of the text.
func (s *Scanner) look() (c byte, ok bool) {
	for s.pos < len(s.data) {
		c = s.data[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, true
		}
		s.pos++
	}
	return 0, false
}

func (s *Scanner) cut() Kind { return s.fail(s.pos, "the text ends inside a value") }

// Leave goes to the end of the array or object whose start Next returned last. The caller knows from an earlier reading
// that it ends before the offset end, and that it is well formed.
func (s *Scanner) Leave(end int) {
	s.pos, s.start, s.end = end, end-1, end
	s.stack = s.stack[:len(s.stack)-1]
	s.afterValue()
}

func (s *Scanner) name(c byte) Kind {
	if c != '"' {
		return s.fail(s.pos, "a member's name must be a string")
	}
	if s.string() == Invalid {
		return Invalid
	}
	s.expect = colonThenVal
	return Name
}

func (s *Scanner) close(open byte) Kind {
	s.start, s.end = s.pos, s.pos+1
	s.pos++
	s.stack = s.stack[:len(s.stack)-1]
	s.afterValue()
	if open == '{' {
		return ObjectEnd
	}
	return ArrayEnd
}

func (s *Scanner) afterValue() {
	s.expect = commaOrEnd
	if len(s.stack) == 0 {
		s.expect = nothing
	}
}

func (s *Scanner) value(c byte) Kind {
	switch {
	case c == '{' || c == '[':
		if len(s.stack) == MaxDepth {
			return s.fail(s.pos, "nested deeper than "+strconv.Itoa(MaxDepth))
		}
		s.stack = append(s.stack, c)
		s.start, s.end = s.pos, s.pos+1
		s.pos++
		if c == '{' {
			s.expect = nameOrEnd
			return ObjectStart
		}
		s.expect = valueOrEnd
		return ArrayStart
	case c == '"':
		if s.string() == Invalid {
			return Invalid
		}
		s.afterValue()
		return String
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true", True)
	case c == 'f':
		return s.literal("false", False)
	case c == 'n':
		return s.literal("null", Null)
	}
	return s.fail(s.pos, "no JSON value begins like this")
}

func (s *Scanner) literal(word string, k Kind) Kind {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return s.fail(s.pos, "no JSON value begins like this")
	}
	s.start, s.end = s.pos, s.pos+len(word)
	s.pos = s.end
	s.afterValue()
	return k
}

func (s *Scanner) number() Kind {
	i := s.pos
	digits := func() bool {
		from := i
		for i < len(s.data) && '0' <= s.data[i] && s.data[i] <= '9' {
			i++
		}
		return i > from
	}
	if s.data[i] == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++
	} else if !digits() {
		return s.fail(i, "a digit is missing in a number")
	}
	if i < len(s.data) && s.data[i] == '.' {
		i++
		if !digits() {
			return s.fail(i, "a digit is missing after a decimal point")
		}
	}
	if i < len(s.data) && (s.data[i] == 'e' || s.data[i] == 'E') {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		if !digits() {
			return s.fail(i, "a digit is missing in an exponent")
		}
	}
	s.start, s.end, s.pos = s.pos, i, i
	s.afterValue()
	return Number
}

func (s *Scanner) string() Kind {
	s.escaped = false
	i := s.pos + 1
	ascii := true
	for {
		n, wide := plainLen(s.data[i:])
		i += n
		ascii = ascii && !wide
		if i == len(s.data) {
			break
		}
		switch c := s.data[i]; {
		case c == '"':
			if !ascii {
				if at, ok := validUTF8(s.data[s.pos+1 : i]); !ok {
					return s.fail(s.pos+1+at, "invalid UTF-8 in a string")
				}
			}
			s.start, s.end, s.pos = s.pos, i+1, i+1
			return String
		case c == '\\':
			s.escaped = true
			n := escapeLen(s.data[i:])
			if n == 0 {
				return s.fail(i, "an unknown escape in a string")
			}
			i += n
		default:
			return s.fail(i, "a control character in a string")
		}
	}
	return s.fail(s.pos, "a string does not end")
}

// plainLen returns how many bytes at the beginning of b stand for themselves in a string, and whether some of them are
// not ASCII. It looks at eight at once.
func plainLen(b []byte) (n int, wide bool) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// The lowest top bit set in each term is exact; those above it may be borrowed.
		stop := ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if stop != 0 {
			k := bits.TrailingZeros64(stop) / 8
			return n + k, (seen|w<<(64-8*k))&tops != 0
		}
		seen |= w
	}
	wide = seen&tops != 0
	for ; n < len(b); n++ {
		c := b[n]
		if c == '"' || c == '\\' || c < 0x20 {
			break
		}
		wide = wide || c >= 0x80
	}
	return n, wide
}

func validUTF8(b []byte) (at int, ok bool) {
	if utf8.Valid(b) {
		return 0, true
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i, false
		}
		i += n
	}
	return 0, true
}

// escapeLen returns the length of the escape that b begins with, 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Valid reports whether data is one JSON value.
func Valid(data []byte) bool {
	s := New(data)
	for {
		switch s.Next() {
		case Invalid:
			return false
		case End:
			return true
		}
	}
}

// AppendUnquoted appends the text that a string token (quotes included) stands for. A lone surrogate becomes its three
// bytes in generalised UTF-8, which no valid UTF-8 holds: two strings are equal exactly when their texts are.
func AppendUnquoted(dst, raw []byte) []byte {
	b := raw[1 : len(raw)-1]
	for len(b) > 0 {
		if b[0] != '\\' {
			n := bytes.IndexByte(b, '\\')
			if n < 0 {
				n = len(b)
			}
			dst = append(dst, b[:n]...)
			b = b[n:]
			continue
		}
		switch b[1] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(b[2:])
			b = b[6:]
			if r>>10 == 0xD800>>10 && len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
				if low, _ := hex4(b[2:]); low>>10 == 0xDC00>>10 {
					r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
					b = b[6:]
				}
			}
			dst = appendRune(dst, r)
			continue
		default:
			dst = append(dst, b[1])
		}
		b = b[2:]
	}
	return dst
}

// appendRune is utf8.AppendRune that also encodes surrogates.
func appendRune(dst []byte, r rune) []byte {
	if 0xD800 <= r && r <= 0xDFFF {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends text, as AppendUnquoted gave it, as a string token with the fewest escapes.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c >= 0x20 && c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		case c == '\n':
			dst = append(dst, '\\', 'n')
			i++
		case c == '\r':
			dst = append(dst, '\\', 'r')
			i++
		case c == '\t':
			dst = append(dst, '\\', 't')
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				if s, ok := surrogate(text[i:]); ok {
					dst = append(dst, '\\', 'u', hexDigits[s>>12&15], hexDigits[s>>8&15], hexDigits[s>>4&15], hexDigits[s&15])
					i += 3
					continue
				}
				dst = utf8.AppendRune(dst, utf8.RuneError)
				i++
				continue
			}
			dst = append(dst, text[i:i+n]...)
			i += n
		}
	}
	return append(dst, '"')
}

func surrogate(b []byte) (r rune, ok bool) {
	if len(b) < 3 || b[0] != 0xED || b[1] < 0xA0 || b[1] > 0xBF || b[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), true
}
