package redact

import (
	"math/rand/v2"
	"testing"
)

// someEdits returns edits of a text of n bytes, none of them empty.
func someEdits(rnd *rand.Rand, n int) (edits []edit) {
	texts := []string{"", "<a>", "redacted-abcd", "<name:efgh>"}
	for at := rnd.IntN(4); at < n; at += rnd.IntN(4) {
		end := min(n, at+1+rnd.IntN(6))
		edits = append(edits, edit{at, end, texts[rnd.IntN(len(texts))]})
		at = end
	}
	return edits
}

// TestCompose wants of composed edits what the edits do one after the other, wherever those of the second touch, cover
// or cut those of the first.
func TestCompose(t *testing.T) {
	const text = "0123456789abcdefghij"
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		first := someEdits(rnd, len(text))
		once := apply([]byte(text), first)
		second := someEdits(rnd, len(once))
		want := string(apply(once, second))
		all := compose(first, second)
		for i, e := range all {
			if e.start > e.end || e.end > len(text) || i > 0 && e.start < all[i-1].end {
				t.Fatalf("seed %d: compose(%v, %v) = %v: out of order", seed, first, second, all)
			}
		}
		if got := string(apply([]byte(text), all)); got != want {
			t.Fatalf("seed %d: compose(%v, %v) gives %q, want %q", seed, first, second, got, want)
		}
	}
}
