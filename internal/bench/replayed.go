package main

import (
	"net/http"
	"sync"
	"testing"
)

// recording is a list of exchanges and a cassette that holds them, recorded when it is first asked for.
type recording struct {
	list []exchange
	path string
}

// recorded returns a function that records what list returns, with Mixtape or with go-vcr, once.
func recorded(list func() []exchange, record func([]exchange) (string, error)) func() (recording, error) {
	return sync.OnceValues(func() (recording, error) {
		r := recording{list: list()}
		var err error
		r.path, err = record(r.list)
		return r, err
	})
}

// mixtape records with Mixtape, as JSON Lines.
func (l *lab) mixtape(list func() []exchange) func() (recording, error) {
	return recorded(list, l.asJSONLines)
}

// answered makes one call after the other through a transport, in the order of the list and again from its first.
func answered(b *testing.B, rt http.RoundTripper, list []exchange) error {
	c, err := newCaller(rt)
	if err != nil {
		return err
	}
	b.SetBytes(int64(len(list[0].request)))
	i := 0
	for b.Loop() {
		if err := c.call(list[i]); err != nil {
			return err
		}
		if i++; i == len(list) {
			i = 0
		}
	}
	return nil
}

// answeredFromMemory is the base of a replay.
func answeredFromMemory(list func() []exchange) work {
	return func(b *testing.B) error {
		list := list()
		return answered(b, &memory{list: list}, list)
	}
}

// answeredByMixtape replays the calls of a cassette that pick picks.
func answeredByMixtape(made func() (recording, error), pick func([]exchange) []exchange) work {
	return func(b *testing.B) (err error) {
		r, err := made()
		if err != nil {
			return err
		}
		s, rt, err := replay(r.path)
		if err != nil {
			return err
		}
		defer closing(&err, s.Close)
		return answered(b, rt, pick(r.list))
	}
}

// spread returns the list in an order in which the mean of any few is about the mean of all.
func spread(list []exchange) []exchange {
	step := len(list)*38/100 | 1
	for gcd(step, len(list)) != 1 {
		step++
	}
	out := make([]exchange, 0, len(list))
	for i := range list {
		out = append(out, list[i*step%len(list)])
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// last returns the last of the list alone.
func last(list []exchange) []exchange { return list[len(list)-1:] }

// answeredByVCR replays with go-vcr, as often as it is asked, in the order of spread. It tries one recording after
// the other, and version 4.0.8 formats each that it tries for its log, whether there is a log or not.
func answeredByVCR(made func() (recording, error)) work {
	return func(b *testing.B) error {
		r, err := made()
		if err != nil {
			return err
		}
		rec, err := vcrReplay(r.path, true)
		if err != nil {
			return err
		}
		return answered(b, rec, spread(r.list))
	}
}

// answeredInOrderByVCR replays each call once, in the order of the file, which is what costs go-vcr least: it passes over
// what was played. Half of the calls are made before the clock starts, so that the call measured is the one in the middle.
func answeredInOrderByVCR(made func() (recording, error)) work {
	return func(b *testing.B) error {
		r, err := made()
		if err != nil {
			return err
		}
		rec, err := vcrReplay(r.path, false)
		if err != nil {
			return err
		}
		c, err := newCaller(rec)
		if err != nil {
			return err
		}
		half := len(r.list) / 2
		if err := c.play(r.list[:half]); err != nil {
			return err
		}
		return answered(b, rec, r.list[half:])
	}
}
