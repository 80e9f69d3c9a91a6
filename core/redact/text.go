package redact

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// hit is a secret that was found: the bytes from start to end. Its placeholder is text where that is known already, else
// the rule makes one.
type hit struct {
	start, end int
	rule       *Rule
	text       string
}

// widen makes h reach from start to end.
func (h *hit) widen(start, end int) {
	h.start, h.end = start, end
	if h.rule != nil {
		h.text = ""
	}
}

// widenWord makes h reach to the ends of the words that it cuts.
func (h *hit) widenWord(text []byte) {
	start, end := h.start, run(text, h.end, alnum)
	for joined(text, start) {
		start--
	}
	if start < h.start || end > h.end {
		h.widen(start, end)
	}
}

// joined reports whether the byte before i and what follows make one word: it is a letter or a digit, and not the end of
// a percent escape.
func joined(text []byte, i int) bool {
	if i == 0 || !is(text[i-1], alnum) {
		return false
	}
	return i < 3 || text[i-3] != '%' || hexDigit(text[i-2]) < 0 || hexDigit(text[i-1]) < 0
}

// maxRounds bounds how often a text is read again after something in it was hidden. Two suffice but for texts made to
// need more.
const maxRounds = 8

// stable returns the edits after which find finds nothing more in b.
func stable(b []byte, find func([]byte) []edit) (all []edit) {
	for range maxRounds {
		edits := find(b)
		if len(edits) == 0 {
			break
		}
		all = compose(all, edits)
		b = apply(b, edits)
	}
	return all
}

// textEdits returns the edits that hide the secrets of plain text.
//
// Each step sees the text that the step before left, with placeholders as things that cannot be cut; and all are done
// again until nothing is found, so that the result is one in which nothing is found.
func (r *Redactor) textEdits(text []byte, f form) (all []edit) {
	s := scanner{r: r, form: f}
	var room *[2][]byte // for the texts that steps leave, in turns
	var shaped []edit   // by their shapes, in the round before
	for round := range maxRounds {
		changed := false
		step := func(hits []hit) []edit {
			edits := r.settle(text, hits, f)
			if len(edits) > 0 {
				changed = true
				all = compose(all, edits)
				if room == nil {
					room = rooms.Get().(*[2][]byte)
				}
				room[0], room[1] = room[1], appendEdited(room[0][:0], text, edits)
				text = room[1]
			}
			return edits
		}
		step(r.literals.Load().hits(text))
		for _, rule := range r.patterns {
			step(patternHits(rule, text))
		}
		if round == 0 || changed {
			s.scanAll(text)
		} else {
			s.scanNear(text, shaped)
		}
		shaped = step(s.hits)
		if !changed {
			break
		}
	}
	if room != nil {
		rooms.Put(room)
	}
	return all
}

// rooms holds buffers of textEdits.
var rooms = sync.Pool{New: func() any { return new([2][]byte) }}

func patternHits(rule *Rule, text []byte) (hits []hit) {
	for _, m := range rule.re.FindAllSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if len(m) >= 4 && m[2] >= 0 {
			start, end = m[2], m[3]
		}
		if start < end {
			hits = append(hits, hit{start: start, end: end, rule: rule})
		}
	}
	return hits
}

// settle turns hits in text into edits: sorted, those that overlap joined, those inside a placeholder dropped, and those
// that cut one widened to cover it.
func (r *Redactor) settle(text []byte, hits []hit, f form) []edit {
	if len(hits) == 0 {
		return nil
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return cmp.Compare(b.end, a.end)
	})
	placed := r.marksNear(text, hits)
	settled := hits[:0]
	var urls urlFinder
	for _, h := range hits {
		at := f
		if f == textForm && h.text == "" && urls.inside(text, h.start) {
			at = urlForm
		}
		if at == urlForm { // "redacted-q7ka" must not grow together with the word around it
			h.widenWord(text)
		}
		for len(placed) > 0 && placed[0].end <= h.start {
			placed = placed[1:]
		}
		inside := false
		for _, m := range placed {
			if m.start >= h.end {
				break
			}
			if m.start <= h.start && h.end <= m.end {
				inside = true
				break
			}
			if m.start < h.start || h.end < m.end {
				h.widen(min(h.start, m.start), max(h.end, m.end))
			}
		}
		if inside {
			continue
		}
		if n := len(settled); n > 0 && h.start < settled[n-1].end {
			if last := &settled[n-1]; h.end > last.end {
				last.widen(last.start, h.end)
			}
			continue
		}
		settled = append(settled, h)
	}
	edits := make([]edit, len(settled))
	urls = urlFinder{}
	for i, h := range settled {
		if h.text == "" {
			at := f
			if f == textForm && urls.inside(text, h.start) {
				at = urlForm
			}
			h.text = r.placeholder(h.rule, text[h.start:h.end], at)
		}
		edits[i] = edit{h.start, h.end, h.text}
	}
	return edits
}

// marksNear returns the placeholders in the words, by white space, that hits stand in, of which no placeholder holds any.
func (r *Redactor) marksNear(text []byte, hits []hit) (placed []mark) {
	to := 0
	for _, h := range hits {
		if h.end <= to {
			continue
		}
		from := max(h.start, to)
		for from > to && !is(text[from-1], space) {
			from--
		}
		to = h.end
		for to < len(text) && !is(text[to], space) {
			to++
		}
		for m := range marks(text[from:to], r.named) {
			placed = append(placed, mark{start: from + m.start, end: from + m.end, fingerprint: m.fingerprint})
		}
	}
	return placed
}

// urlFinder answers where URLs go on, for places in the order of the text. It reads no byte twice, so that many secrets in
// one long word cost no more than others.
type urlFinder struct {
	at      int // the place asked about last
	slashes int // the last of the "://" of the URL that goes on there, 0 if none does
}

// inside reports whether a URL that began shortly before at goes on there. No place asked about before is after at.
func (u *urlFinder) inside(text []byte, at int) bool {
	const far = 2048
	last := u.at
	u.at = at
	for i := at - 1; i >= last; i-- {
		if i < 2 || i <= at-far || !is(text[i], inURL) {
			u.slashes = 0
			return false
		}
		if text[i] == '/' && text[i-1] == '/' && text[i-2] == ':' {
			u.slashes = i
			return true
		}
	}
	return u.slashes > 0 && u.slashes > at-far
}

// wholeEdit returns the edit that hides all of text because of where it stands.
func (r *Redactor) wholeEdit(rule *Rule, text []byte, f form) []edit {
	if len(bytes.Trim(text, mask)) == 0 || r.isPlaceholder(text) {
		return nil
	}
	if !rule.opaque {
		edits := r.textEdits(text, f)
		if len(edits) == 1 && edits[0].start == 0 && edits[0].end == len(text) {
			return edits // a shape says more than a name
		}
	}
	// An ambient credential inside differs from developer to developer, and must not make the fingerprint differ.
	value := edited(text, r.settle(text, r.literals.Load().hits(text), f))
	return []edit{{0, len(text), r.placeholder(rule, value, f)}}
}
