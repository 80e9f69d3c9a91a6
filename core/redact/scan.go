package redact

import (
	"bytes"
	"math/bits"
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
