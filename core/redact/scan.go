package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// trigger says at which bytes the scanner stops to look.
type trigger byte

const (
	none trigger = iota
	onAt
	onDigit
	onDash
	onColon
	onEqual
	onTilde
	onLetterA
	onLetterB
	onLetterJ
	onLetterS
)

var triggers = func() (t [256]trigger) {
	for c := '0'; c <= '9'; c++ {
		t[c] = onDigit
	}
	t['@'] = onAt
	t['-'], t['_'] = onDash, onDash
	t[':'] = onColon
	t['='] = onEqual
	t['~'] = onTilde
	t['A'] = onLetterA
	t['B'], t['b'] = onLetterB, onLetterB
	t['J'] = onLetterJ
	t['S'] = onLetterS
	return t
}()

// scanner finds the shapes in one text, in one pass. Each look back is bounded, and no byte is looked at by a second
// look ahead unless that is bounded too: the cost is linear for every text.
type scanner struct {
	r     *Redactor
	text  []byte
	form  form
	floor int // nothing before it is part of a secret: the end of the last hit
	hits  []hit
	pem   int // where the next "-----END" is, if at or after the place asked about; -1 if it was not looked for
}

func (r *Redactor) shapeHits(text []byte, f form) []hit {
	if r.shapeless {
		return nil
	}
	s := scanner{r: r, text: text, form: f, pem: -1}
	table := &triggers
	for i := 0; i < len(text); {
		for i+4 <= len(text) && table[text[i]]|table[text[i+1]]|table[text[i+2]]|table[text[i+3]] == none {
			i += 4 // most of most texts
		}
		if i == len(text) {
			break
		}
		switch table[text[i]] {
		case none:
			i++
		case onAt:
			i = s.at(i)
		case onDigit:
			i = s.digit(i)
		case onDash:
			i = s.dash(i)
		case onColon:
			i = s.colon(i)
		case onEqual:
			i = s.equal(i)
		case onTilde:
			i = s.tilde(i)
		case onLetterA:
			i = s.letterA(i)
		case onLetterB:
			i = s.letterB(i)
		case onLetterJ:
			i = s.letterJ(i)
		case onLetterS:
			i = s.letterS(i)
		}
	}
	return s.hits
}

// hit notes a secret, if the rule for its shape is on, and returns its end.
func (s *scanner) hit(sh shape, start, end int) int {
	if rule := s.r.shapes[sh]; rule != nil {
		s.hits = append(s.hits, hit{start: start, end: end, rule: rule})
		s.floor = end
	}
	return end
}

// fresh reports whether a token may begin at i: what is before it does not belong to the same word.
func (s *scanner) fresh(i int) bool { return i == s.floor || i > s.floor && !is(s.text[i-1], word) }

// over reports whether a token may end before i.
func (s *scanner) over(i int) bool {
	return i >= len(s.text) || !is(s.text[i], alnum) && s.text[i] != '_'
}

func (s *scanner) has(i int, what string) bool {
	return len(s.text)-i >= len(what) && string(s.text[i:i+len(what)]) == what
}

// dash looks at a dash or an underscore: the first one in a token with a prefix, or the beginning of a private key.
func (s *scanner) dash(i int) int {
	start := i
	for start > s.floor && i-start <= longestWord && is(s.text[start-1], alnum) {
		start--
	}
	if start == i {
		if s.has(i, "-----BEGIN ") && (i == s.floor || s.text[i-1] != '-') {
			return s.privateKey(i)
		}
		return i + 1
	}
	if i-start > longestWord || !s.fresh(start) {
		return i + 1
	}
	for _, p := range prefixes[string(s.text[start:i])] {
		if !s.has(start, p.text) {
			continue
		}
		from := start + len(p.text)
		end := run(s.text, from, p.set)
		for end > from && s.text[end-1] == '.' {
			end--
		}
		if body := s.text[from:end]; len(body) >= p.min && kinds(body) >= p.mixed && (p.text != "sk-" || looksRandom(body)) {
			return s.hit(p.shape, start, end)
		}
	}
	return i + 1
}

// looksRandom tells the keys that begin with a mere "sk-" from names with dashes: it wants a long part with letters
// and digits.
func looksRandom(body []byte) bool {
	if len(body) >= 40 && kinds(body) == 3 {
		return true
	}
	for part := range bytes.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= 12 && hasLetterAndDigit(part) {
			return true
		}
	}
	return false
}

