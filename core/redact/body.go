package redact

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/eventstream"
)

// Message is what [Redactor.Message] reads and changes: a body, what is known of it, and what was hidden in it. It is for
// one goroutine.
type Message struct {
	ContentType string
	Body        []byte
	// Deltas, of a stream in a known format, are where its events hold pieces of texts. Without them a value that is cut
	// over events is found where strings of the same path make it whole.
	Deltas *Deltas
	// Masked is set, and never cleared, when a known secret stood in bytes that are no text and was overwritten with x: the
	// body keeps its length then, but no longer a checksum.
	Masked bool
	// Numbers are the places of the numbers in Body that are hidden, each followed by a space and the number's fingerprint,
	// unless its rule is Opaque. A place is a path; the number of the event or the part, counted from 0, stands before it in
	// a stream or a multipart body, and in a string that is JSON, or base64 of it, that string's place.
	Numbers []string
	// ShowNumbers has placeholders stand in the place of hidden numbers, "<number:q7>", of those too that are in Numbers:
	// for comparing. The list stays as it is then.
	ShowNumbers bool
}

// Body returns a message body with its secrets hidden, by the rules of its content type: JSON, JSON lines, a stream of
// server-sent events (JSON in their data) or of Amazon's frames, a form, parts of several types, or text. An empty or
// unknown type is told from the bytes. In bytes that are no text, and of no type that is, only known secrets are hidden:
// see Message.Masked. Body returns b itself when nothing is hidden, and never writes to it. Numbers are left alone.
func (r *Redactor) Body(contentType string, b []byte) []byte {
	m := Message{ContentType: contentType, Body: b}
	return edited(b, r.bodyEdits(&m, nil))
}

// Message is Body for a message whose stream is of a known format, or whose numbers may be hidden: those at the paths and
// under the names of the caller's rules. It replaces m.Body, and adds the places of the numbers that it hides to
// m.Numbers; numbers at places that are in the list are left alone.
func (r *Redactor) Message(m *Message) {
	m.Body = edited(m.Body, r.bodyEdits(m, r.newNumbers(&m.Numbers, m.ShowNumbers)))
}

// bodyEdits hides the secrets of m's body; the numbers too if n is not nil.
func (r *Redactor) bodyEdits(m *Message, n *numbers) []edit {
	b := m.Body
	if len(b) == 0 {
		return nil
	}
	if mark := []byte("\uFEFF"); bytes.HasPrefix(b, mark) {
		rest := *m
		rest.Body = b[len(mark):]
		edits := shift(r.bodyEdits(&rest, n), len(mark))
		m.Masked = rest.Masked
		return edits
	}
	media, params, err := mime.ParseMediaType(m.ContentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(m.ContentType), ";")
		media = strings.TrimSpace(media)
	}
	if boundary := params["boundary"]; boundary != "" && strings.HasPrefix(media, "multipart/") {
		return r.multipartEdits(m, boundary, n)
	}
	if media == eventstream.ContentType {
		return r.frameEdits(b, m, n)
	}
	if !utf8.Valid(b) && !isText(media) {
		edits := r.binaryEdits(b)
		m.Masked = m.Masked || len(edits) > 0
		return edits
	}
	switch {
	case media == "application/x-www-form-urlencoded":
		return stable(b, func(b []byte) []edit { return r.pairEdits(b, "&") })
	case media == "text/event-stream" || isEvents(b):
		events, rest := serverSent(b)
		edits := r.streamEdits(events, m, n)
		for _, line := range rest {
			edits = append(edits, shift(r.textEdits(b[line.start:line.end], textForm), line.start)...)
		}
		return inOrder(edits) // a line between those of one event's data may be inside an edit of it
	}
	if events, ok := lines(b); ok {
		return r.streamEdits(events, m, n)
	}
	in := scope{numbers: n, masked: &m.Masked}
	if edits, ok := r.jsonEdits(b, in); ok {
		return edits
	}
	return r.proseEdits(b, in)
}

// binaryEdits overwrites what is hidden wherever it stands in bytes that are no text.
func (r *Redactor) binaryEdits(b []byte) (edits []edit) {
	for _, h := range r.literals.Load().hits(b) {
		edits = append(edits, edit{h.start, h.end, strings.Repeat("x", h.end-h.start)})
	}
	edits = inOrder(edits)
	for i := range edits { // which may have become longer
		edits[i].text = strings.Repeat("x", edits[i].end-edits[i].start)
	}
	return edits
}

// isText reports whether bodies of a media type are text, whatever their bytes.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || media == "application/x-www-form-urlencoded" ||
		strings.HasSuffix(media, "json") || strings.HasSuffix(media, "xml") || strings.HasSuffix(media, "javascript")
}
