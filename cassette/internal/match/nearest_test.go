package match

import (
	"fmt"
	"testing"
)

func TestNearest(t *testing.T) {
	m := newMatcher(t, Rules{})
	ask := func(text string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text)
	}
	tool := func(name, arguments string) *Request {
		return &Request{Kind: "tool", Operation: name, Body: []byte(arguments)}
	}
	with := func(r *Request, change func(*Request)) *Request { change(r); return r }
	for _, tc := range []struct {
		live   *Request
		stored []*Request
		want   int
		reason string
	}{
		{tool("get", `{}`), nil, -1, "nothing is stored"},
		{tool("get", `{}`), []*Request{chat(t, `{}`)}, -1, "nothing of its kind is stored"},
		{tool("get", `{"id":1}`), []*Request{tool("put", `{"id":1}`), tool("get", `{"id":3,"x":2}`)}, 1, "the same tool before the same arguments"},
		{tool("get", `{"id":1}`), []*Request{tool("get", `{"id":22}`), tool("get", `{"id":2}`), tool("get", `{"id":3}`)}, 1, "the earliest of several"},
		{chat(t, ask("My card was charged twice")), []*Request{chat(t, ask("Where is my parcel?")), chat(t, ask("My card was charged three times"))}, 1, "the most alike text"},
		{chat(t, ask("a")), []*Request{with(chat(t, ask("a")), func(r *Request) { r.Model = "other" }), chat(t, ask("something else"))}, 0, "the same body before the same model"},
		{chat(t, ask("a")), []*Request{with(chat(t, ask("a")), func(r *Request) { r.Streamed = true }), chat(t, ask("something else entirely"))}, 0, "plain and streamed"},
		{chat(t, ask("a")), []*Request{with(chat(t, ask("a")), func(r *Request) { r.Format = "openai.responses" }), chat(t, ask("b"))}, 1, "the same format before the same body"},
		{chat(t, `{"messages":["s","q1","a1","q2"],"run":1}`), []*Request{chat(t, `{"messages":["s","q1"],"run":2}`), chat(t, `{"messages":["t","q1","a1","q2"],"run":3}`)}, 1, "equal parts far from both ends"},
		{chat(t, ``), []*Request{chat(t, `y`), chat(t, ``)}, 1, "no body"},
		{chat(t, `x`), []*Request{chat(t, ``), chat(t, `y`), chat(t, `xy`)}, 2, "bodies that are no JSON"},
	} {
		got, ok := m.Nearest(tc.live, tc.stored)
		if !ok {
			got = -1
		}
		if got != tc.want {
			t.Errorf("nearest is %d, want %d: %s", got, tc.want, tc.reason)
		}
	}
}

func TestNearestLooksAtAll(t *testing.T) {
	m := newMatcher(t, Rules{})
	body := conversation(1)
	var stored []*Request
	for i := range 300 {
		stored = append(stored, chat(t, body[:len(body)-i-3]+`"}]}`))
	}
	for _, want := range []int{0, 1, 150, 299} {
		if got, ok := m.Nearest(stored[want], stored); !ok || got != want {
			t.Errorf("the nearest of what is stored is %d, want %d itself", got, want)
		}
	}
}