// privateKey looks at "-----BEGIN ".
func (s *scanner) privateKey(i int) int {
	const begin, end = "-----BEGIN ", "-----END "
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

// colon looks at the colon of a URL with a scheme, of a data URL, or after a name.
func (s *scanner) colon(i int) int {
	if s.has(i, "://") {
		return s.url(i)
	}
	if i >= s.floor+4 && s.has(i-4, "data:") {
		end := run(s.text, i+1, alnum|dash|dot)
		for end < len(s.text) && end-i < 128 && (is(s.text[end], word|dot) || bytes.IndexByte([]byte("/;=+"), s.text[end]) >= 0) {
			end++
		}
		if s.has(end, ",") && bytes.HasSuffix(s.text[i:end], []byte(";base64")) {
			return run(s.text, end+1, b64)
		}
		return i + 1
	}
	return s.equal(i)
}

// assignments are names before "=" or ":" whose values are secrets, in lower case.
var assignments = map[string]struct {
	shape shape
	set   class
	min   int
}{
	"accountkey":            {azureKey, b64, 40},
	"sharedaccesskey":       {azureKey, b64, 40},
	"aws_secret_access_key": {awsKey, b64, 40},
	"aws_session_token":     {awsKey, b64, 60},
	"secretaccesskey":       {awsKey, b64, 40},
}

// longestAssignment is the length of the longest key of assignments.
const longestAssignment = len("aws_secret_access_key")

// equal looks at the sign after a name.
func (s *scanner) equal(i int) int {
	end := i
	for end > s.floor && i-end < 2 && is(s.text[end-1], space) || end > s.floor && i-end < 2 && s.text[end-1] == '"' {
		end--
	}
	start := end
	for start > s.floor && is(s.text[start-1], alnum) || start > s.floor && s.text[start-1] == '_' {
		if end-start == longestAssignment {
			return i + 1
		}
		start--
	}
	if end-start < len("pwd") {
		return i + 1
	}
	var low [longestAssignment]byte
	name := appendLower(low[:0], s.text[start:end])
	if string(name) == "password" || string(name) == "pwd" {
		return s.connectionPassword(i, start)
	}
	a, ok := assignments[string(name)]
	if !ok {
		return i + 1
	}
	from := i + 1
	for from < len(s.text) && from-i < 4 && (is(s.text[from], space) || s.text[from] == '"' || s.text[from] == '\'') {
		from++
	}
	if to := run(s.text, from, b64); to-from >= a.min && kinds(s.text[from:to]) >= 2 {
		return s.hit(a.shape, from, to)
	}
	return i + 1
}

// connectionPassword looks at the sign after "password", whose name begins at start, in a connection string:
// "Server=…;Password=…;" or "host=… user=… password=…".
func (s *scanner) connectionPassword(i, start int) int {
	before := s.text[max(s.floor, start-200):start]
	if s.text[i] != '=' || !bytes.HasSuffix(before, []byte(";")) &&
		!(bytes.HasSuffix(before, []byte(" ")) && (bytes.Contains(before, []byte("host=")) || bytes.Contains(before, []byte("user=")))) {
		return i + 1
	}
	end := i + 1
	for end < len(s.text) && s.text[end] > ' ' && bytes.IndexByte([]byte(`;"'<>`), s.text[end]) < 0 {
		end++
	}
	if value := s.text[i+1 : end]; len(value) > 0 && !isTemplate(value) {
		return s.hit(urlPassword, i+1, end)
	}
	return i + 1
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

func (s *scanner) letterA(i int) int {
	switch {
	case !s.has(i, "AK") && !s.has(i, "AS") && !s.has(i, "AB") && !s.has(i, "AC") && !s.has(i, "AI") || !s.fresh(i):
	case s.has(i, "AIza"):
		if end := run(s.text, i+4, word); end-i >= 39 {
			return s.hit(googleKey, i, end)
		}
	case s.has(i, "AKIA"), s.has(i, "ASIA"), s.has(i, "ABIA"), s.has(i, "ACCA"):
		if end := run(s.text, i, upper|digit); end-i == 20 && s.over(end) {
			return s.hit(awsKey, i, end)
		}
	}
	return i + 1
}

// letterB looks at "Bearer token" and "Basic credentials".
func (s *scanner) letterB(i int) int {
	fold := func(word string) bool {
		return len(s.text)-i > len(word)+1 && s.text[i+len(word)] == ' ' && bytes.EqualFold(s.text[i:i+len(word)], []byte(word))
	}
	switch {
	case len(s.text)-i < 8 || s.text[i+1]|0x20 != 'e' && s.text[i+1]|0x20 != 'a' || !s.fresh(i):
	case fold("bearer"):
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
	case fold("basic"):
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
