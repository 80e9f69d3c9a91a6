package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"hash"
	"slices"
	"sync"
)

// fingerprintKey is a constant of the file format: DO NOT CHANGE.
const fingerprintKey = "mixtape/1 fingerprint"

const (
	shortFingerprint = 2 // characters, for a value without a letter
	fingerprintLen   = 4 // characters, for any other
	wholeLen         = 52
)

var fingerprintEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

var hmacs = sync.Pool{New: func() any { return hmac.New(sha256.New, []byte(fingerprintKey)) }}

// WholeFingerprint returns all 52 characters of the fingerprint of value, of which a placeholder shows the first ones.
func WholeFingerprint(value []byte) string {
	h := hmacs.Get().(hash.Hash)
	h.Reset()
	h.Write(value)
	var sum [sha256.Size]byte
	var text [wholeLen]byte
	fingerprintEncoding.Encode(text[:], h.Sum(sum[:0]))
	hmacs.Put(h)
	return string(text[:])
}

// ledger remembers which fingerprints are taken, so that no two values of one Redactor share a placeholder.
type ledger struct {
	mu       sync.Mutex
	assigned map[string]string   // by value
	known    map[string]struct{} // those of a loaded file
	longest  int                 // length of the longest known
	taken    [1024][]string      // whole fingerprints, and known ones, sorted, by their first two characters
}

// fingerprint returns the part of value's fingerprint that stands for it.
func (l *ledger) fingerprint(value []byte) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.assigned[string(value)]; ok {
		return f
	}
	whole := WholeFingerprint(value)
	f := l.assign(whole, value)
	if l.assigned == nil {
		l.assigned = make(map[string]string)
	}
	l.assigned[string(value)] = f
	l.take(whole)
	return f
}

func (l *ledger) assign(whole string, value []byte) string {
	for n := l.longest; n >= shortFingerprint; n-- {
		if _, ok := l.known[whole[:n]]; ok {
			return whole[:n]
		}
	}
	n := fingerprintLen
	if onlyDigits(value) {
		n = shortFingerprint
	}
	b := l.bucket(whole)
	at, _ := slices.BinarySearch(*b, whole)
	for _, i := range []int{at - 1, at} { // of all taken, its neighbours share the most with it
		if i >= 0 && i < len(*b) {
			n = max(n, common((*b)[i], whole)+1)
		}
	}
	return whole[:min(n, len(whole))]
}

// know adds the fingerprint of a placeholder that stands in a file.
func (l *ledger) know(f string) {
	if len(f) < shortFingerprint || len(f) > wholeLen || run([]byte(f), 0, fpChar) != len(f) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = make(map[string]struct{})
	}
	if _, ok := l.known[f]; ok {
		return
	}
	l.known[f] = struct{}{}
	l.longest = max(l.longest, len(f))
	l.take(f)
}

func (l *ledger) take(f string) {
	b := l.bucket(f)
	if at, ok := slices.BinarySearch(*b, f); !ok {
		*b = slices.Insert(*b, at, f)
	}
}

func (l *ledger) bucket(f string) *[]string {
	return &l.taken[base32Digit(f[0])<<5|base32Digit(f[1])]
}

func base32Digit(c byte) int {
	if c >= 'a' {
		return int(c - 'a')
	}
	return int(c-'2') + 26
}

// common returns the length of the common beginning of a and b.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// onlyDigits reports whether value has no letter; what is not ASCII counts as one.
func onlyDigits(value []byte) bool {
	for _, c := range value {
		if c >= 0x80 || is(c, letter) {
			return false
		}
	}
	return true
}
