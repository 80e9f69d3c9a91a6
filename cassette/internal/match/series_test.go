package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSeries builds trees of conversations, each of which goes on from a place in another, and compares their keys with
// those of the whole requests.
func TestSeries(t *testing.T) {
	layout, err := NewLayout("messages", "$.messages[*].id", "$.messages[*].of[*]")
	if err != nil || !layout.Continues() {
		t.Fatal("the layout does not continue", err)
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m, err := New(Rules{MessagesOnly: seed%3 == 0, Ignore: []string{"$.messages[2]", "$.messages[*].n"}})
		if err != nil {
			t.Fatal(err)
		}
		s := m.Series()
		item := func() string {
			return fmt.Sprintf(`{"of":["i%d"], "id":"i%d","n":%d,"text":"t%d"}`, rng.IntN(5), rng.IntN(5), rng.IntN(9), rng.IntN(3))
		}
		body := func(items []string) []byte {
			return fmt.Appendf(nil, `{"a":1,"messages":[%s],"b":"i1"}`, strings.Join(items, ","))
		}
		request := func(items []string) *Request {
			return &Request{Kind: "llm", Format: "f", Layout: layout, Body: body(items)}
		}
		var grow func(before []string, from Mark, depth int)
		grow = func(before []string, from Mark, depth int) {
			var own []string
			for range rng.IntN(4) {
				own = append(own, item())
			}
			whole := append(before[:len(before):len(before)], own...)
			var at []int
			for i := range own {
				if rng.IntN(3) > 0 {
					at = append(at, i+1)
				}
			}
			key, marks, end := s.Key(request(own), from, at)
			if want := m.Key(request(whole)); key != want {
				t.Fatalf("seed %d: %d items after %d have another key than %d", seed, len(own), len(before), len(whole))
			}
			if len(marks) != len(at) || end.Items() != len(whole) {
				t.Fatalf("seed %d: %d marks of %d, the last after %d items of %d", seed, len(marks), len(at), end.Items(), len(whole))
			}
			if _, chain := m.Chain(request(whole), nil); len(chain) > 0 && end.Chain() != chain[len(chain)-1] {
				t.Fatalf("seed %d: the list ends with another hash than its chain", seed)
			}
			marks = append([]Mark(nil), marks...)
			for i := len(marks) - 1; i >= 0 && depth < 5; i-- {
				if rng.IntN(2) == 0 {
					grow(whole[:marks[i].Items()], marks[i], depth+1)
				}
			}
		}
		grow(nil, Mark{}, 0)
	}
}

func TestContinues(t *testing.T) {
	for _, tc := range []struct {
		messages string
		ids      []string
		want     bool
		reason   string
	}{
		{"messages", []string{"$.messages[*].id"}, true, "ids in the list"},
		{"messages", nil, true, "no ids"},
		{"messages", []string{"$.messages[*].id", "$.id"}, false, "one outside"},
		{"messages", []string{"$.messages2[*].id"}, false, "in another list"},
		{"messages", []string{"$.*"}, false, "anywhere"},
		{"", nil, false, "no list"},
	} {
		l, err := NewLayout(tc.messages, tc.ids...)
		if err != nil || l.Continues() != tc.want {
			t.Errorf("%s: %v, %v", tc.reason, l.Continues(), err)
		}
	}
	if (*Layout)(nil).Continues() {
		t.Error("no layout continues")
	}
}

// TestManyIDs computes keys after one of a request with many ids. To go over the room for these each time would take
// thousands of millions of steps.
func TestManyIDs(t *testing.T) {
	layout, err := NewLayout("messages", "$.messages[*].id")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, `{"id":"%d"},`, i)
	}
	s := m.Series()
	key := func(messages string) Hash {
		k, _, _ := s.Key(&Request{Layout: layout, Body: []byte(`{"messages":[` + messages + `1]}`)}, Mark{}, nil)
		return k
	}
	key(b.String())
	for range 50_000 {
		if key(`{"id":"a"},`) != key(`{"id":"b"},`) {
			t.Fatal("an id is still known")
		}
	}
}
