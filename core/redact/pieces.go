package redact

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Deltas says which strings in the events of a stream are pieces of longer texts: the places where a wire format sends a
// model's text, reasoning and tool arguments. It is immutable.
type Deltas struct{ paths *jsonpath.Set }

// NewDeltas returns the Deltas of strings at these paths of an event's JSON, in the language of [Path]. Strings of one
// path belong to one text as long as the objects on the way have the same "index", "item_id", "type" and their kind, and
// an object in an array that has an "index" has no new "id".
func NewDeltas(paths ...string) (*Deltas, error) {
	set, err := jsonpath.NewSet(paths...)
	if err != nil {
		return nil, err
	}
	return &Deltas{set}, nil
}

// pieces collects the strings of a stream's events that are pieces of longer texts, and hides in them what is found in
// the texts. A nil *pieces collects nothing.
//
// Without Deltas every string counts. What is found in it by itself stays found then, and the texts show only what no
// event holds whole; but a text that is JSON is certainly one, and counts alone.
type pieces struct {
	r      *Redactor
	deltas *Deltas
	masked *bool      // see scope
	event  int        // the one that is read
	nodes  []node     // of the event
	lists  []logprobs // of the event
	tokens tokenLists
	fresh  []piece // of the event
	texts  map[string]*assembled
	order  []*assembled
	ids    map[string]string // the last ones, by the object that they stand in
	key    []byte
}

// pieceSpot is what pieces knows of a place.
type pieceSpot struct {
	node  int // of the object or array there, counted from 1; 0 when none is needed
	delta jsonpath.Cursor
}

// node is an object or an array of an event.
type node struct {
	in     int    // the node it stands in, 0 for the root
	step   string // from that to this one
	inList bool
	// What tells apart two texts of one path: the raw values of members, in the order of tellApart.
	tell [len(tellApart)][]byte
	id   []byte
}

var tellApart = [...]string{"index", "type", "item_id", "output_index", "content_index", "summary_index", "contentBlockIndex", "thought"}

const (
	tellIndex = 0
	tellType  = 1
)

// piece is a string in an event.
type piece struct {
	node       int
	step       string
	event      int
	start, end int // of its inside, in the event's data
	escaped    bool
	text       []byte   // unescaped
	found      []edit   // of text, what it shows by itself
	numbers    *numbers // for JSON in the text that begins here
}

// assembled is a text that came in pieces.
type assembled struct {
	pieces    []piece
	group     string // what it shares with the texts beside it
	signature bool
}

func (p *pieces) root(s *spot) {
	if p != nil && p.deltas != nil {
		s.piece.delta = p.deltas.paths.Root()
	}
}

func (p *pieces) member(s, in *spot, name []byte) {
	if p != nil {
		s.piece.delta = in.piece.delta.Member(name)
	}
}

func (p *pieces) element(s, in *spot) {
	if p != nil {
		s.piece.delta = in.piece.delta.Index(in.index)
	}
}

// open notes an object or an array.
func (p *pieces) open(s *spot, w *walk) {
	if p == nil || p.deltas != nil && s.piece.delta.Dead() {
		return
	}
	n := node{}
	if top := len(w.stack); top > 0 {
		n.in, n.inList = w.stack[top-1].piece.node, w.stack[top-1].array
		n.step = w.step(s)
	}
	p.nodes = append(p.nodes, n)
	s.piece.node = len(p.nodes)
}

// step returns what leads from the innermost open object or array to s.
func (w *walk) step(s *spot) string {
	if in := &w.stack[len(w.stack)-1]; in.array {
		return strconv.Itoa(in.index - 1)
	}
	return string(w.b[s.name.start:s.name.end])
}

// scalar notes a member that tells texts apart.
func (p *pieces) scalar(s *spot, w *walk, raw []byte) {
	if p == nil || len(w.stack) == 0 {
		return
	}
	in := &w.stack[len(w.stack)-1]
	if in.array || in.piece.node == 0 {
		return
	}
	n := &p.nodes[in.piece.node-1]
	name := w.b[s.name.start+1 : s.name.end-1]
	if string(name) == "id" {
		n.id = raw
		return
	}
	for i, tell := range tellApart {
		if string(name) == tell {
			n.tell[i] = raw
			return
		}
	}
}

// defers reports whether what is hidden in the string at s is decided when the texts are known.
func (p *pieces) defers(s *spot) bool {
	return p != nil && (p.deltas == nil && !s.logprobs || s.piece.delta.Matched())
}

// add notes the string at next, whose text is s and whose inside begins at w.b[at:].
func (p *pieces) add(next *spot, w *walk, s []byte, at int, escaped bool, found []edit) {
	end := at + len(s)
	if escaped {
		end = at + rawLen(w.b[at:], len(s))
	}
	x := piece{event: p.event, start: at, end: end, escaped: escaped, text: s, found: found, numbers: w.numbersIn(next)}
	if escaped {
		x.text = bytes.Clone(s) // which stands in a buffer
	}
	if n := len(w.stack); n > 0 {
		x.node, x.step = w.stack[n-1].piece.node, w.step(next)
	}
	p.fresh = append(p.fresh, x)
}

// plain notes the data of an event that is no JSON.
func (p *pieces) plain(data []byte, found []edit) {
	p.fresh = append(p.fresh, piece{event: p.event, end: len(data), text: data, found: found})
}

// rawLen returns how long the escaped form is, at the beginning of raw, of n bytes of text.
func rawLen(raw []byte, n int) int {
	at := 0
	for n > 0 {
		r, t := jsonUnit(raw[at:])
		at += r
		n -= t
	}
	return at
}

// mask stands in a text for each byte of what is hidden already. It is no part of any word or secret.
const mask = "\x7F"

