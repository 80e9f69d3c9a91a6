package core_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// overloaded answers 500, so that the SDK tries again.
func overloaded(*http.Request) (*http.Response, error) {
	return respond(500, "application/json", strings.NewReader("{}")), nil
}

func TestAttempts(t *testing.T) {
	type try struct {
		headers string // name=value, …
		body    string
		ok      bool
		call    int // the number of the call that the try belongs to
		attempt int
	}
	for _, tt := range []struct {
		reason string
		tries  []try
	}{
		{"no mark: what looks alike is two calls", []try{{"", "a", false, 0, 0}, {"", "a", false, 1, 0}}},
		{"Stainless counts", []try{{"0", "a", false, 0, 0}, {"1", "a", false, 0, 1}, {"2", "a", true, 0, 2}}},
		{"two equal calls", []try{{"0", "a", true, 0, 0}, {"0", "a", false, 1, 0}, {"1", "a", true, 1, 1}}},
		{"two equal calls that both fail", []try{{"0", "a", false, 0, 0}, {"0", "a", false, 1, 0}, {"1", "a", false, 1, 1}, {"1", "a", false, 0, 1}}},
		{"a success has no successor", []try{{"0", "a", true, 0, 0}, {"1", "a", true, 1, 0}}},
		{"another body", []try{{"0", "a", false, 0, 0}, {"1", "b", true, 1, 0}}},
		{"the first attempts were not seen", []try{{"1", "a", false, 0, 0}, {"2", "a", true, 0, 1}}},
		{"a number is missing", []try{{"0", "a", false, 0, 0}, {"2", "a", true, 1, 0}}},
		{"no number", []try{{"x", "a", false, 0, 0}, {"-1", "a", true, 1, 0}}},
		{"AWS names the call", []try{{"i 1", "a", false, 0, 0}, {"j 1", "a", false, 1, 0}, {"i 2", "a", true, 0, 1}, {"j 2", "b", true, 1, 1}}},
		{"AWS without a number", []try{{"i", "a", false, 0, 0}, {"i", "a", false, 1, 0}}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			ids := map[int]string{}
			for n, try := range tt.tries {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://llm.test/x", strings.NewReader(try.body))
				id, attempt, amz := strings.Cut(try.headers, " ")
				switch {
				case amz || id == "i":
					req.Header.Set("Amz-Sdk-Invocation-Id", id)
					if amz {
						req.Header.Set("Amz-Sdk-Request", "attempt="+attempt+"; max=3")
					}
				case id != "":
					req.Header.Set("X-Stainless-Retry-Count", id)
				}
				next := overloaded
				if try.ok {
					next = plainly
				}
				mustSend(t, bound(h, next), req)
				c := h.http[n]
				if id, ok := ids[try.call]; ok && id != c.CallID || c.Attempt != try.attempt {
					t.Errorf("try %d is attempt %d of %s, want %d of %s", n, c.Attempt, c.CallID, try.attempt, id)
				}
				ids[try.call] = c.CallID
			}
			seen := map[string]bool{}
			for _, id := range ids {
				seen[id] = true
			}
			if len(seen) != len(ids) {
				t.Errorf("calls were tied together: %v", ids)
			}
		})
	}
}

func marked(t *testing.T, h *hearing, count, body string) *bus.HTTPCall {
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://llm.test/x", strings.NewReader(body))
	req.Header.Set("X-Stainless-Retry-Count", count)
	mustSend(t, bound(h, overloaded), req)
	return h.http[len(h.http)-1]
}

func TestAttemptsOfSessions(t *testing.T) {
	a, b := listen(), listen()
	first := marked(t, a, "0", "s")
	if other := marked(t, b, "1", "s"); other.CallID == first.CallID {
		t.Error("an attempt was tied to that of another session")
	}
}

func TestRetryWindow(t *testing.T) {
	for _, tt := range []struct {
		between int
		tied    bool
	}{{1023, true}, {1024, false}} {
		h := listen()
		first := marked(t, h, "0", "w")
		for i := range tt.between {
			marked(t, h, "0", fmt.Sprint(i))
		}
		if last := marked(t, h, "1", "w"); (last.CallID == first.CallID) != tt.tied {
			t.Errorf("after %d failures between: tied %t", tt.between, !tt.tied)
		}
	}
}
