package redact

import "bytes"

const (
	maxLocal = 64  // bytes before the @ of an e-mail address
	maxHost  = 255 // bytes after it
)

// at looks at the @ of an e-mail address.
func (s *scanner) at(i int) int {
	start := i
	for start > s.floor && is(s.text[start-1], local) {
		if start--; i-start > maxLocal {
			return i + 1
		}
	}
	for start < i && !is(s.text[start], alnum) && s.text[start] != '_' {
		start++
	}
	if start == i {
		return i + 1
	}
	end := i + 1
	for end < len(s.text) && end-i <= maxHost && is(s.text[end], host) {
		end++
	}
	domain := mailDomain(s.text[i+1 : end])
	if len(domain) == 0 || reservedDomain(domain) || string(s.text[start:i]) == "git" {
		return i + 1
	}
	return s.hit(email, start, i+1+len(domain))
}

// mailDomain returns the longest beginning of b that is a domain with a top-level domain, nil if none is.
func mailDomain(b []byte) []byte {
	if i := bytes.Index(b, []byte("..")); i >= 0 {
		b = b[:i]
	}
	first := run(b, 0, alnum)
	if first == 0 {
		return nil
	}
	for {
		dotAt := bytes.LastIndexByte(b, '.')
		if dotAt < 0 {
			return nil
		}
		top := b[dotAt+1:]
		n := run(top, 0, letter)
		if bytes.HasPrefix(top, []byte("xn--")) {
			n = run(top, 0, alnum|dash)
		}
		if n >= 2 && (n == len(top) || top[n] == '-') && n <= 63 {
			b = b[:dotAt+1+n]
			break
		}
		b = b[:dotAt]
	}
	// A version ("pkg@1.2.x", "pkg@v2.0.0-rc.beta") and a picture for dense screens ("logo@2x.png") are no addresses.
	label := b[:bytes.IndexByte(b, '.')]
	digits := run(label, 0, digit)
	if label[0] == 'v' {
		digits = run(label, 1, digit)
	}
	if digits == len(label) && is(b[len(label)+1], digit) || digits > 0 && digits == len(label)-1 && label[digits] == 'x' {
		return nil
	}
	return b
}

// reservedDomain reports whether RFC 2606 or RFC 6761 keeps the domain free of real people.
func reservedDomain(domain []byte) bool {
	for _, reserved := range []string{
		"example.com", "example.org", "example.net", "example", "test", "invalid", "localhost",
	} {
		at := len(domain) - len(reserved)
		if at >= 0 && (at == 0 || domain[at-1] == '.') && bytes.EqualFold(domain[at:], []byte(reserved)) {
			return true
		}
	}
	return false
}
