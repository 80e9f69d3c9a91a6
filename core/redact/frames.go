package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"

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
		headers := r.frameHeaders(f.Headers)
		if ev := events[i]; len(ev.edits) > 0 || headers != nil {
			data := apply(ev.data, ev.edits)
			if c := chunks[i]; c.end > 0 {
				payload := base64.StdEncoding.AppendEncode(bytes.Clone(f.Payload[:c.start]), data)
				data = append(payload, f.Payload[c.end:]...)
			}
			f.Payload = data
			if headers != nil {
				f.Headers = headers
			}
			edits = append(edits, edit{start, ends[i], string(f.Append(nil))})
		}
		start = ends[i]
	}
	return append(edits, shift(r.textEdits(b[at:], textForm), at)...)
}

// frameHeaders returns the headers of a frame with the secrets in their strings hidden; nil if there are none, or if they
// cannot be read.
func (r *Redactor) frameHeaders(b []byte) (hidden []byte) {
	// A header is the length of its name, the name, its type, and the value: for a string, two bytes of length before it.
	const stringType = 7
	sizes := [10]int{2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16} // of values by type; 6 and 7 say theirs
	done := 0
	for at := 0; at < len(b); {
		at += 1 + int(b[at])
		if at >= len(b) || int(b[at]) >= len(sizes) {
			return nil
		}
		kind := int(b[at])
		at++
		size := sizes[kind]
		if kind == stringType || kind == stringType-1 {
			if at+2 > len(b) {
				return nil
			}
			size = 2 + int(binary.BigEndian.Uint16(b[at:]))
		}
		if at+size > len(b) {
			return nil
		}
		if kind == stringType {
			value := b[at+2 : at+size]
			if edits := r.textEdits(value, textForm); len(edits) > 0 {
				value = apply(value, edits)
				hidden = binary.BigEndian.AppendUint16(append(hidden, b[done:at]...), uint16(len(value)))
				hidden = append(hidden, value...)
				done = at + size
			}
		}
		at += size
	}
	if hidden == nil {
		return nil
	}
	return append(hidden, b[done:]...)
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