// masked returns the piece's text with masks in the place of what was found in it, now or earlier.
func (x *piece) masked(r *Redactor) []byte {
	text := bytes.Clone(x.text)
	hide := func(start, end int) {
		for i := start; i < end; i++ {
			text[i] = mask[0]
		}
	}
	for _, e := range x.found {
		if (e.start == 0) == (e.end == len(text)) { // else it may go on in the piece before or behind
			hide(e.start, e.end)
		}
	}
	for m := range marks(x.text, r.named) {
		hide(m.start, m.end)
	}
	return text
}

// begin says that the event with this number is read next.
func (p *pieces) begin(event int) {
	p.event = event
	p.nodes, p.fresh, p.lists = p.nodes[:0], p.fresh[:0], p.lists[:0]
}

// done puts the pieces of the event with this data where they belong: what tells texts apart may stand after them.
func (p *pieces) done(data []byte) {
	for _, x := range p.lists {
		p.key = p.appendNode(p.key[:0], x.in)
		p.tokens.add(string(p.key), p.event, data, x)
	}
	for _, piece := range p.fresh {
		p.key = p.appendNode(p.key[:0], piece.node)
		group := len(p.key)
		p.key = append(append(p.key, '.'), piece.step...)
		j := p.texts[string(p.key)]
		if j == nil {
			j = &assembled{group: string(p.key[:group])}
			if n := len(piece.step); n > 2 && piece.step[0] == '"' {
				j.signature = isSignature([]byte(piece.step[1 : n-1]))
			}
			if p.texts == nil {
				p.texts = make(map[string]*assembled)
			}
			p.texts[string(p.key)] = j
			p.order = append(p.order, j)
		}
		j.pieces = append(j.pieces, piece)
	}
}

// appendNode appends what tells the texts in a node from those in others.
func (p *pieces) appendNode(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	n := &p.nodes[i-1]
	dst = p.appendNode(dst, n.in)
	if n.in > 0 {
		step := []byte(n.step)
		if n.inList && n.tell[tellIndex] != nil { // where it is missing, the place in the list says the same
			step = n.tell[tellIndex]
		}
		dst = append(append(dst, '.'), step...)
	}
	for k, raw := range n.tell {
		if raw == nil || k == tellType && n.in > 0 || k == tellIndex && n.inList {
			continue
		}
		dst = append(append(dst, '{', byte('a'+k)), raw...)
	}
	if n.inList {
		// A new id begins a new call, also where its index was used before.
		if len(n.id) > len(`""`) {
			if p.ids == nil {
				p.ids = make(map[string]string)
			}
			p.ids[string(dst)] = string(n.id)
		}
		dst = append(dst, p.ids[string(dst)]...)
	}
	return dst
}

// finish hides in the events what the texts show.
func (p *pieces) finish(events []event) {
	changed := make(map[string]bool) // groups in which something was hidden
	for _, a := range p.order {
		if !a.signature && a.hide(p, events) {
			changed[a.group] = true
		}
	}
	for _, a := range p.order {
		text := a.text((*piece).whole)
		signed := func(group string) bool { return strings.HasPrefix(group, a.group) } // what stands beside it, and inside of that
		if a.signature && len(text) > 0 && !p.r.isPlaceholder(text) && slices.ContainsFunc(slices.Collect(maps.Keys(changed)), signed) {
			a.spread([]edit{{0, len(text), p.r.placeholder(&signatureRule, text, textForm)}}, events)
		}
	}
}

// hide hides what the text shows, and reports whether there was something.
func (a *assembled) hide(p *pieces, events []event) (hidden bool) {
	spread := func(edits []edit) {
		hidden = hidden || len(edits) > 0
		a.spread(edits, events)
	}
	constant := a.constant()
	text := a.text((*piece).whole)
	if a.pieces[0].node > 0 && p.deltas != nil || !constant && looksLikeJSON(text) && jsonlex.Valid(text) {
		spread(p.r.valuesEdits(text, scope{numbers: a.pieces[0].numbers, masked: p.masked}))
		return hidden
	}
	at := 0
	var found []edit
	for _, x := range a.pieces {
		found = append(found, shift(slices.Clone(x.found), at)...)
		at += len(x.text)
	}
	if !constant { // what goes on over pieces first: of two edits of the same bytes the first stays
		masked := a.text(func(x *piece) []byte { return x.masked(p.r) })
		spread(p.r.stringEdits(masked, scope{}))
	}
	spread(found)
	return hidden
}

// constant reports whether all pieces say the same, as a model's name does that stands in each event: then they are not
// pieces of a text.
func (a *assembled) constant() bool {
	return !slices.ContainsFunc(a.pieces[1:], func(x piece) bool { return !bytes.Equal(x.text, a.pieces[0].text) })
}

func (x *piece) whole() []byte { return x.text }

// text returns what the pieces make together, each as form gives it.
func (a *assembled) text(form func(*piece) []byte) (text []byte) {
	if len(a.pieces) == 1 {
		return form(&a.pieces[0])
	}
	for i := range a.pieces {
		text = append(text, form(&a.pieces[i])...)
	}
	return text
}

// spread turns edits of the text into edits of its events: the placeholder goes where the hidden value began.
func (a *assembled) spread(edits []edit, events []event) {
	from := 0
	for _, x := range a.pieces {
		to := from + len(x.text)
		var own []edit
		own, edits = cutEdits(edits, from, to)
		if ev := &events[x.event]; len(own) > 0 {
			if x.escaped {
				own = toRaw(own, ev.data[x.start:x.end], jsonUnit)
			}
			ev.edits = append(ev.edits, shift(own, x.start)...)
		}
		from = to
	}
}
