package wire

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mixtape-go/mixtape/bus"
)

// chatReader reads chat answers. For a stream it holds what the chunks have made so far.
type chatReader struct{ choices map[int64]*chatChoice }

// chatChoice is one choice of a streamed answer.
type chatChoice struct {
	role   string
	finish string
	pieces []*chatPiece
	calls  map[callKey]*chatPiece
	audio  pieceMap
	others pieceMap
}

// callKey finds the tool call that a delta belongs to. Without an id it finds the latest of its index.
type callKey struct {
	index int64
	id    string
}

// chatPiece is one part in the making: text, reasoning or a tool call, or a part that came whole.
type chatPiece struct {
	whole     bus.Part
	reasoning bool
	call      bool
	text      []byte // of a call: its arguments
	id        string
	name      []byte
}

func (c *chatReader) event(e SSEEvent, chunk object, r *bus.DecodedResponse) error {
	if id := chunk.text("id"); id != "" {
		r.ID = id
	}
	if model := chunk.text("model"); model != "" {
		r.Model = model
	}
	if u := chatUsage(chunk); u != nil {
		r.Usage = u // counts are totals so far: the last stand
	}
	if err := chatError(chunk, e.Data); err != nil {
		r.Error = err
	}
	r.Extra = chunk.addTo(r.Extra, "id", "model", "choices", "usage", "error")
	for _, raw := range chunk.list("choices") {
		choice := asObject(raw)
		index, _ := choice.count("index")
		c.choice(index).add(choice)
	}
	return nil
}

func (c *chatReader) choice(index int64) *chatChoice {
	if c.choices == nil {
		c.choices = make(map[int64]*chatChoice)
	}
	choice := c.choices[index]
	if choice == nil {
		choice = &chatChoice{role: bus.RoleAssistant}
		c.choices[index] = choice
	}
	return choice
}

func (c *chatReader) finish(r *bus.DecodedResponse) {
	for _, index := range slices.Sorted(maps.Keys(c.choices)) {
		r.Messages = append(r.Messages, c.choices[index].message())
	}
}

// add takes what one chunk says of the choice.
func (c *chatChoice) add(choice object) {
	if reason := choice.text("finish_reason"); reason != "" {
		c.finish = reason
	}
	for _, m := range choice {
		switch string(m.name) {
		case "index", "delta", "message", "finish_reason":
		default:
			c.others.add(string(m.name), m.value)
		}
	}
	delta := choice.object("delta")
	if delta == nil {
		delta = choice.object("message")
	}
	reasoning := chatReasoning(delta)
	if reasoning != "" {
		p := c.open(true)
		p.text = append(p.text, reasoning...)
	}
	for _, m := range delta {
		switch name := string(m.name); {
		case name == "role":
			if word := asText(m.value); word != "" {
				c.role = role(word)
			}
		case name == "content":
			c.content(m.value)
		case name == "tool_calls" && isArray(m.value):
			for _, raw := range asList(m.value) {
				c.toolCall(asObject(raw), raw)
			}
		case name == "function_call" && isObject(m.value):
			call := asObject(m.value)
			c.call(-1, "").add(call.text("name"), call.get("arguments"))
		case name == "audio" && isObject(m.value):
			for _, a := range asObject(m.value) {
				c.audio.add(string(a.name), a.value)
			}
		case (name == "reasoning_content" || name == "reasoning") && isString(m.value) && asText(m.value) == reasoning:
			// taken above, or the same thought under its other name
		default:
			c.others.add(name, m.value)
		}
	}
}

// content takes a piece of the answer's content: text, or a list of parts.
func (c *chatChoice) content(raw json.RawMessage) {
	for _, part := range chatContent(raw) {
		switch part := part.(type) {
		case bus.TextPart:
			if part.Content != "" {
				p := c.open(false)
				p.text = append(p.text, part.Content...)
			}
		case bus.ReasoningPart:
			p := c.open(true)
			p.text = append(p.text, part.Content...)
		default:
			c.pieces = append(c.pieces, &chatPiece{whole: part})
		}
	}
}

// open returns the text or reasoning that the next piece of its kind belongs to.
func (c *chatChoice) open(reasoning bool) *chatPiece {
	if n := len(c.pieces); n > 0 {
		if p := c.pieces[n-1]; p.whole == nil && !p.call && p.reasoning == reasoning {
			return p
		}
	}
	p := &chatPiece{reasoning: reasoning}
	c.pieces = append(c.pieces, p)
	return p
}

func (c *chatChoice) toolCall(o object, raw json.RawMessage) {
	index, _ := o.count("index")
	id := o.text("id")
	if f := o.object("function"); f != nil {
		c.call(index, id).add(f.text("name"), f.get("arguments"))
	} else if custom := o.object("custom"); custom != nil {
		c.call(index, id).add(custom.text("name"), custom.get("input"))
	} else if id == "" || o.text("type") != "" && o.text("type") != "function" {
		c.pieces = append(c.pieces, &chatPiece{whole: other(o.text("type"), raw)})
	} else {
		c.call(index, id)
	}
}

// call returns the tool call that a delta belongs to: an id that has not been seen begins one, also under an index that
// is in use, since some servers give all calls one index; the same id or none goes on with the one it names.
func (c *chatChoice) call(index int64, id string) *chatPiece {
	latest := callKey{index: index}
	if c.calls == nil {
		c.calls = make(map[callKey]*chatPiece)
	}
	p := c.calls[callKey{index, id}]
	if before := c.calls[latest]; p == nil && before != nil && before.id == "" {
		p = before // the id comes late
	}
	if p == nil {
		p = &chatPiece{call: true}
		c.pieces = append(c.pieces, p)
	}
	if p.id == "" {
		p.id = id
	}
	c.calls[latest] = p
	c.calls[callKey{index, id}] = p
	return p
}

// add takes a piece of a call. Some servers repeat the name in each.
func (p *chatPiece) add(name string, args json.RawMessage) {
	if name != string(p.name) {
		p.name = append(p.name, name...)
	}
	p.text = append(p.text, arguments(args)...)
}

func (c *chatChoice) message() bus.Message {
	m := bus.Message{Role: c.role, FinishReason: c.finish}
	for _, p := range c.pieces {
		switch {
		case p.whole != nil:
			m.Parts = append(m.Parts, p.whole)
		case p.call:
			m.Parts = append(m.Parts, bus.ToolCallPart{ID: p.id, Name: string(p.name), Arguments: p.text})
		case p.reasoning:
			m.Parts = append(m.Parts, bus.ReasoningPart{Content: string(p.text)})
		default:
			m.Parts = append(m.Parts, bus.TextPart{Content: string(p.text)})
		}
	}
	if len(c.audio.names) > 0 {
		m.Parts = appendAudio(m.Parts, c.audio.object(isString))
	}
	m.Parts = appendOthers(m.Parts, c.others.object(func([]byte) bool { return true }))
	return m
}
