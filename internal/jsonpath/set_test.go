package jsonpath

import (
	"fmt"
	"strings"
	"testing"
)

// at follows a concrete path from the root of s.
func at(t *testing.T, s *Set, path string) Cursor {
	t.Helper()
	p, err := Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Root()
	for _, st := range p.steps {
		if st.kind == element {
			c = c.Index(st.index)
		} else {
			c = c.Member([]byte(st.name))
		}
	}
	return c
}

func TestSet(t *testing.T) {
	for _, tc := range []struct {
		paths         []string
		at            string
		matched, dead bool
		reason        string
	}{
		{nil, "$", false, true, "no paths"},
		{[]string{"$"}, "$", true, false, "the whole value"},
		{[]string{"$"}, "$.a", false, true, "below the last step"},
		{[]string{"$.a.b"}, "$.a", false, false, "on the way"},
		{[]string{"$.a.b"}, "$.a.b", true, false, "there"},
		{[]string{"$.a.b"}, "$.b", false, true, "off the way"},
		{[]string{"$.a.b"}, "$.A", false, true, "names are compared exactly"},
		{[]string{"$.a[1]"}, "$.a[1]", true, false, "an index"},
		{[]string{"$.a[1]"}, "$.a[0]", false, true, "another index"},
		{[]string{"$.a[*].id"}, "$.a[7].id", true, false, "every element"},
		{[]string{"$.a[*].id"}, "$.a.x.id", false, true, "[*] is no member"},
		{[]string{"$.*.id"}, "$.x.id", true, false, "every member"},
		{[]string{"$.*.id"}, "$[0].id", false, true, ".* is no element"},
		{[]string{"$['0']"}, "$[0]", false, true, "a name of digits is no index"},
		{[]string{"$.a.x", "$.*.y"}, "$.a.y", true, false, "a wildcard beside a name"},
		{[]string{"$.a.x", "$.*.y"}, "$.b.x", false, true, "the name's tail is not the wildcard's"},
		{[]string{"$.a", "$.a.b"}, "$.a.b", true, false, "one path goes on where another ends"},
		{[]string{"$.a[0].x", "$.a[*].y"}, "$.a[0].y", true, false, "[*] beside an index"},
	} {
		s, err := NewSet(tc.paths...)
		if err != nil {
			t.Fatal(err)
		}
		c := at(t, s, tc.at)
		if c.Matched() != tc.matched || c.Dead() != tc.dead {
			t.Errorf("%v at %s: matched %v, dead %v; want %v, %v: %s",
				tc.paths, tc.at, c.Matched(), c.Dead(), tc.matched, tc.dead, tc.reason)
		}
	}
}

func TestSetErrors(t *testing.T) {
	if _, err := NewSet("$.a", "b"); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("error %v, want one that names the path", err)
	}
	var paths []string
	for i := range 20 {
		paths = append(paths, "$"+strings.Repeat(".*", i)+".a"+strings.Repeat(".*", 20-i))
	}
	if _, err := NewSet(paths...); err == nil || !strings.Contains(err.Error(), "wildcards") {
		t.Errorf("error %v, want one about wildcards: a Set must not take all memory", err)
	}
	if c := (*Set)(nil).Root(); !c.Dead() || c.Matched() {
		t.Error("a nil Set matches")
	}
}

func TestCursorAllocatesNothing(t *testing.T) {
	s, err := NewSet("$.messages[*].content", "$.messages[*].tool_calls[*].id")
	if err != nil {
		t.Fatal(err)
	}
	messages, content := []byte("messages"), []byte("content")
	if n := testing.AllocsPerRun(100, func() {
		if !s.Root().Member(messages).Index(3).Member(content).Matched() {
			t.Fatal("no match")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func ExampleSet() {
	s, err := NewSet("$.messages[*].content")
	if err != nil {
		panic(err)
	}
	c := s.Root().Member([]byte("messages")).Index(3)
	fmt.Println(c.Member([]byte("content")).Matched(), c.Member([]byte("role")).Dead())

	path := AppendIndex(AppendName([]byte("$"), []byte("messages")), 3)
	fmt.Println(string(AppendName(path, []byte("x y"))))
	// Output:
	// true true
	// $.messages[3]['x y']
}
