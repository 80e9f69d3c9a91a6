package cassette

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

func chunksOf(lens ...int) []bus.Chunk {
	var list []bus.Chunk
	for i, n := range lens {
		list = append(list, bus.Chunk{At: ms(i + 1), Len: n})
	}
	return list
}

func TestRemapChunks(t *testing.T) {
	for _, test := range []struct {
		reason        string
		chunks        []bus.Chunk
		original, new string
		want          []bus.Chunk
	}{
		{"nothing hidden", chunksOf(3, 3), "abcdef", "abcdef", chunksOf(3, 3)},
		{"a longer value, cuts outside of it", chunksOf(1, 4, 1), "aSECRz", "a<hidden>z", chunksOf(1, 8, 1)},
		{"a shorter value, a cut inside of it", chunksOf(3, 4), "aSECRTz", "a**z", chunksOf(3, 1)},
		{"a cut past what is left of a value", chunksOf(5, 2), "aSECRTz", "a*z", chunksOf(2, 1)},
		{"chunks that vanish", chunksOf(2, 2, 3), "aSECRTz", "az",
			[]bus.Chunk{{At: ms(1), Len: 1}, {At: ms(3), Len: 1}}},
		{"everything hidden", chunksOf(2, 2), "abcd", "", []bus.Chunk{}},
		{"cuts at events stay there", chunksOf(14, 13, 9),
			"data: \"SEC\"\n\n\ndata: \"SEC\"\n\ndata: 1\n\n",
			"data: \"<h>x\"\n\n\ndata: \"<h>x\"\n\ndata: 1\n\n", chunksOf(15, 14, 9)},
		{"chunks that do not add up", chunksOf(1), "data: 1\n\ndata: 2\n\n", "data: 1\n\ndata: 3\n\n",
			[]bus.Chunk{{At: ms(1), Len: 9}, {At: ms(1), Len: 9}}},
		{"no chunks", nil, "abc", "abd", []bus.Chunk{{Len: 3}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := remapChunks(test.chunks, []byte(test.original), []byte(test.new))
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestRemapChunksAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"data: ", "SECRET", "\n", "\n\n", "{\"a\":1}", "x", "event: y\n", ": c\n\n"}
	for range 2000 {
		var b strings.Builder
		for range rnd.IntN(20) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		original := b.String()
		redacted := strings.ReplaceAll(original, "SECRET", pieces[rnd.IntN(len(pieces))])
		var chunks []bus.Chunk
		for left := len(original); left > 0; {
			n := rnd.IntN(left + 1)
			chunks = append(chunks, bus.Chunk{At: ms(len(chunks)), Len: n})
			left -= n
		}
		got := remapChunks(chunks, []byte(original), []byte(redacted))
		total := 0
		for i, c := range got {
			total += c.Len
			if c.Len < 0 || i > 0 && c.At < got[i-1].At {
				t.Fatalf("%q %v to %q: %v", original, chunks, redacted, got)
			}
		}
		if total != len(redacted) {
			t.Fatalf("%q %v to %q: %v adds up to %d", original, chunks, redacted, got, total)
		}
	}
}
