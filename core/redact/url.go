package redact

import "bytes"

// URL returns u with the password in its user info hidden, the values of its query and fragment by name and by shape,
// and its path by shape. What is not hidden stays byte for byte; u need not be a valid URL.
func (r *Redactor) URL(u string) string {
	edits := stable([]byte(u), r.urlEdits)
	if len(edits) == 0 {
		return u
	}
	return string(apply([]byte(u), edits))
}

func (r *Redactor) urlEdits(u []byte) (edits []edit) {
	rest := 0
	if i := bytes.Index(u, []byte("//")); i == 0 || i > 0 && u[i-1] == ':' && run(u, 0, alnum|dot|dash) == i-1 {
		edits, rest = r.authorityEdits(u, i+2)
	}
	const webhook = "hooks.slack.com/services/"
	if rule := r.shapes[slackToken]; rule != nil && bytes.HasPrefix(u[rest:], []byte(webhook)) {
		rest += len(webhook)
		end := run(u, rest, alnum|dot|dash)
		for end < len(u) && u[end] == '/' {
			end = run(u, end+1, alnum|dot|dash)
		}
		edits = append(edits, shift(r.wholeEdit(rule, u[rest:end], urlForm), rest)...)
		rest = end
	}
	query := len(u)
	if i := bytes.IndexAny(u[rest:], "?#"); i >= 0 {
		query = rest + i
	}
	edits = append(edits, shift(r.escapedEdits(u[rest:query], false), rest)...)
	return append(edits, shift(r.pairEdits(u[query:], "?&;#"), query)...)
}

// authorityEdits hides what stands before the host of an authority that begins at u[at:], and returns where its host
// begins.
func (r *Redactor) authorityEdits(u []byte, at int) ([]edit, int) {
	end := len(u)
	if i := bytes.IndexAny(u[at:], "/?#"); i >= 0 {
		end = at + i
	}
	info := bytes.LastIndexByte(u[at:end], '@')
	if info < 0 {
		return nil, at
	}
	user, password, ok := bytes.Cut(u[at:at+info], []byte(":"))
	from := at + len(user) + 1
	if !ok || len(password) == 0 {
		user, password, from = nil, u[at:at+info], at
		if !isCredential(string(password)) { // a name, not a token
			return shift(r.escapedEdits(password, false), at), at + info + 1
		}
	}
	edits := shift(r.escapedEdits(user, false), at)
	rule := r.shapes[urlPassword]
	if rule == nil || isTemplate(password) {
		return append(edits, shift(r.escapedEdits(password, false), from)...), at + info + 1
	}
	hide := toRaw(r.wholeEdit(rule, percentDecoded(password, false), urlForm), password, percentUnit)
	return append(edits, shift(hide, from)...), at + info + 1
}

// isTemplate reports whether a password is one that a program or a reader is to fill in: $DB_PASSWORD, {password}, ***.
func isTemplate(b []byte) bool {
	switch first, last := b[0], b[len(b)-1]; {
	case first == '$':
		return bytes.IndexFunc(b[1:], func(r rune) bool { return r >= 0x80 || !is(byte(r), upper) && r != '_' }) < 0 || last == '}' || last == ')'
	case first == '{' && last == '}', first == '<' && last == '>', first == '[' && last == ']':
		return true
	default:
		return (first == '*' || first == 'x' || first == '.') && bytes.Count(b, b[:1]) == len(b)
	}
}

// pairEdits hides the values of name=value pairs that stand between the bytes of separators.
func (r *Redactor) pairEdits(b []byte, separators string) (edits []edit) {
	for at := 0; at < len(b); {
		end := len(b)
		if i := bytes.IndexAny(b[at:], separators); i >= 0 {
			end = at + i
		}
		name, value, ok := bytes.Cut(b[at:end], []byte("="))
		if !ok {
			edits = append(edits, shift(r.escapedEdits(name, true), at)...)
		} else {
			edits = append(edits, shift(r.escapedEdits(name, true), at)...)
			edits = append(edits, shift(r.valueEdits(name, value), at+len(name)+1)...)
		}
		at = end + 1
	}
	return edits
}

func (r *Redactor) valueEdits(name, value []byte) []edit {
	rule := r.fieldRule(percentDecoded(name, true))
	if rule == nil && r.members != nil && CredentialQuery(string(percentDecoded(name, true))) {
		rule = r.members
	}
	if rule == nil {
		return r.escapedEdits(value, true)
	}
	return toRaw(r.wholeEdit(rule, percentDecoded(value, true), urlForm), value, percentUnit)
}

// escapedEdits hides the secrets in percent-escaped text.
func (r *Redactor) escapedEdits(b []byte, plus bool) []edit {
	if len(b) == 0 {
		return nil
	}
	if bytes.IndexByte(b, '%') < 0 && (!plus || bytes.IndexByte(b, '+') < 0) {
		return r.stringEdits(b, scope{form: urlForm})
	}
	return toRaw(r.stringEdits(percentDecoded(b, plus), scope{form: urlForm}), b, percentUnit)
}

// url looks at the colon of "://" in a text: it hides what is in the URL, and returns its end.
func (s *scanner) url(i int) int {
	start := i
	for start > s.floor && i-start < 16 && is(s.text[start-1], alnum|dot|dash) {
		start--
	}
	if s.form == urlForm || start == i {
		return s.innerURL(i)
	}
	from := i
	if at := s.userInfo(i + 3); at > 0 {
		from = at
	}
	end := run(s.text, from, inURL)
	for end > i+3 && bytes.IndexByte([]byte(".,;:!?'])*"), s.text[end-1]) >= 0 {
		end--
	}
	for _, e := range s.r.urlEdits(s.text[i+1 : end]) {
		h := hit{start: i + 1 + e.start, end: i + 1 + e.end, text: e.text}
		s.hits = append(s.hits, h)
	}
	s.floor = end
	return end
}

// userInfo returns where the @ is that ends the user info of an authority that begins at i, 0 if there is none. People
// write passwords as they are, with bytes that no URL may hold.
func (s *scanner) userInfo(i int) (at int) {
	for end := min(len(s.text), i+256); i < end; i++ {
		switch c := s.text[i]; {
		case c == '@':
			at = i
		case is(c, space) || c < ' ' || bytes.IndexByte([]byte("/?#\"'<>`"), c) >= 0:
			return at
		}
	}
	return at
}

// innerURL is url for what stands inside a URL, where an end cannot be told.
func (s *scanner) innerURL(i int) int {
	edits, rest := s.r.authorityEdits(s.text, i+3)
	for _, e := range edits {
		s.hits = append(s.hits, hit{start: e.start, end: e.end, text: e.text})
	}
	if len(edits) > 0 {
		s.floor = rest
	}
	return rest
}
