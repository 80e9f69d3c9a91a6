package wire

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// anthropicReader reads answers in Anthropic's format. For a stream it holds what the events have made so far.
type anthropicReader struct {
	message object                     // of message_start
	changes map[string]json.RawMessage // of message_delta, to message
	totals  map[string]json.RawMessage // of message_delta, to its usage; nil until the first
	blocks  map[int64]*anthropicBlock
}

// anthropicBlock is one content block in the making.
type anthropicBlock struct {
	start     object
	deltas    map[string][]byte // texts, by the member of the block that they make up
	citations []json.RawMessage
}

func (c *anthropicReader) event(e SSEEvent, data object, r *bus.DecodedResponse) error {
	switch kind := eventType(e, data); kind {
	case "message_start":
		c.message = data.object("message")
	case "message_delta":
		c.changes = data.object("delta").addTo(c.changes)
		if c.totals == nil {
			c.totals = make(map[string]json.RawMessage)
		}
		for _, m := range data.object("usage") {
			if string(m.value) != "null" { // what does not apply keeps its first count
				c.totals[string(m.name)] = m.value
			}
		}
	case "content_block_start":
		c.block(data).start = data.object("content_block")
	case "content_block_delta":
		return c.block(data).add(data.object("delta"))
	case "error":
		if r.Error = data.get("error"); r.Error == nil {
			r.Error = e.Data
		}
	case "content_block_stop", "message_stop", "ping":
	default:
		r.Extra = object{{[]byte(kind), e.Data}}.addTo(r.Extra) // of a later version of the format
	}
	return nil
}

func (c *anthropicReader) block(data object) *anthropicBlock {
	if c.blocks == nil {
		c.blocks = make(map[int64]*anthropicBlock)
	}
	index, _ := data.count("index")
	b := c.blocks[index]
	if b == nil {
		b = &anthropicBlock{deltas: make(map[string][]byte)}
		c.blocks[index] = b
	}
	return b
}

func (b *anthropicBlock) add(delta object) error {
	switch kind := delta.text("type"); kind {
	case "text_delta":
		b.deltas["text"] = append(b.deltas["text"], delta.text("text")...)
	case "thinking_delta":
		b.deltas["thinking"] = append(b.deltas["thinking"], delta.text("thinking")...)
	case "signature_delta":
		b.deltas["signature"] = append(b.deltas["signature"], delta.text("signature")...)
	case "input_json_delta":
		b.deltas["input"] = append(b.deltas["input"], delta.text("partial_json")...)
	case "citations_delta":
		b.citations = append(b.citations, delta.get("citation"))
	default:
		return errors.New("unknown type of delta " + string(quote(kind)))
	}
	return nil
}

func (c *anthropicReader) finish(r *bus.DecodedResponse) {
	if c.message == nil && c.blocks == nil {
		return
	}
	var content []json.RawMessage
	for _, index := range slices.Sorted(maps.Keys(c.blocks)) {
		content = append(content, c.blocks[index].whole())
	}
	usage := c.message.object("usage").update(c.totals)
	message := c.message.update(c.changes).set("content", array(content))
	if len(usage) > 0 {
		message = message.set("usage", usage.raw())
	}
	failed, extra := r.Error, r.Extra
	r.Error = nil
	c.plain(message, r) // cannot fail: its content is a list
	r.Error = failed
	for name, value := range extra {
		r.Extra = object{{[]byte(name), value}}.addTo(r.Extra)
	}
	if c.totals == nil && r.Usage != nil {
		// The counts of a stream that was cut are no usage: its output had hardly begun when they were sent.
		r.Usage = nil
		r.Extra = object{{[]byte("usage"), usage.raw()}}.addTo(r.Extra)
	}
}

// whole returns the block as it would be had it ended here.
func (b *anthropicBlock) whole() json.RawMessage {
	o := b.start
	if o == nil {
		o = object{{[]byte("type"), quote("text")}}
	}
	for _, name := range slices.Sorted(maps.Keys(b.deltas)) {
		text := b.deltas[name]
		switch {
		case name != "input":
			text = append([]byte(o.text(name)), text...)
		case len(text) == 0:
			continue // a tool without arguments: the start says {}
		case jsonlex.Valid(text):
			o = o.set(name, text)
			continue
		}
		o = o.set(name, jsonlex.AppendQuoted(nil, text))
	}
	if b.citations != nil {
		o = o.set("citations", array(b.citations))
	}
	return o.raw()
}
