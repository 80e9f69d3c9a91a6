package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// A benchmark that compared nothing would be fast.
func TestCallerFindsAnotherAnswer(t *testing.T) {
	list := calls(2)
	for _, tt := range []struct {
		gives  exchange
		ok     bool
		reason string
	}{
		{list[0], true, "the same answer"},
		{list[1], false, "another call's answer"},
		{exchange{answer: list[0].answer[:10], contentType: typeJSON}, false, "a cut answer"},
	} {
		c, err := newCaller(&memory{list: []exchange{tt.gives}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.call(list[0]); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// The rows say how large their calls are.
func TestSizes(t *testing.T) {
	chat, secretive, large, turns := calls(1)[0], callsWithSecret(1)[0], longCall(1 << 20)[0], last(first(conversation(100)))[0]
	for _, tt := range []struct {
		name     string
		body     []byte
		from, to int
	}{
		{"request", chat.request, 1900, 2300},
		{"answer", chat.answer, 1900, 2300},
		{"request with a secret", secretive.request, 1900, 2300},
		{"large request", large.request, 1 << 20, 1<<20 + 1<<10},
		{"turn 100", turns.request, 80_000, 90_000},
	} {
		if n := len(tt.body); n < tt.from || n > tt.to || !json.Valid(tt.body) {
			t.Errorf("the %s has %d bytes, not %d to %d, or is no JSON", tt.name, n, tt.from, tt.to)
		}
	}
	if !bytes.Contains(secretive.request, []byte(secret(0))) {
		t.Error("there is no secret")
	}
}

func first(list []exchange, _ int) []exchange { return list }

// Every call is asked for once before any is again.
func TestSpread(t *testing.T) {
	for n := 1; n <= 30; n++ {
		seen := map[string]bool{}
		for _, x := range spread(calls(n)) {
			seen[string(x.request)] = true
		}
		if len(seen) != n {
			t.Errorf("%d of %d calls are asked for", len(seen), n)
		}
	}
}
