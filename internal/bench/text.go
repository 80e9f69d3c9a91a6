package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes up English text, the same for the same seed.
type writer struct{ rand *rand.Rand }

func newWriter(seed int) writer { return writer{rand.New(rand.NewPCG(uint64(seed), 0x6d697874617065))} }

var words = strings.Fields(`the a customer order card charge refund policy item parcel invoice was is has been will can may
	that which who we they she he her his our their writes asks says knows waits paid sent late early twice once again
	on in at of for from to with without before after since until and or but so because if well-known long-term 2 30 9:30
	Monday Tuesday March account support manager shop money answer question reason problem solution`)

// text returns n bytes of sentences.
func (w writer) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(w.sentence())
	}
	return b.String()[:n]
}

func (w writer) sentence() string {
	var b strings.Builder
	count := 6 + w.rand.IntN(12)
	for i := range count {
		word := words[w.rand.IntN(len(words))]
		switch {
		case i == 0:
			word = strings.ToUpper(word[:1]) + word[1:]
		case w.rand.IntN(9) == 0:
			b.WriteByte(',')
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	b.WriteString(". ")
	return b.String()
}

// secret returns an e-mail address, another one for each n.
func secret(n int) string { return fmt.Sprintf("customer%d@corp.com", n) }

// quote returns s as a string of JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a form in JSON
	}
	return string(b)
}
