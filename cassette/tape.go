package cassette

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/mixtape-go/mixtape/cassette/internal/match"
)

// tape is a loaded cassette as a replay asks it: the recorded calls by key, each to be served once, equal ones in the
// order of their starts. It is safe for concurrent use.
type tape struct {
	file       *File
	comparer   *comparer
	matcher    *match.Matcher
	outlines   []*match.Request     // of each interaction, as its outline says
	ends       map[match.Hash][]int // which interactions have message lists that end so, of lists that go on from others
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
	queue    *queue
	served   bool
	covered  bool // the tool or function inside of which it was made was served
}

// serve marks c served, and what was made inside of it as not to be waited for.
func (c *recordedCall) serve() {
	c.served = true
	for left := slices.Clone(c.inside); len(left) > 0; {
		inner := left[len(left)-1]
		left = left[:len(left)-1]
		if !inner.covered { // else so is what is inside of it
			inner.covered = true
			left = append(left, inner.inside...)
		}
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

func newTape(f *File, outlines []outline, c *comparer, repeatLast bool) (*tape, error) {
	t := &tape{
		file: f, comparer: c, matcher: c.matcher, outlines: make([]*match.Request, len(outlines)), repeatLast: repeatLast,
		ends: map[match.Hash][]int{}, byKey: map[match.Hash]*queue{}, called: map[attemptOf]*recordedCall{},
	}
	limit := maxRead
	if len(c.normalize) == 0 && !c.redactor.HasPaths() {
		limit /= 4 // the user has not asked for more
	}
	keys, err := t.keys(outlines, limit)
	if err != nil {
		return nil, err
	}
	of := make([]*recordedCall, len(outlines))
	for i, o := range outlines {
		if before := i - o.back; o.attempt > 0 && o.back > 0 && before >= 0 && keys[before] == keys[i] {
			of[i] = of[before]
			of[i].attempts = append(of[i].attempts, i)
			continue
		}
		q := t.byKey[keys[i]]
		if q == nil {
			q = &queue{}
			t.byKey[keys[i]] = q
		}
		call := &recordedCall{attempts: []int{i}, queue: q}
		of[i] = call
		if around := i - o.within; o.within > 0 && around >= 0 {
			of[around].inside = append(of[around].inside, call)
		}
		t.calls = append(t.calls, call)
		q.calls = append(q.calls, call)
	}
	return t, nil
}

// maxRead is how many bytes of bodies a tape reads more than there are in its file: one that has blobs beside it, or that
// cannot read a message list by its new part only, may name the same bytes again and again.
const maxRead = 1 << 30

// keys returns the keys of all interactions. That of a turn of a conversation costs what the turn has of its own. It fails
// once the bodies come to more than limit bytes beyond the file's.
func (t *tape) keys(outlines []outline, limit int) ([]match.Hash, error) {
	keys := make([]match.Hash, len(outlines))
	whole := make([]bool, len(outlines)) // the key is known, and nothing goes on from it
	goOn := map[int][]int{}              // the interactions that go on from one's message list
	type visit struct {
		index int
		from  match.Mark
	}
	var next []visit
	read := 0
	for i, o := range outlines {
		e := &t.file.entries[i]
		goesOn := e.shared > 0
		layout, err := t.comparer.layout(o.request.format)
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i+1, err)
		}
		asked := o.request
		if t.comparer.needsAll(asked, goesOn) || goesOn && !layout.HasMessages(e.list.member) {
			whole[i] = true
		} else if goesOn {
			from := e.list.from.index
			whole[i] = whole[from] || t.outlines[from].Layout != layout
		}
		if whole[i] {
			asked = requestOf(t.file.asked(i))
		}
		if read += len(asked.body); read-len(t.file.data) > limit {
			return nil, fmt.Errorf("interaction %d: the requests up to here come to %d bytes, in a file of %d; that is too much to compare",
				i+1, read, len(t.file.data))
		}
		r, err := t.comparer.compared(asked)
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i+1, err)
		}
		t.outlines[i] = r
		switch {
		case whole[i]:
			keys[i] = t.matcher.Key(r)
			if goesOn {
				r.Body = o.request.body // all of it would be many times the file
			}
		case goesOn && !t.matcher.IgnoresMessages(layout):
			goOn[e.list.from.index] = append(goOn[e.list.from.index], i)
		default:
			next = append(next, visit{index: i})
		}
	}
	slices.Reverse(next)
	series := t.matcher.Series()
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		children := goOn[v.index]
		// The last one on the stack comes first, and must be the one that goes on from the latest place.
		slices.SortStableFunc(children, func(a, b int) int { return cmp.Compare(t.file.entries[a].shared, t.file.entries[b].shared) })
		at := make([]int, len(children))
		for n, c := range children {
			at[n] = t.file.entries[c].shared - v.from.Items()
		}
		key, marks, end := series.Key(t.outlines[v.index], v.from, at)
		keys[v.index] = key
		if end.Items() > 0 && len(children)+v.from.Items() > 0 {
			t.ends[end.Chain()] = append(t.ends[end.Chain()], v.index)
		}
		for n, c := range children {
			next = append(next, visit{c, marks[n]})
		}
	}
	return keys, nil
}

// request returns the whole request of an interaction as it is compared.
func (t *tape) request(i int) *match.Request {
	r, err := t.comparer.compared(requestOf(t.file.asked(i)))
	if err != nil { // a normaliser of the user's fails where it did not before
		return t.outlines[i]
	}
	return r
}

// nearest returns the interaction whose request is most like r; false when none is of its kind.
func (t *tape) nearest(r *match.Request) (i int, ok bool) {
	var likely []int
	_, chain := t.matcher.Chain(r, nil)
	for n := len(chain) - 1; n >= 0 && likely == nil; n-- {
		for _, before := range t.ends[chain[n]] { // r goes on from it, as do those that are more like r
			likely = append(likely, before)
			for i, e := range t.file.entries {
				if len(likely) >= maxLikely {
					break
				}
				if e.shared > 0 && e.list.from.index == before {
					likely = append(likely, i)
				}
			}
		}
	}
	return t.matcher.Nearest(r, t.outlines, t.request, likely[:min(len(likely), maxLikely)])
}

// maxLikely bounds the turns of a conversation that are read to find the nearest.
const maxLikely = 4

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
		candidates := t.candidates(r)
		t.mu.Unlock() // the user's normalisers are called
		q = t.relaxed(r, candidates)
		t.mu.Lock()
		if q == nil {
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
	relaxedBytes      = 1 << 20 // of bodies that it reads for that
)

// candidates returns the calls that relaxed compares with r. The caller holds t.mu.
func (t *tape) candidates(r *match.Request) (calls []*recordedCall) {
	for _, c := range t.calls {
		outline := t.outlines[c.attempts[0]]
		if c.served || c.covered || outline.Kind != r.Kind || outline.Format != r.Format || outline.Operation != r.Operation {
			continue
		}
		if calls = append(calls, c); len(calls) == relaxedCandidates {
			break
		}
	}
	return calls
}

// relaxed looks once more for a request that was recorded under other redaction rules, or before a secret was known.
func (t *tape) relaxed(r *match.Request, calls []*recordedCall) *queue {
	read := 0
	for i, c := range calls {
		stored := t.request(c.attempts[0])
		if read += len(r.Body) + len(stored.Body); i > 0 && read > relaxedBytes {
			return nil
		}
		if t.matcher.Relaxed(r, stored) {
			return c.queue
		}
	}
	return nil
}

// settled says that the call was answered with success, so that no attempt of it follows.
func (t *tape) settled(callID string, k match.Hash) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.called, attemptOf{callID, k})
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
