package redact

import (
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Message is a message body on its way through a Redactor.
type Message struct {
	ContentType string
	Body        []byte
	// Deltas, of a stream in a known format, are where its events hold pieces of texts. Without them a value that is cut
	// over events is found where strings of the same path make it whole.
	Deltas *Deltas
	// Numbers are the places of the numbers in Body that are hidden. A number's place is its path; in a stream it
	// follows the number of the event, counted from 0, and in a string that is JSON itself that string's place.
	Numbers []string
}

// Body returns a message body with its secrets hidden, by the rules of its content type: JSON, JSON lines, a stream of
// server-sent events (JSON in their data), a form, parts of several types, or text. An empty or unknown type is told from
// the bytes. Bytes that are no text, and of a type that is none, are left alone: see [Redactor.Holds]. Body returns b
// itself when nothing is hidden, and never writes to it. Numbers are left alone.
func (r *Redactor) Body(contentType string, b []byte) []byte {
	return edited(b, r.bodyEdits(contentType, b, nil, nil))
}

// Message is Body for a message whose stream is of a known format, or whose numbers may be hidden: those at the paths and
// under the names of the caller's rules. It replaces m.Body, and adds the places of the numbers that it hides to
// m.Numbers; numbers at places that are in the list are left alone.
func (r *Redactor) Message(m *Message) {
	m.Body = edited(m.Body, r.bodyEdits(m.ContentType, m.Body, m.Deltas, &m.Numbers))
}

func (r *Redactor) bodyEdits(contentType string, b []byte, deltas *Deltas, places *[]string) []edit {
	if len(b) == 0 {
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
	if boundary := params["boundary"]; boundary != "" && strings.HasPrefix(media, "multipart/") {
		return r.multipartEdits(b, boundary)
	}
	if !utf8.Valid(b) && !isText(media) {
		return nil
	}
	switch {
	case media == "application/x-www-form-urlencoded":
		return stable(b, func(b []byte) []edit { return r.pairEdits(b, "&") })
	case media == "text/event-stream" || isEvents(b):
		events, rest := serverSent(b)
		edits := r.streamEdits(events, deltas, places)
		for _, line := range rest {
			edits = append(edits, shift(r.textEdits(b[line.start:line.end], textForm), line.start)...)
		}
		return inOrder(edits) // a line between those of one event's data may be inside an edit of it
	}
	if events, ok := lines(b); ok {
		return r.streamEdits(events, deltas, places)
	}
	w := walk{r: r, b: b, form: textForm}
	if places != nil {
		w.numbers = &numbers{places: places}
	}
	if edits, ok := w.edit(); ok {
		return edits
	}
	return r.proseEdits(b, textForm, 0)
}

// isText reports whether bodies of a media type are text, whatever their bytes.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || media == "application/x-www-form-urlencoded" ||
		strings.HasSuffix(media, "json") || strings.HasSuffix(media, "xml") || strings.HasSuffix(media, "javascript")
}

// eventPrefix is what stands before the paths of an event's numbers.
func eventPrefix(i int) string { return strconv.Itoa(i) + " " }
