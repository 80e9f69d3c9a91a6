package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/mixtape-go/mixtape/internal/eventstream"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// frameEdits hides the secrets of a stream of Amazon's frames, whose payloads are JSON. A frame in which something is
// hidden is put together anew. What follows the last whole frame is text.
func (r *Redactor) frameEdits(b []byte, m *Message, n *numbers) (edits []edit) {
	var frames []eventstream.Frame
	var ends []int
	var chunks []span // where the payloads hold an event in base64
	var events []event
	at := 0
	for {
		f, size, err := eventstream.Next(b[at:])
		if err != nil {
			break
		}
		at += size
		chunk, data := chunkOf(f.Payload)
		frames, ends, chunks = append(frames, f), append(ends, at), append(chunks, chunk)
		events = append(events, event{data: data})
	}
	r.hideEvents(events, m, n)
	start := 0
	for i, f := range frames {
		if ev := events[i]; len(ev.edits) > 0 {
			data := apply(ev.data, ev.edits)
			if c := chunks[i]; c.end > 0 {
				payload := base64.StdEncoding.AppendEncode(bytes.Clone(f.Payload[:c.start]), data)
				data = append(payload, f.Payload[c.end:]...)
			}
			f.Payload = data
			edits = append(edits, edit{start, ends[i], string(f.Append(nil))})
		}
		start = ends[i]
	}
	return append(edits, shift(r.textEdits(b[at:], textForm), at)...)
}

// chunkOf returns the event that a payload carries: the JSON in its member "bytes", in base64, whose inside stands at
// chunk, as where a model's own stream is passed on; else the payload itself.
func chunkOf(payload []byte) (chunk span, data []byte) {
	lex := jsonlex.New(payload)
	for {
		switch lex.Next() {
		case jsonlex.Invalid, jsonlex.End:
			return span{}, payload
		case jsonlex.Name:
			if lex.Depth() != 1 || string(lex.Raw()) != `"bytes"` || lex.Next() != jsonlex.String {
				continue
			}
			start, end := lex.Span()
			data, err := base64.StdEncoding.DecodeString(string(payload[start+1 : end-1]))
			if err != nil || !looksLikeJSON(data) {
				return span{}, payload
			}
			return span{start + 1, end - 1}, data
		}
	}
}
