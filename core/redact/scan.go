package redact

import (
	"bytes"
	"encoding/base64"
	"math/bits"
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

// stops is 1 for each trigger, and 0 for the other bytes.
var stops = func() (t [256]uint8) {
	for c, trigger := range triggers {
		if trigger != none {
			t[c] = 1
		}
	}
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
	far   bool // something was seen whose meaning may depend on what stands anywhere in the text
	pem   int  // where the next "-----END" is, if at or after the place asked about; -1 if it was not looked for
}

func (r *Redactor) shapeHits(text []byte, f form) []hit {
	s := scanner{r: r, form: f}
	s.scanAll(text)
	return s.hits
}

func (s *scanner) scanAll(text []byte) {
	s.reset(text)
	s.scan(0, len(text))
}

func (s *scanner) reset(text []byte) {
	s.text, s.floor, s.hits, s.pem = text, 0, s.hits[:0], -1
}

// scan looks at the triggers from i up to end, and returns where it would go on.
func (s *scanner) scan(i, end int) int {
	if s.r.shapeless {
		return end
	}
	text := s.text[:end]
	for i = stop(text, i); i < end; i = stop(text, i) {
		switch triggers[text[i]] {
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
	return i
}

// scanNear does what scanAll does, for a text that is the one scanned last with edits made where there were hits.
//
// Only what is near an edit can be found now and was not before: but for what makes the scanner far, what it looks at
// from a trigger is in the trigger's word, by white space, and in the words beside it that begin less than reach from it.
func (s *scanner) scanNear(text []byte, edits []edit) {
	if s.far {
		s.scanAll(text)
		return
	}
	const reach = 64
	s.reset(text)
	wordStart := func(at, floor int) int {
		for at > floor && !is(text[at-1], space) {
			at--
		}
		return at
	}
	i, to, moved := 0, 0, 0
	for _, e := range edits {
		start := e.start + moved
		moved += len(e.text) - (e.end - e.start)
		end := e.end + moved
		if end+reach <= to {
			continue // in the word of the edit before
		}
		if from := wordStart(max(i, wordStart(start, i)-reach), i); from > i {
			i, s.floor = from, from
		}
		for end < len(text) && !is(text[end], space) {
			end++
		}
		to = end + reach
		i = s.scan(i, min(to, len(text)))
	}
}

// stop returns the place of the first trigger at or after i, the end of text if there is none. It looks at eight bytes
// at once: most of most texts is no trigger.
func stop(text []byte, i int) int {
	t := &stops
	for ; len(text)-i >= 8; i += 8 {
		b := text[i : i+8 : i+8]
		found := t[b[0]] | t[b[1]]<<1 | t[b[2]]<<2 | t[b[3]]<<3 | t[b[4]]<<4 | t[b[5]]<<5 | t[b[6]]<<6 | t[b[7]]<<7
		if found != 0 {
			return i + bits.TrailingZeros8(found)
		}
	}
	for i < len(text) && t[text[i]] == 0 {
		i++
	}
	return i
}

// hit notes a secret, if the rule for its shape is on, and returns its end.
func (s *scanner) hit(sh shape, start, end int) int {
	if rule := s.r.shapes[sh]; rule != nil {
		s.hits = append(s.hits, hit{start: start, end: end, rule: rule})
		s.floor = end
	} else {
		s.far = true // it is skipped, white space and all
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
	if least := i + 1 + shortestBody; least > len(s.text) || run(s.text[:least], i+1, bodySet) < least {
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

// colon looks at the colon of a URL with a scheme, of a data URL, or after a name.
func (s *scanner) colon(i int) int {
	if s.has(i, "://") {
		if s.form == urlForm || i == s.floor || !is(s.text[i-1], alnum|dot|dash) {
			s.far = true // without a scheme an authority goes on over white space
		}
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

// assignments are names before "=" or ":" whose values are secrets, in lower case. Each, and "password" and "pwd" too,
// ends with a nameEnd.
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
	if end == s.floor || !is(s.text[end-1], nameEnd) {
		return i + 1
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
	s.far = true
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
