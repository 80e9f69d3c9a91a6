package match

import (
	"fmt"
	"strings"
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
	form := func(body string) *Request {
		return &Request{Kind: "http", ContentType: "application/x-www-form-urlencoded", Body: []byte(body)}
	}
	parts := func(boundary string, parts ...string) *Request {
		mark := "--" + boundary
		body := mark + "\n" + strings.Join(parts, "\n"+mark+"\n") + "\n" + mark + "--"
		return &Request{Kind: "http", ContentType: "multipart/mixed; boundary=" + boundary, Body: []byte(body)}
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
		{with(chat(t, `{"model":"m","stream":true,"messages":["hi"]}`), func(r *Request) { r.Streamed = true }), []*Request{with(chat(t, `{"model":"m","stream":true,"messages":["a long story"]}`), func(r *Request) { r.Streamed = true }), chat(t, `{"model":"m","messages":["hi"]}`)}, 1, "the same messages before the same way of answering"},
		{form("n=2&to=me"), []*Request{form("to=you"), form("to=me&n=1"), form("to=us")}, 1, "fields in another order"},
		{parts("a", "x", "y"), []*Request{parts("b", "z", "z"), parts("c", "y", "x"), parts("d", "z")}, 1, "parts between other boundaries"},
		{chat(t, ``), []*Request{chat(t, `y`), chat(t, ``)}, 1, "no body"},
		{chat(t, `x`), []*Request{chat(t, ``), chat(t, `y`), chat(t, `xy`)}, 2, "bodies that are no JSON"},
	} {
		got, ok := m.Nearest(tc.live, tc.stored, nil, nil)
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
		if got, ok := m.Nearest(stored[want], stored, nil, nil); !ok || got != want {
			t.Errorf("the nearest of what is stored is %d, want %d itself", got, want)
		}
	}
}

// TestNearestReadsLittle counts the bytes of texts that are read to find the nearest: as many as a few requests hold,
// however many are stored and however large they are.
func TestNearestReadsLittle(t *testing.T) {
	for _, tc := range []struct {
		stored, size int
		want         int
		reason       string
	}{
		{1, 2_000, 1, "all of them"},
		{10_000, 2_000, finalists, "many"},
		{3, maxRead/3 - 1_000, 2, "some fit"},
		{10, maxRead/2 - 1_000, 1, "one fits"},
		{10, maxRead, 0, "none fits"},
	} {
		read := 0
		m := newMatcher(t, Rules{Fingerprint: func(dst, s []byte) []byte {
			read += len(s)
			return append(dst, s...)
		}})
		text := strings.Repeat("x", tc.size)
		ask := func(n int) *Request {
			return chat(t, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%s"}],"n":"%05d"}`, text, n))
		}
		live := ask(tc.stored)
		stored := make([]*Request, tc.stored)
		for i := range stored {
			stored[i] = ask(i)
		}
		if _, ok := m.Nearest(live, stored, nil, nil); !ok {
			t.Errorf("%s: nothing is near", tc.reason)
		}
		requests := tc.want + min(tc.want, 1) // the live one too
		if least, most := requests*tc.size, requests*(tc.size+200); read < least || read > most {
			t.Errorf("%s: %d bytes are read of %d requests of %d bytes, want %d to %d", tc.reason, read, tc.stored, tc.size, least, most)
		}
	}
}
