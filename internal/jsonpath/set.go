package jsonpath

import (
	"fmt"
	"slices"
)

// maxStates bounds the memory of a Set: paths that cross many wildcards with many names have a state for each way to
// combine them.
const maxStates = 10_000

// Set is several paths, compiled so that a walk over a JSON value can follow all of them at once. It is immutable and
// safe for concurrent use.
type Set struct {
	root *state
}

// state is what is left of the paths after the steps that led to it. All paths advance together, so that the automaton
// is deterministic.
type state struct {
	matched  bool
	names    map[string]*state
	indices  map[int]*state
	members  *state // every other member
	elements *state // every other element
}

// NewSet compiles paths. A Set of no paths matches nothing.
func NewSet(paths ...string) (*Set, error) {
	c := compiler{states: make(map[string]*state)}
	alive := make([]int, len(paths))
	for i, p := range paths {
		parsed, err := Parse(p)
		if err != nil {
			return nil, err
		}
		c.paths = append(c.paths, parsed)
		alive[i] = i
	}
	root := c.compile(alive, 0)
	if len(c.states) > maxStates {
		return nil, fmt.Errorf("%d paths cross too many wildcards: name the members, or use fewer paths", len(paths))
	}
	return &Set{root: root}, nil
}

type compiler struct {
	paths  []Path
	states map[string]*state // by depth and paths alive
}

// compile returns the state after depth steps in which the paths alive have matched so far, nil when there are none.
func (c *compiler) compile(alive []int, depth int) *state {
	if len(alive) == 0 || len(c.states) > maxStates {
		return nil
	}
	key := fmt.Sprint(depth, alive)
	if s, ok := c.states[key]; ok {
		return s
	}
	s := &state{}
	c.states[key] = s

	follow := func(takes func(step) bool) *state {
		next := slices.DeleteFunc(slices.Clone(alive), func(i int) bool {
			steps := c.paths[i].steps
			return len(steps) == depth || !takes(steps[depth])
		})
		return c.compile(next, depth+1)
	}
	for _, i := range alive {
		if len(c.paths[i].steps) == depth {
			s.matched = true
			continue
		}
		switch at := c.paths[i].steps[depth]; at.kind {
		case member:
			if s.names == nil {
				s.names = make(map[string]*state)
			}
			if _, ok := s.names[at.name]; !ok {
				s.names[at.name] = follow(func(st step) bool { return st.kind == anyMember || st == at })
			}
		case element:
			if s.indices == nil {
				s.indices = make(map[int]*state)
			}
			if _, ok := s.indices[at.index]; !ok {
				s.indices[at.index] = follow(func(st step) bool { return st.kind == anyElement || st == at })
			}
		}
	}
	s.members = follow(func(st step) bool { return st.kind == anyMember })
	s.elements = follow(func(st step) bool { return st.kind == anyElement })
	return s
}

// Root returns the place of the whole value. A nil Set has a dead one.
func (s *Set) Root() Cursor {
	if s == nil {
		return Cursor{}
	}
	return Cursor{s.root}
}

// Cursor is one place in a JSON value, seen from a Set. It is a small immutable value; moving it allocates nothing.
// The zero Cursor is dead.
type Cursor struct {
	state *state
}

// Member returns the place of a member of this value. The name is unescaped.
func (c Cursor) Member(name []byte) Cursor {
	if c.state == nil {
		return c
	}
	if s, ok := c.state.names[string(name)]; ok {
		return Cursor{s}
	}
	return Cursor{c.state.members}
}

// Index returns the place of an element of this value.
func (c Cursor) Index(i int) Cursor {
	if c.state == nil {
		return c
	}
	if s, ok := c.state.indices[i]; ok {
		return Cursor{s}
	}
	return Cursor{c.state.elements}
}

// Matched reports whether a path of the Set names this very place.
func (c Cursor) Matched() bool { return c.state != nil && c.state.matched }

// Dead reports whether no path names this place or one below it, so that a walk may skip it.
func (c Cursor) Dead() bool { return c.state == nil }
