package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// literals finds many values in a text at once. It is immutable.
//
// Values of at least gram bytes are found by looking at a few places of the text only: any occurrence of a value of
// n bytes holds, at one of every n-gram+1 places, a gram that is one of the value's own.
type literals struct {
	all    []literal
	words  bool                  // only those count that stand as words
	short  []literal             // too short for grams
	stride int                   // distance of the places to look at, 0 if there are no grams
	grams  map[uint64][]place    // by the bytes of the gram
	filter [1 << filterBits]bool // by the hash of a gram: false means that no value holds it
}

type literal struct {
	text string
	rule *Rule
}

type place struct {
	literal int // in all
	offset  int // of the gram in the literal
}

const (
	gram       = 8 // bytes
	filterBits = 14
)

func gramHash(g uint64) uint64 { return g * 0x9E3779B97F4A7C15 >> (64 - filterBits) }

func newLiterals(all []literal) *literals {
	l := &literals{all: all}
	for _, x := range all {
		if len(x.text) < gram {
			l.short = append(l.short, x)
		} else if s := len(x.text) - gram + 1; l.stride == 0 || s < l.stride {
			l.stride = s
		}
	}
	if l.stride == 0 {
		return l
	}
	l.grams = make(map[uint64][]place)
	for i, x := range all {
		for at := 0; at+gram <= len(x.text); at++ {
			g := binary.LittleEndian.Uint64([]byte(x.text[at : at+gram]))
			l.grams[g] = append(l.grams[g], place{i, at})
			l.filter[gramHash(g)] = true
		}
	}
	return l
}

// hits returns where the values stand in b.
func (l *literals) hits(b []byte) []hit {
	if len(l.all) == 0 {
		return nil
	}
	var hits []hit
	for _, x := range l.short {
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte(x.text))
			if i < 0 {
				break
			}
			hits = append(hits, hit{start: at + i, end: at + i + len(x.text), rule: x.rule})
			at += i + len(x.text)
		}
	}
	for at := 0; l.stride > 0 && at+gram <= len(b); at += l.stride {
		g := binary.LittleEndian.Uint64(b[at:])
		if !l.filter[gramHash(g)] {
			continue
		}
		for _, p := range l.grams[g] {
			x := l.all[p.literal]
			start := at - p.offset
			if start >= 0 && start+len(x.text) <= len(b) && string(b[start:start+len(x.text)]) == x.text {
				hits = append(hits, hit{start: start, end: start + len(x.text), rule: x.rule})
			}
		}
	}
	if l.words {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return !isWord(b, h.start, h.end) })
	}
	return hits
}
