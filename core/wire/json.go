package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// object is a JSON object: its members in their order, duplicates too.
type object []member

type member struct {
	name  []byte
	value json.RawMessage
}

// parseObject reads one JSON object. Beside an error it returns the members that stand whole before it.
func parseObject(raw []byte) (object, error) {
	var s jsonlex.Scanner
	s.Reset(raw)
	switch s.Next() {
	case jsonlex.ObjectStart:
	case jsonlex.Invalid:
		return nil, s.Err()
	default:
		return nil, errors.New("not a JSON object")
	}
	o := make(object, 0, 8)
	end := 0
	for s.Next() == jsonlex.Name {
		name := unquote(s.Raw(), s.Escaped())
		start, ok := skipValue(&s)
		if !ok {
			break
		}
		_, end = s.Span()
		o = append(o, member{name, raw[start:end:end]})
	}
	s.Next()
	err := s.Err()
	if n := len(o); err != nil && n > 0 && isNumber(o[n-1].value) && errorAt(err, end) {
		o = o[:n-1] // its last digits may be missing
	}
	return o, err
}

// errorAt reports whether err is about the text at offset.
func errorAt(err error, offset int) bool {
	var syntax *jsonlex.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset == offset
}

// parseArray is parseObject for an array.
func parseArray(raw []byte) ([]json.RawMessage, error) {
	var s jsonlex.Scanner
	s.Reset(raw)
	switch s.Next() {
	case jsonlex.ArrayStart:
	case jsonlex.Invalid:
		return nil, s.Err()
	default:
		return nil, errors.New("not a JSON array")
	}
	var list []json.RawMessage
	for {
		start, ok := skipValue(&s)
		if !ok {
			break
		}
		_, end := s.Span()
		list = append(list, raw[start:end:end])
	}
	s.Next()
	return list, s.Err()
}

// skipValue moves s past the next value and returns where it begins. ok is false when there is no whole one.
func skipValue(s *jsonlex.Scanner) (start int, ok bool) {
	depth := s.Depth()
	switch s.Next() {
	case jsonlex.Invalid, jsonlex.End, jsonlex.ObjectEnd, jsonlex.ArrayEnd:
		return 0, false
	}
	start, _ = s.Span()
	for s.Depth() > depth {
		if s.Next() == jsonlex.Invalid {
			return 0, false
		}
	}
	return start, true
}

// get returns the value of the last member called name; nil when there is none or it is null.
func (o object) get(name string) json.RawMessage {
	for i := len(o) - 1; i >= 0; i-- {
		if string(o[i].name) == name {
			if string(o[i].value) == "null" {
				return nil
			}
			return o[i].value
		}
	}
	return nil
}

// text returns the string called name, "" when it is none.
func (o object) text(name string) string { return asText(o.get(name)) }

// object returns the object called name, nil when it is none.
func (o object) object(name string) object { return asObject(o.get(name)) }

// list returns the elements of the array called name, nil when it is none.
func (o object) list(name string) []json.RawMessage { return asList(o.get(name)) }

// count returns the number called name when it is an integer.
func (o object) count(name string) (n int64, ok bool) {
	raw := o.get(name)
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	// Some servers count in floating point.
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// addTo puts the members that are not among known into extra, which it makes when there is need, and returns it.
func (o object) addTo(extra map[string]json.RawMessage, known ...string) map[string]json.RawMessage {
next:
	for _, m := range o {
		for _, k := range known {
			if string(m.name) == k {
				continue next
			}
		}
		if old, ok := extra[string(m.name)]; ok && bytes.Equal(old, m.value) {
			continue // what each chunk of a stream repeats
		}
		if extra == nil {
			extra = make(map[string]json.RawMessage)
		}
		extra[string(m.name)] = m.value
	}
	return extra
}

// without returns o without its members called name.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return string(m.name) == name })
}

// set returns o with one member called name.
func (o object) set(name string, value []byte) object {
	return append(o.without(name), member{[]byte(name), value})
}

// update returns o with the members that changes has replaced or added.
func (o object) update(changes map[string]json.RawMessage) object {
	o = slices.DeleteFunc(slices.Clone(o), func(m member) bool { _, ok := changes[string(m.name)]; return ok })
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		o = append(o, member{[]byte(name), changes[name]})
	}
	return o
}

// raw returns the text of o.
func (o object) raw() json.RawMessage {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(jsonlex.AppendQuoted(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}

// asText returns the text of a JSON string, "" when raw is none. It is valid UTF-8, as encoding/json's would be.
func asText(raw []byte) string {
	if !isString(raw) {
		return ""
	}
	text := unquote(raw, bytes.IndexByte(raw, '\\') >= 0)
	if !utf8.Valid(text) {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	return string(text)
}

func asObject(raw []byte) object {
	if !isObject(raw) {
		return nil
	}
	o, _ := parseObject(raw)
	return o
}

func asList(raw []byte) []json.RawMessage {
	if !isArray(raw) {
		return nil
	}
	list, _ := parseArray(raw)
	return list
}

// unquote returns the text of a string token, in place when it holds no escape.
func unquote(raw []byte, escaped bool) []byte {
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	return jsonlex.AppendUnquoted(make([]byte, 0, len(raw)), raw)
}

// array returns the text of an array.
func array(elements []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

func quote(text string) json.RawMessage { return jsonlex.AppendQuoted(nil, []byte(text)) }

func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// isEmpty reports whether raw says nothing: absent, null, "", [] or {}.
func isEmpty(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// joinPieces makes one value of the pieces of it that the chunks of a stream carry: strings and arrays are strung
// together, objects member by member; of anything else the last piece stands.
func joinPieces(pieces []json.RawMessage) json.RawMessage {
	all := func(is func([]byte) bool) bool {
		for _, p := range pieces {
			if !is(p) {
				return false
			}
		}
		return true
	}
	switch {
	case len(pieces) == 1:
		return pieces[0]
	case all(isString):
		var b strings.Builder
		for _, p := range pieces {
			b.WriteString(asText(p))
		}
		return quote(b.String())
	case all(isArray):
		var elements []json.RawMessage
		for _, p := range pieces {
			elements = append(elements, asList(p)...)
		}
		return array(elements)
	case all(isObject):
		return joinObjects(pieces)
	}
	return pieces[len(pieces)-1]
}

func joinObjects(pieces []json.RawMessage) json.RawMessage {
	var p pieceMap
	for _, raw := range pieces {
		o, _ := parseObject(raw)
		for _, m := range o {
			p.add(string(m.name), m.value)
		}
	}
	return p.object(isArray).raw() // a string inside is a value of its own
}

// pieceMap collects pieces by name, names in the order in which they first came.
type pieceMap struct {
	names  []string
	values map[string][]json.RawMessage
}

func (p *pieceMap) add(name string, value json.RawMessage) {
	if string(value) == "null" {
		return
	}
	if p.values == nil {
		p.values = make(map[string][]json.RawMessage)
	}
	if _, ok := p.values[name]; !ok {
		p.names = append(p.names, name)
	}
	p.values[name] = append(p.values[name], value)
}

// object returns what the pieces make: those that are all of a kind that join holds for are joined, of others the last
// one stands.
func (p *pieceMap) object(join func([]byte) bool) object {
	var o object
	for _, name := range p.names {
		values := p.values[name]
		value := values[len(values)-1]
		if join(value) {
			value = joinPieces(values)
		}
		o = append(o, member{[]byte(name), value})
	}
	return o
}
