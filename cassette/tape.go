package cassette

import (
	"fmt"
	"sync"

	"github.com/mixtape-go/mixtape/cassette/internal/match"
)

// tape is a loaded cassette as a replay asks it: the recorded calls by key, each to be served once, equal ones in the
// order of their starts. It is safe for concurrent use.
type tape struct {
	file       *File
	matcher    *match.Matcher
	requests   []*match.Request // of each interaction
	repeatLast bool

	mu     sync.Mutex
	byKey  map[match.Hash]*queue
	called map[attemptOf]*recordedCall // what was served
	calls  []*recordedCall
}

// recordedCall is one logical call: its last attempt is what it came to.
type recordedCall struct {
	attempts []int // their interactions, counted from 0
	inside   []*recordedCall
	served   bool
	covered  bool // the tool or function inside of which it was made was served
}

// serve marks c served, and what was made inside of it as not to be waited for.
func (c *recordedCall) serve() {
	c.served = true
	c.cover()
}

func (c *recordedCall) cover() {
	for _, i := range c.inside {
		i.covered = true
		i.cover()
	}
}

// last returns the index of the attempt that stands for the call.
func (c *recordedCall) last() int { return c.attempts[len(c.attempts)-1] }

// attemptOf tells the attempts of one live call: a retry is a request of the same call with the same key.
type attemptOf struct {
	callID string
	key    match.Hash
}

// queue holds the calls of one key.
type queue struct {
	calls []*recordedCall
	next  int
}

// served counts the calls of the queue that were answered, those left out that nobody asked for.
func (q *queue) served() (n int) {
	for _, c := range q.calls {
		if c.served {
			n++
		}
	}
	return n
}

func newTape(f *File, c *comparer, repeatLast bool) (*tape, error) {
	t := &tape{
		file: f, matcher: c.matcher, requests: make([]*match.Request, f.Len()), repeatLast: repeatLast,
		byKey: map[match.Hash]*queue{}, called: map[attemptOf]*recordedCall{},
	}
	of, keys := make([]*recordedCall, f.Len()), make([]match.Hash, f.Len())
	for i, in := range f.Interactions() {
		r, err := c.recorded(in)
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i+1, err)
		}
		t.requests[i] = r
		keys[i] = c.matcher.Key(r)
		if before := i - in.Back; in.Attempt > 0 && in.Back > 0 && before >= 0 && keys[before] == keys[i] {
			of[i] = of[before]
			of[i].attempts = append(of[i].attempts, i)
			continue
		}
		call := &recordedCall{attempts: []int{i}}
		of[i] = call
		if around := i - in.Within; in.Within > 0 && around >= 0 {
			of[around].inside = append(of[around].inside, call)
		}
		t.calls = append(t.calls, call)
		q := t.byKey[keys[i]]
		if q == nil {
			q = &queue{}
			t.byKey[keys[i]] = q
		}
		q.calls = append(q.calls, call)
	}
	return t, nil
}

// take returns the interaction that answers r, whose key is k, and marks it served. An attempt after the first of a call
// that was served before gets the same outcome again. Where there is none, played says how often the key was served.
func (t *tape) take(r *match.Request, k match.Hash, callID string) (i int, played int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.called[attemptOf{callID, k}]; ok {
		return c.last(), 0, true
	}
	q := t.byKey[k]
	if q == nil {
		if q = t.relaxed(r); q == nil {
			return 0, 0, false
		}
		t.byKey[k] = q
	}
	for q.next < len(q.calls) && q.calls[q.next].covered {
		q.next++
	}
	if q.next == len(q.calls) {
		if !t.repeatLast {
			return 0, q.served(), false
		}
		q.next--
	}
	c := q.calls[q.next]
	q.next++
	c.serve()
	t.called[attemptOf{callID, k}] = c
	return c.last(), 0, true
}

const (
	relaxedCandidates = 64      // recordings that relaxed compares
	relaxedBytes      = 4 << 20 // of bodies that it reads for that
)

// relaxed looks once more for a request that was recorded under other redaction rules, or before a secret was known.
func (t *tape) relaxed(r *match.Request) *queue {
	tried, read := 0, 0
	for _, c := range t.calls {
		stored := t.requests[c.attempts[0]]
		if c.served || c.covered || stored.Kind != r.Kind || stored.Format != r.Format || stored.Operation != r.Operation {
			continue
		}
		read += len(r.Body) + len(stored.Body)
		if tried++; tried > relaxedCandidates || tried > 1 && read > relaxedBytes {
			return nil
		}
		if t.matcher.Relaxed(r, stored) {
			return t.byKey[t.matcher.Key(stored)]
		}
	}
	return nil
}

// unused returns the indexes of the calls that were not served, in order.
func (t *tape) unused() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []int
	for _, c := range t.calls {
		if !c.served && !c.covered {
			list = append(list, c.attempts[0])
		}
	}
	return list
}

// served counts the calls that were.
func (t *tape) served() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, c := range t.calls {
		if c.served {
			n++
		}
	}
	return n
}
