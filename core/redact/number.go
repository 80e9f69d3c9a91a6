package redact

import "slices"

// digit looks at the first digit of a run: a phone or card number, or Google's access token.
func (s *scanner) digit(i int) int {
	end := run(s.text, i, digit)
	if i > s.floor && is(s.text[i-1], alnum|dash|dot) {
		if s.has(i, "29.") && i-2 >= s.floor && s.has(i-2, "ya") && s.fresh(i-2) {
			if to := run(s.text, i+3, word); to-i >= 20 {
				return s.hit(googleKey, i-2, to)
			}
		}
		return end
	}
	inPath := i > s.floor && s.text[i-1] == '/'
	if i > s.floor && s.text[i-1] == '+' {
		if to := s.internationalPhone(i); to > 0 {
			return s.hit(phone, i-1, to)
		}
		return end
	}
	switch n := end - i; {
	case n == 4 || n >= 13 && n <= 19:
		if to := s.card(i); to > 0 {
			return s.hit(card, i, to)
		}
	case inPath: // what has the groups of a phone number may be an id there
	case n == 3, n == 1 && s.text[i] == '1':
		from := i
		if i > s.floor && s.text[i-1] == '(' {
			from--
		}
		if to := s.americanPhone(i); to > 0 {
			return s.hit(phone, from, to)
		}
	}
	return end
}

// ends reports whether a number may end before i.
func (s *scanner) ends(i int) bool {
	switch {
	case i >= len(s.text):
		return true
	case is(s.text[i], alnum) || s.text[i] == '_' || s.text[i] == '@':
		return false
	case s.text[i] == '-' || s.text[i] == '.' || s.text[i] == '/':
		return i+1 >= len(s.text) || !is(s.text[i+1], alnum)
	}
	return true
}

// americanPhone returns the end of a number of the North American plan that begins at i, 0 if none does: ddd-ddd-dddd,
// ddd.ddd.dddd, (ddd) ddd-dddd, each with 1 before it or not.
func (s *scanner) americanPhone(i int) int {
	b := s.text
	if i > s.floor && (b[i-1] == '#' || b[i-1] == '$') {
		return 0
	}
	group := func(at, n int) bool { return run(b, at, digit) == at+n }
	if group(i, 1) {
		if i+2 >= len(b) || b[i+1] != '-' && b[i+1] != ' ' && b[i+1] != '.' {
			return 0
		}
		i += 2
		if b[i] == '(' {
			i++
		}
	}
	if !group(i, 3) || b[i] < '2' || i+4 >= len(b) {
		return 0
	}
	area := b[i : i+3]
	at := i + 3
	sep := b[at]
	switch {
	case i > 0 && b[i-1] == '(' && sep == ')':
		at++
		if at < len(b) && (b[at] == ' ' || b[at] == '-') {
			at++
		}
		sep = 0
	case sep == '-' || sep == '.':
		at++
	default:
		return 0
	}
	if !group(at, 3) || b[at] < '2' || at+4 >= len(b) {
		return 0
	}
	exchange := b[at : at+3]
	if c := b[at+3]; sep != 0 && c != sep || c != '-' && c != '.' && c != ' ' {
		return 0
	}
	at += 4
	if !group(at, 4) || !s.ends(at+4) || reservedPhone(area, exchange, b[at:at+4]) {
		return 0
	}
	return at + 4
}

// reservedPhone reports whether the number is one of those kept for fiction.
func reservedPhone(_, exchange, line []byte) bool {
	return string(exchange) == "555" && line[0] == '0' && line[1] == '1'
}

// internationalPhone returns the end of the number that begins with a + before i, 0 if none does.
func (s *scanner) internationalPhone(i int) int {
	b := s.text
	if b[i] == '0' || i-2 >= s.floor && (is(b[i-2], word|dot) || b[i-2] == '+' || b[i-2] == '/' || b[i-2] == ')') {
		return 0
	}
	most := 15
	if b[i] == '1' {
		most = 11
	}
	var digits []byte
	groups, end := 0, 0
	for at := i; len(digits) < most; groups++ {
		to := run(b, at, digit)
		if n := to - at; n == 0 || len(digits)+n > most || n == 1 && groups > 1 {
			break
		}
		digits = append(digits, b[at:to]...)
		end = to
		at = to
		if at < len(b) && b[at] == ')' {
			at++
		}
		if at < len(b) && (b[at] == ' ' || b[at] == '-' || b[at] == '.') {
			at++
		}
		if at < len(b) && b[at] == '(' {
			at++
		}
	}
	if len(digits) < 9 || groups == 1 && len(digits) < 10 || b[i] == '1' && len(digits) != 11 || !s.ends(end) {
		return 0
	}
	if b[i] == '1' && reservedPhone(digits[1:4], digits[4:7], digits[7:]) {
		return 0
	}
	return end
}

