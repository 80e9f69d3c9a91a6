package redact

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// event is one event of a stream: the JSON or the text that it carries.
type event struct {
	data  []byte
	parts []part // where it stands in the stream
	edits []edit // of data
}

// part is a piece of the data of an event: b[start:end] of the body, which begins at text in the data.
type part struct {
	start, end, text int
}

// isEvents reports whether b begins as a stream of events does.
func isEvents(b []byte) bool {
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(b, []byte(field)) {
			return bytes.HasPrefix(b, []byte("data:")) || bytes.Contains(b, []byte("\ndata:")) || bytes.Contains(b, []byte("\rdata:"))
		}
	}
	return false
}

// lines takes JSON lines apart. ok is false when b is something else, such as one JSON text on several lines. The last
// line may be cut.
func lines(b []byte) (events []event, ok bool) {
	if bytes.IndexByte(bytes.TrimSpace(b), '\n') < 0 {
		return nil, false
	}
	for at := 0; at < len(b); {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := b[at:end]
		blank := len(bytes.TrimSpace(line)) == 0
		if !blank && (!looksLikeJSON(line) || len(events) == 0 && !jsonlex.Valid(line)) {
			return nil, false
		}
		if !blank {
			events = append(events, event{data: line, parts: []part{{at, end, 0}}})
		}
		at = end + 1
	}
	return events, true
}

// serverSent takes a stream of server-sent events apart. rest are the lines that are no data.
func serverSent(b []byte) (events []event, rest []part) {
	var ev event
	flush := func() {
		if len(ev.parts) > 0 {
			events = append(events, ev)
		}
		ev = event{}
	}
	for at := 0; at < len(b); {
		end, next := len(b), len(b)
		if i := bytes.IndexAny(b[at:], "\r\n"); i >= 0 {
			end, next = at+i, at+i+1
			if b[end] == '\r' && next < len(b) && b[next] == '\n' {
				next++
			}
		}
		line := b[at:end]
		switch {
		case len(line) == 0:
			flush()
		case bytes.HasPrefix(line, []byte("data:")):
			from := at + len("data:")
			if from < end && b[from] == ' ' {
				from++
			}
			if len(ev.parts) == 0 {
				ev = event{data: slices.Clip(b[from:end]), parts: []part{{from, end, 0}}}
				break
			}
			ev.data = append(ev.data, '\n')
			ev.parts = append(ev.parts, part{from, end, len(ev.data)})
			ev.data = append(ev.data, b[from:end]...)
		default:
			rest = append(rest, part{start: at, end: end})
		}
		at = next
	}
	flush()
	return events, rest
}

// streamEdits hides the secrets of the stream that m is.
func (r *Redactor) streamEdits(events []event, m *Message, n *numbers) (edits []edit) {
	r.hideEvents(events, m, n)
	for _, ev := range events {
		edits = append(edits, spread(ev.edits, ev.parts)...)
	}
	return edits
}

// hideEvents finds the edits that hide the secrets of events, in each of them and in the texts that come in pieces.
func (r *Redactor) hideEvents(events []event, m *Message, n *numbers) {
	p := &pieces{r: r, deltas: m.Deltas, masked: &m.Masked}
	for i := range events {
		ev := &events[i]
		p.begin(i)
		w := walk{r: r, b: ev.data, scope: scope{numbers: n.of(i), masked: &m.Masked}, pieces: p}
		var ok bool
		if ev.edits, ok = w.edit(); !ok {
			p.begin(i) // nothing of what was read as JSON holds
			p.plain(ev.data, r.proseEdits(ev.data, w.scope))
		}
		p.done(ev.data)
	}
	p.finish(events)
	for i := range events {
		events[i].edits = inOrder(events[i].edits)
	}
	p.tokens.hide(r, events)
}

// inOrder sorts edits. Of two that touch the first stays, and covers both.
func inOrder(edits []edit) []edit {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	kept := edits[:0]
	for _, e := range edits {
		if n := len(kept); n > 0 && e.start < kept[n-1].end {
			kept[n-1].end = max(kept[n-1].end, e.end)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// spread turns edits of an event's data into edits of the body. One that reaches over several lines takes the breaks
// between them along.
func spread(edits []edit, parts []part) []edit {
	k := 0
	for i := range edits {
		e := &edits[i]
		for k+1 < len(parts) && parts[k+1].text <= e.start {
			k++
		}
		start := min(parts[k].start+e.start-parts[k].text, parts[k].end)
		for k+1 < len(parts) && parts[k+1].text < e.end {
			k++
		}
		e.start, e.end = start, min(parts[k].start+e.end-parts[k].text, parts[k].end)
	}
	return edits
}
