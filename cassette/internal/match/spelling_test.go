package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// value is a JSON value apart from its spelling: nil, bool, number, string, []value or []field.
type value any

type (
	number struct {
		negative bool
		digits   string // without a 0 at either end; empty for 0
		exponent int
	}
	field struct {
		name  string
		value value
	}
)

// texts hold what strings are made of: lone surrogates stand in them as jsonlex gives them.
var texts = []string{"", "a", "b", "ab", "<", "é", "e\u0301", "\u2028", "😀", "\xed\xa0\xbd", "\xed\xb8\x80", "\ufffd", "\x00", "\n", `"`, `\`, "/", "<email:abcd>", "<x:abce>"}

func randomText(r *rand.Rand) string {
	var s string
	for range r.IntN(4) {
		// A high surrogate followed by a low one is one character, which no two texts spell.
		if t := texts[r.IntN(len(texts))]; len(s) < 3 || s[len(s)-3:] != "\xed\xa0\xbd" || t != "\xed\xb8\x80" {
			s += t
		}
	}
	return s
}

func randomValue(r *rand.Rand, depth int) value {
	n := 6
	if depth == 0 {
		n = 4
	}
	switch r.IntN(n) {
	case 0:
		return []value{nil, true, false}[r.IntN(3)]
	case 1:
		v := number{negative: r.IntN(4) == 0, exponent: r.IntN(41) - 20}
		for range r.IntN(20) {
			v.digits += strconv.Itoa(r.IntN(10))
		}
		return v.normal()
	case 2, 3:
		return randomText(r)
	case 4:
		list := []value{}
		for range r.IntN(5) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	}
	object := []field{}
	for range r.IntN(6) {
		object = append(object, field{randomText(r), randomValue(r, depth-1)})
	}
	return object
}

func (n number) normal() number {
	for len(n.digits) > 0 && n.digits[0] == '0' {
		n.digits = n.digits[1:]
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == '0' {
		n.digits = n.digits[:len(n.digits)-1]
		n.exponent++
	}
	if n.digits == "" {
		return number{}
	}
	return n
}

// spell appends one of the many spellings of v.
func spell(dst []byte, r *rand.Rand, v value) []byte {
	space := func() {
		for r.IntN(4) == 0 {
			dst = append(dst, " \n\t\r"[r.IntN(4)])
		}
	}
	space()
	switch v := v.(type) {
	case nil:
		dst = append(dst, "null"...)
	case bool:
		dst = strconv.AppendBool(dst, v)
	case number:
		dst = spellNumber(dst, r, v)
	case string:
		dst = spellText(dst, r, v)
	case []value:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = spell(dst, r, item)
		}
		dst = append(dst, ']')
	case []field:
		dst = append(dst, '{')
		for i, f := range shuffled(r, v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			space()
			dst = spellText(dst, r, f.name)
			space()
			dst = spell(append(dst, ':'), r, f.value)
		}
		dst = append(dst, '}')
	default:
		panic(fmt.Sprintf("%T", v))
	}
	space()
	return dst
}

// shuffled returns the fields in another order; those of one name keep theirs.
func shuffled(r *rand.Rand, fields []field) []field {
	out := make([]field, 0, len(fields))
	queues := map[string][]field{}
	for _, f := range fields {
		name := string(fingerprints(nil, []byte(f.name)))
		queues[name] = append(queues[name], f)
	}
	for _, i := range r.Perm(len(fields)) {
		name := string(fingerprints(nil, []byte(fields[i].name)))
		out = append(out, queues[name][0])
		queues[name] = queues[name][1:]
	}
	return out
}

func spellNumber(dst []byte, r *rand.Rand, n number) []byte {
	if n.negative || n.digits == "" && r.IntN(2) == 0 {
		dst = append(dst, '-')
	}
	digits, exponent := n.digits, n.exponent
	for range r.IntN(3) {
		digits += "0"
		exponent--
	}
	if len(digits) == 0 {
		digits = "0"
	}
	point := r.IntN(len(digits)+3) - 2 // digits before the point
	exponent += len(digits) - point
	switch {
	case point <= 0:
		dst = append(dst, "0."...)
		for range -point {
			dst = append(dst, '0')
		}
		dst = append(dst, digits...)
	case point >= len(digits) || n.digits == "" && point > 1:
		dst = append(dst, digits[:1]...)
		if rest := digits[1:]; rest != "" && digits[0] == '0' {
			dst = append(dst, '.')
			dst = append(dst, rest...)
		} else {
			dst = append(dst, rest...)
		}
	default:
		dst = append(dst, digits[:point]...)
		dst = append(dst, '.')
		dst = append(dst, digits[point:]...)
	}
	if exponent != 0 || r.IntN(2) == 0 {
		dst = append(dst, "eE"[r.IntN(2)])
		switch {
		case exponent < 0:
			dst = append(dst, '-')
			exponent = -exponent
		case r.IntN(2) == 0:
			dst = append(dst, '+')
		}
		for range r.IntN(3) {
			dst = append(dst, '0')
		}
		dst = strconv.AppendInt(dst, int64(exponent), 10)
	}
	return dst
}

func spellText(dst []byte, r *rand.Rand, s string) []byte {
	unit := func(u rune) {
		format := `\u%04x`
		if r.IntN(2) == 0 {
			format = `\u%04X`
		}
		dst = fmt.Appendf(dst, format, u)
	}
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1: // a surrogate
			unit(0xD000 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F))
			n = 3
		case c == '\n' && r.IntN(2) == 0:
			dst = append(dst, `\n`...)
		case (c == '"' || c == '\\' || c == '/') && r.IntN(2) == 0:
			dst = append(dst, '\\', byte(c))
		case c > 0xFFFF && r.IntN(2) == 0:
			unit(0xD800 + (c-0x10000)>>10)
			unit(0xDC00 + (c-0x10000)&0x3FF)
		case c < 0x20 || c == '"' || c == '\\' || c <= 0xFFFF && r.IntN(3) == 0:
			unit(c)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

// changed returns v with one thing in it changed.
func changed(r *rand.Rand, v value) value {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		if v {
			return nil
		}
		return true
	case number:
		if v.digits == "" {
			return number{digits: "1", exponent: r.IntN(41) - 20}
		}
		switch r.IntN(3) {
		case 0:
			v.negative = !v.negative
		case 1:
			v.exponent++
		default:
			v.digits += "1"
			v.exponent--
		}
		return v
	case string:
		return v + "z"
	case []value:
		out := append([]value{}, v...)
		if len(out) == 0 || r.IntN(4) == 0 {
			return append(out, nil)
		}
		i := r.IntN(len(out))
		out[i] = changed(r, out[i])
		return out
	case []field:
		out := append([]field{}, v...)
		if len(out) == 0 || r.IntN(4) == 0 {
			return append(out, field{"z", nil})
		}
		i := r.IntN(len(out))
		if r.IntN(4) == 0 {
			out[i].name += "z"
		} else {
			out[i].value = changed(r, out[i].value)
		}
		return out
	}
	panic(fmt.Sprintf("%T", v))
}

func FuzzSpelling(f *testing.F) {
	m := newMatcher(f, Rules{})
	for seed := range uint64(200) {
		f.Add(seed, seed+1)
	}
	f.Fuzz(func(t *testing.T, seed, spelling uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		v := value([]field{{"messages", randomValue(r, 4)}, {"n", randomValue(r, 3)}, {"reply_to", randomText(r)}})
		s1, s2 := rand.New(rand.NewPCG(spelling, 1)), rand.New(rand.NewPCG(spelling, 2))
		a, b := chat(t, string(spell(nil, s1, v))), chat(t, string(spell(nil, s2, v)))
		if !sameForm(m, a, b) {
			t.Fatalf("one value, two keys:\n%s\n%s", a.Body, b.Body)
		}
		b.Body = spell(nil, s2, append(changed(r, v.([]field)[:2]).([]field), v.([]field)[2]))
		if sameForm(m, a, b) {
			t.Fatalf("two values, one key:\n%s\n%s", a.Body, b.Body)
		}
	})
}

// spellPairs returns one of the many spellings of a query or form: pairs of one name keep their order.
func spellPairs(r *rand.Rand, pairs []field) string {
	var b strings.Builder
	escape := func(s string) {
		for _, c := range []byte(s) {
			plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
			switch {
			case plain && r.IntN(3) > 0:
				b.WriteByte(c)
			case c == ' ' && r.IntN(2) == 0:
				b.WriteByte('+')
			case r.IntN(2) == 0:
				fmt.Fprintf(&b, "%%%02x", c)
			default:
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
	}
	for _, p := range shuffled(r, pairs) {
		for range r.IntN(2) {
			b.WriteByte('&')
		}
		escape(p.name)
		value := p.value.(string)
		if value != "" || p.name == "" || r.IntN(2) == 0 {
			b.WriteByte('=')
		}
		escape(value)
		b.WriteByte('&')
	}
	return b.String()
}

// FuzzPairs checks queries, forms and multipart bodies: two spellings of the same have one key, and anything changed
// has another.
func FuzzPairs(f *testing.F) {
	m := newMatcher(f, Rules{})
	for seed := range uint64(100) {
		f.Add(seed, seed+1)
	}
	f.Fuzz(func(t *testing.T, seed, spelling uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		names := []string{"a", "b", "ab", "a b", "é", "", "&=", "\xff", "1"}
		pairs := make([]field, 1+r.IntN(5))
		for i := range pairs {
			pairs[i] = field{names[r.IntN(len(names))], names[r.IntN(len(names))]}
		}
		i := r.IntN(len(pairs))
		other := append([]field{}, pairs...)
		other[i].value = other[i].value.(string) + "z"

		form := func(s *rand.Rand, pairs []field) *Request {
			return &Request{Kind: "http", ContentType: "application/x-www-form-urlencoded", Body: []byte(spellPairs(s, pairs))}
		}
		query := func(s *rand.Rand, pairs []field) *Request {
			return &Request{Kind: "http", Query: spellPairs(s, pairs)}
		}
		parts := func(s *rand.Rand, pairs []field) *Request {
			boundary := fmt.Sprint("boundary", s.Uint64())
			var b bytes.Buffer
			for _, p := range pairs {
				fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", boundary, p.name, p.value)
			}
			fmt.Fprintf(&b, "--%s--\r\n", boundary)
			return &Request{Kind: "http", ContentType: "multipart/form-data; boundary=" + boundary, Body: b.Bytes()}
		}
		for what, of := range map[string]func(*rand.Rand, []field) *Request{"form": form, "query": query, "parts": parts} {
			s := rand.New(rand.NewPCG(spelling, 1))
			a, b, c := of(s, pairs), of(s, pairs), of(s, other)
			if !sameForm(m, a, b) {
				t.Errorf("%s: one value, two keys:\n%s%s\n%s%s", what, a.Query, a.Body, b.Query, b.Body)
			}
			if sameForm(m, a, c) {
				t.Errorf("%s: two values, one key:\n%s%s\n%s%s", what, a.Query, a.Body, c.Query, c.Body)
			}
		}
	})
}

func FuzzBodies(f *testing.F) {
	m := newMatcher(f, Rules{})
	f.Add("application/json", []byte(`{"messages":[{"tool_calls":[{"id":"a"}]},{"tool_call_id":"a"}],"reply_to":"b","n":[1,-0.50e+3]}`))
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\n\r\na\r\n--x--"))
	f.Add("application/x-www-form-urlencoded", []byte("a=1&b=%zz&"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r := chat(t, string(body))
		r.ContentType = contentType
		key := m.Key(r)
		if again := m.Key(r); again != key {
			t.Fatal("a key changes from one call to the next")
		}
		if !jsonlex.Valid(body) {
			return
		}
		e := new(encoder)
		from := m.encode(e, r, false)
		e.ids.open = 1 // a walk over a whole form ends at its end, and finds no open id
		e.ids.number(e.dst[from:])
		if e.ids.open != 1 {
			t.Fatal("an id was left without a number")
		}
	})
}

// sameForm reports whether the keys of two requests are the same, and fails to when keys and forms do not agree.
func sameForm(m *Matcher, a, b *Request) bool {
	var x, y encoder
	m.encode(&x, a, false)
	m.encode(&y, b, false)
	return bytes.Equal(x.dst, y.dst) && m.Key(a) == m.Key(b)
}
