package redact

// class is a set of kinds of bytes.
type class uint16

const (
	upper   class = 1 << iota // A-Z
	lower                     // a-z
	digit                     // 0-9
	hexLow                    // 0-9a-f
	dash                      // - and _
	b64                       // the letters, digits and signs of base64, standard or for URLs
	local                     // the local part of an e-mail address
	host                      // a domain name
	inURL                     // what a URL in a text may hold
	space                     // ASCII white space
	fpChar                    // a-z2-7, the alphabet of fingerprints
	dot                       // .
	nameEnd                   // what a name in assignments ends with

	letter = upper | lower
	alnum  = upper | lower | digit
	word   = alnum | dash
)

var classes = func() (t [256]class) {
	set := func(c class, bytes string) {
		for i := range len(bytes) {
			t[bytes[i]] |= c
		}
	}
	const (
		uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		lowers = "abcdefghijklmnopqrstuvwxyz"
		digits = "0123456789"
	)
	set(upper, uppers)
	set(lower, lowers)
	set(digit, digits)
	set(hexLow, digits+"abcdef")
	set(dash, "-_")
	set(b64, uppers+lowers+digits+"+/=-_")
	set(local, uppers+lowers+digits+"._%+-")
	set(host, uppers+lowers+digits+".-")
	set(inURL, uppers+lowers+digits+"-._~:/?#[]@!$&*+,;=%")
	set(space, " \t\n\r\v\f")
	set(fpChar, lowers+"234567")
	set(dot, ".")
	set(nameEnd, "dnyDNY")
	return t
}()

// is reports whether b is of one of the classes in c.
func is(b byte, c class) bool { return classes[b]&c != 0 }

// run returns the end of the run of bytes of class c that begins at i.
func run(b []byte, i int, c class) int {
	for i < len(b) && is(b[i], c) {
		i++
	}
	return i
}

// union returns the classes of all bytes of b.
func union(b []byte) (c class) {
	for _, x := range b {
		c |= classes[x]
	}
	return c
}

// hasLetterAndDigit reports whether b looks made rather than spelt.
func hasLetterAndDigit(b []byte) bool {
	u := union(b)
	return u&letter != 0 && u&digit != 0
}