// card returns the end of the card number that begins at i, 0 if none does.
func (s *scanner) card(i int) int {
	b := s.text
	var digits [19]byte
	n := run(b, i, digit) - i
	if n > 4 {
		copy(digits[:], b[i:i+n])
		if isCard(digits[:n]) && s.ends(i+n) {
			return i + n
		}
		return 0
	}
	// In groups: 4-4-4-4, which may have up to three digits more, 4-6-5 and 4-6-4.
	if i+4 >= len(b) || b[i+4] != ' ' && b[i+4] != '-' {
		return 0
	}
	sep := b[i+4]
	copy(digits[:], b[i:i+4])
	var sizes []int
	n, at := 4, i+4
	best := 0
	for at < len(b) && b[at] == sep {
		to := run(b, at+1, digit)
		size := to - at - 1
		if size == 0 || n+size > len(digits) {
			break
		}
		copy(digits[n:], b[at+1:to])
		n += size
		at = to
		sizes = append(sizes, size)
		if slices.ContainsFunc(groupings, func(g []int) bool { return slices.Equal(g, sizes) }) && isCard(digits[:n]) && s.ends(at) {
			best = at
		}
	}
	return best
}

// groupings are the sizes of the groups after the first four digits.
var groupings = [][]int{{4, 4, 4}, {6, 5}, {6, 4}, {4, 4, 1}, {4, 4, 4, 2}, {4, 4, 4, 3}}

// isCard reports whether the digits are a card number that is not one of the networks' own for tests.
func isCard(digits []byte) bool {
	if !issued(digits) || testCards[string(digits)] {
		return false
	}
	sum := 0
	for k := range digits { // Luhn
		d := int(digits[len(digits)-1-k] - '0')
		if k%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// issued reports whether a card network has numbers that begin like this and are as long.
func issued(digits []byte) bool {
	n := len(digits)
	if n < 13 {
		return false
	}
	head := 0 // the first four digits
	for _, d := range digits[:4] {
		head = head*10 + int(d-'0')
	}
	in := func(from, to int) bool { return head >= from && head <= to }
	switch {
	case in(4000, 4999): // Visa
		return n == 13 || n == 16 || n == 19
	case in(5100, 5599), in(2221, 2720): // Mastercard
		return n == 16
	case in(3400, 3499), in(3700, 3799): // American Express
		return n == 15
	case in(3000, 3059), in(3600, 3699), in(3800, 3999): // Diners Club
		return n == 14
	case in(3528, 3589): // JCB
		return n == 16
	case in(6011, 6011), in(6440, 6599), in(6200, 6299): // Discover, UnionPay
		return n >= 16
	case in(5018, 5018), in(5020, 5020), in(5038, 5038), in(6304, 6304), in(6759, 6759), in(6761, 6763): // Maestro
		return n >= 16
	}
	return false
}

// testCards are numbers that the networks and payment services publish for tests.
var testCards = map[string]bool{
	"4111111111111111": true, "4242424242424242": true, "4012888888881881": true, "4222222222222": true,
	"4000056655665556": true, "4000000000000002": true, "4000000000009995": true, "4000000000000069": true,
	"4000000000000127": true, "4000000000000119": true, "4000002500003155": true, "4000002760003184": true,
	"4000000000003220": true, "4917610000000000": true, "4462030000000000": true, "4917610000000000003": true,
	"5555555555554444": true, "5105105105105100": true, "5200828282828210": true, "2223003122003222": true,
	"5454545454545454": true, "2222420000001113": true, "2223000048410010": true, "5431111111111111": true,
	"378282246310005": true, "371449635398431": true, "378734493671000": true, "341111111111111": true,
	"6011111111111117": true, "6011000990139424": true, "6011981111111113": true, "6011601160116611": true,
	"30569309025904": true, "38520000023237": true, "36227206271667": true, "3056930009020004": true, "36700102000000": true,
	"3530111333300000": true, "3566002020360505": true, "6200000000000005": true, "6200000000000047": true,
	"6205500000000000004": true, "6304000000000000": true, "6759649826438453": true,
}
