package redact

import (
	"bytes"
	"cmp"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Body returns a message body with its secrets hidden, by the rules of its content type: JSON, JSON lines, a stream of
// server-sent events (JSON in their data), a form, or text. An empty or unknown type is told from the bytes. Bytes that
// are no UTF-8 text are left alone. Body returns b itself when nothing is hidden, and never writes to it.
//
// Each line and each event is looked at by itself: a secret that is cut over several events is not found.
func (r *Redactor) Body(contentType string, b []byte) []byte {
	if len(b) == 0 || !utf8.Valid(b) {
		return b
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	switch {
	case media == "application/x-www-form-urlencoded":
		return edited(b, stable(b, func(b []byte) []edit { return r.pairEdits(b, "&") }))
	case media == "text/event-stream" || isEvents(b):
		return edited(b, r.eventEdits(b))
	}
	if edits, ok := r.jsonEdits(b, textForm, 0); ok {
		return edited(b, edits)
	}
	if edits, ok := r.lineEdits(b); ok {
		return edited(b, edits)
	}
	return edited(b, r.proseEdits(b, textForm, 0))
}

// isEvents reports whether b begins as a stream of events does.
func isEvents(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("\uFEFF"))
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(b, []byte(field)) {
			return bytes.HasPrefix(b, []byte("data:")) || bytes.Contains(b, []byte("\ndata:")) || bytes.Contains(b, []byte("\rdata:"))
		}
	}
	return false
}

// lineEdits hides the secrets of JSON lines. ok is false when a line is something else.
func (r *Redactor) lineEdits(b []byte) (edits []edit, ok bool) {
	for at := 0; at < len(b); {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i
		}
		if line := b[at:end]; len(bytes.TrimSpace(line)) > 0 {
			found, ok := r.jsonEdits(line, textForm, 0)
			if !ok {
				return nil, false
			}
			edits = append(edits, shift(found, at)...)
		}
		at = end + 1
	}
	return edits, true
}

// part is a piece of the data of an event: b[start:end] of the body, which begins at text in the data.
type part struct {
	start, end, text int
}

// eventEdits hides the secrets of a stream of server-sent events, event by event.
func (r *Redactor) eventEdits(b []byte) (edits []edit) {
	var parts []part
	var data []byte
	flush := func() {
		if len(parts) > 0 {
			edits = append(edits, spread(r.stringEdits(data, textForm, 0), parts)...)
		}
		parts, data = parts[:0], nil
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
			if len(parts) > 0 {
				data = append(data[:len(data):len(data)], '\n')
			}
			parts = append(parts, part{from, end, len(data)})
			if len(parts) == 1 {
				data = b[from:end]
			} else {
				data = append(data, b[from:end]...)
			}
		default:
			edits = append(edits, shift(r.textEdits(line, textForm), at)...)
		}
		at = next
	}
	flush()
	// Lines between the lines of one event's data were done before the data, and may be inside an edit of it.
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	end := 0
	return slices.DeleteFunc(edits, func(e edit) bool {
		if e.start < end {
			return true
		}
		end = e.end
		return false
	})
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
