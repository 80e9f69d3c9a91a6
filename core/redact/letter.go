package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// privateKey looks at "-----BEGIN ".
func (s *scanner) privateKey(i int) int {
	const begin, end = "-----BEGIN ", "-----END "
	s.far = true
	line := s.text[i+len(begin) : min(len(s.text), i+64)]
	name := bytes.Index(line, []byte("PRIVATE KEY"))
	close := bytes.Index(line, []byte("-----"))
	if name < 0 || close < name {
		return i + len(begin)
	}
	body := i + len(begin) + close + len("-----")
	if s.pem < body {
		s.pem = len(s.text)
		if at := bytes.Index(s.text[body:], []byte(end)); at >= 0 {
			s.pem = body + at
		}
	}
	if s.pem == len(s.text) { // cut: what looks like the key's lines goes
		to := body
		for to < len(s.text) && (is(s.text[to], b64|space) || bytes.IndexByte([]byte(`:,\`), s.text[to]) >= 0) {
			to++
		}
		if to-body < 32 {
			return body
		}
		return s.hit(privateKey, i, to)
	}
	to := s.pem + len(end)
	if at := bytes.Index(s.text[to:min(len(s.text), to+64)], []byte("-----")); at >= 0 {
		to += at + len("-----")
	}
	return s.hit(privateKey, i, to)
}

// tilde looks at the "~" that every client secret of Azure holds after "Q".
func (s *scanner) tilde(i int) int {
	start := i - 5
	if start < s.floor || s.text[i-1] != 'Q' || !is(s.text[i-2], digit) {
		return i + 1
	}
	secret := func(b []byte, i int) int {
		for i < len(b) && (is(b[i], word|dot) || b[i] == '~') {
			i++
		}
		return i
	}
	if secret(s.text[:i], start) != i || !s.fresh(start) {
		return i + 1
	}
	end := secret(s.text, i+1)
	for s.text[end-1] == '.' {
		end--
	}
	if n := end - i - 1; n >= 31 && n <= 34 {
		return s.hit(azureKey, start, end)
	}
	return i + 1
}

// letterB looks at "Bearer token" and "Basic credentials".
func (s *scanner) letterB(i int) int {
	fold := func(word string) bool { return bytes.EqualFold(s.text[i:i+len(word)], []byte(word)) }
	switch {
	case len(s.text)-i < len("bearer x") || !s.fresh(i):
	case s.text[i+6] == ' ' && fold("bearer"):
		from := i + len("bearer ")
		end := from
		for end < len(s.text) && (is(s.text[end], b64|dot) || s.text[end] == '~') {
			end++
		}
		for end > from && s.text[end-1] == '.' {
			end--
		}
		if end-from >= 12 && hasLetterAndDigit(s.text[from:end]) {
			// Tokens with a shape of their own say more than this one.
			if own := s.r.shapeHits(s.text[from:end], s.form); len(own) == 1 && own[0].start == 0 && own[0].end == end-from {
				return i + 1
			}
			return s.hit(bearer, from, end)
		}
	case s.text[i+5] == ' ' && fold("basic"):
		from := i + len("basic ")
		end := run(s.text, from, b64)
		if b, err := base64.StdEncoding.DecodeString(string(s.text[from:end])); err == nil && len(b) >= 4 && slices.Contains(b, ':') {
			return s.hit(bearer, from, end)
		}
	}
	return i + 1
}

// letterJ looks at the "J" of "eyJ", with which a JWT begins, and of the mark inside Azure's newer keys.
func (s *scanner) letterJ(i int) int {
	if start := i - 2; start >= s.floor && s.text[start] == 'e' && s.text[start+1] == 'y' && s.fresh(start) {
		end := run(s.text, i, word)
		parts := 1
		for end-start >= 16 && parts < 5 && s.has(end, ".") {
			next := run(s.text, end+1, word)
			if parts == 1 && next-end < 11 {
				break
			}
			parts++
			end = next
		}
		if parts > 1 {
			if s.text[end-1] == '.' {
				end--
			}
			return s.hit(jwt, start, end)
		}
		return end
	}
	if start := i - 52; s.has(i, "JQQJ99") && start >= s.floor && s.fresh(start) {
		if end := run(s.text, start, alnum); end-start == 84 {
			return s.hit(azureKey, start, end)
		}
	}
	return i + 1
}

// letterS looks at the keys of Twilio and its SendGrid.
func (s *scanner) letterS(i int) int {
	switch {
	case s.has(i, "SK") && s.fresh(i):
		if end := run(s.text, i+2, hexLow); end-i == 34 && s.over(end) {
			return s.hit(twilioKey, i, end)
		}
	case s.has(i, "SG.") && s.fresh(i):
		if id := run(s.text, i+3, word); id-i == 25 && s.has(id, ".") {
			if end := run(s.text, id+1, word); end-id >= 40 {
				return s.hit(twilioKey, i, end)
			}
		}
	}
	return i + 1
}
