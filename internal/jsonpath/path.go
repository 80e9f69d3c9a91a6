package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// Path is a parsed path. It is immutable; the zero Path is "$".
type Path struct {
	steps []step
}

type step struct {
	kind  kind
	name  string // of a member
	index int    // of an element
}

type kind byte

const (
	member kind = iota
	anyMember
	element
	anyElement
)

// Parse reads a path. Its error names the path, what is wrong and what to write instead.
func Parse(path string) (Path, error) {
	fail := func(format string, args ...any) (Path, error) {
		return Path{}, fmt.Errorf("path %q: %s", path, fmt.Sprintf(format, args...))
	}
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return fail("a path is full and begins with $, as in $.metadata.run_id")
	}
	var p Path
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, ".."):
			return fail("there is no \"..\": a path is full, as in $.metadata.run_id")
		case strings.HasPrefix(rest, ".*"):
			p.steps = append(p.steps, step{kind: anyMember})
			rest = rest[2:]
		case rest[0] == '.':
			n := bareLen(rest[1:])
			if n == 0 {
				return fail("a name is missing before %q; a name with odd characters is written ['…']", rest[1:])
			}
			p.steps = append(p.steps, step{kind: member, name: rest[1 : 1+n]})
			rest = rest[1+n:]
		case strings.HasPrefix(rest, "[*]"):
			p.steps = append(p.steps, step{kind: anyElement})
			rest = rest[3:]
		case strings.HasPrefix(rest, "['"), strings.HasPrefix(rest, `["`):
			name, n, ok := quoted(rest[1:])
			if !ok || !strings.HasPrefix(rest[1+n:], "]") {
				return fail("the name that begins at %q does not end: write ['name'], with \\' for a quote", rest)
			}
			p.steps = append(p.steps, step{kind: member, name: name})
			rest = rest[1+n+1:]
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			i, err := strconv.Atoi(digits)
			if !ok || err != nil || digits != strconv.Itoa(i) || i < 0 {
				return fail("%q is no index: write [0], [*] or ['name']", rest)
			}
			p.steps = append(p.steps, step{kind: element, index: i})
			rest = after
		default:
			return fail("a dot or a bracket is missing before %q", rest)
		}
	}
	return p, nil
}

// String returns the path in the form that Append gives.
func (p Path) String() string {
	dst := []byte("$")
	for _, s := range p.steps {
		switch s.kind {
		case member:
			dst = AppendName(dst, []byte(s.name))
		case element:
			dst = AppendIndex(dst, s.index)
		case anyMember:
			dst = append(dst, ".*"...)
		case anyElement:
			dst = append(dst, "[*]"...)
		}
	}
	return string(dst)
}

// AppendName appends the step to a member to a path that begins with "$": .name where the name is an identifier, else
// ['name'], on one line. The name is unescaped, as jsonlex.AppendUnquoted gives it.
func AppendName(dst, name []byte) []byte {
	if isIdentifier(name) {
		return append(append(dst, '.'), name...)
	}
	dst = append(dst, "['"...)
	token := jsonlex.AppendQuoted(nil, name)
	for b := token[1 : len(token)-1]; len(b) > 0; b = b[1:] {
		switch {
		case b[0] == '\'':
			dst = append(dst, '\\', '\'')
		case b[0] == '\\' && b[1] == '"':
			dst = append(dst, '"')
			b = b[1:]
		case b[0] == '\\':
			dst = append(dst, '\\', b[1])
			b = b[1:]
		default:
			dst = append(dst, b[0])
		}
	}
	return append(dst, "']"...)
}

// AppendIndex appends the step to an element to a path that begins with "$".
func AppendIndex(dst []byte, i int) []byte {
	return append(strconv.AppendInt(append(dst, '['), int64(i), 10), ']')
}

// bareLen returns how many bytes of s are a name that needs no quotes in a path. It is wider than isIdentifier: people
// write $.x-api-key.
func bareLen(s string) int {
	for i, r := range s {
		if r <= ' ' || r == 0x7F || strings.ContainsRune(`.[]'"*\`, r) {
			return i
		}
	}
	return len(s)
}

func isIdentifier(name []byte) bool {
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
		i += n
	}
	return len(name) > 0
}

// quoted reads the quoted name that s begins with, and returns its unescaped text and its length in s.
func quoted(s string) (name string, n int, ok bool) {
	token := []byte{'"'}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == s[0]:
			token = append(token, '"')
			lex := jsonlex.New(token)
			if lex.Next() != jsonlex.String || lex.Next() != jsonlex.End {
				return "", 0, false
			}
			return string(jsonlex.AppendUnquoted(nil, token)), i + 1, true
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\'' {
				token = append(token, '\\')
			}
			token = append(token, s[i])
		case c == '"':
			token = append(token, '\\', '"')
		default:
			token = append(token, c)
		}
	}
	return "", 0, false
}
