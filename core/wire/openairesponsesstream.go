package wire

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// responsesReader reads answers in the responses format. For a stream it holds what the events have made so far.
//
// The last event of a stream holds the whole response and is what counts. A stream that was cut has none, and some
// servers leave its output empty: then the items are put together from the events before it.
type responsesReader struct {
	latest object // the response as an event last showed it
	items  map[int64]*responsesItem
}

// responsesItem is one output item in the making.
type responsesItem struct {
	raw    json.RawMessage // as it was when it was added, or is when done
	done   bool
	pieces map[pieceKey][]byte
}

// pieceKey names a text that deltas make: a part of content or summary, or the arguments of a call.
type pieceKey struct {
	kind  string // the part's type; empty for a call's arguments
	index int64
}

func (c *responsesReader) event(e SSEEvent, data object, r *bus.DecodedResponse) error {
	kind := eventType(e, data)
	if response := data.object("response"); response != nil {
		c.latest = response
		if err := response.get("error"); err != nil {
			r.Error = err
		}
		return nil
	}
	switch kind {
	case "error", "": // without a type from proxies
		if err := data.get("error"); err != nil {
			r.Error = err
		} else if kind == "error" {
			r.Error = e.Data
		}
	case "response.output_item.added":
		c.item(data).raw = data.get("item")
	case "response.output_item.done":
		item := c.item(data)
		item.raw, item.done = data.get("item"), true
	case "response.output_text.delta":
		c.item(data).add(pieceKey{"output_text", at(data, "content_index")}, data)
	case "response.refusal.delta":
		c.item(data).add(pieceKey{"refusal", at(data, "content_index")}, data)
	case "response.reasoning_text.delta":
		c.item(data).add(pieceKey{"reasoning_text", at(data, "content_index")}, data)
	case "response.reasoning_summary_text.delta":
		c.item(data).add(pieceKey{"summary_text", at(data, "summary_index")}, data)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		c.item(data).add(pieceKey{}, data)
	}
	return nil
}

func at(data object, name string) int64 {
	n, _ := data.count(name)
	return n
}

func (c *responsesReader) item(data object) *responsesItem {
	if c.items == nil {
		c.items = make(map[int64]*responsesItem)
	}
	index := at(data, "output_index")
	item := c.items[index]
	if item == nil {
		item = &responsesItem{pieces: make(map[pieceKey][]byte)}
		c.items[index] = item
	}
	return item
}

func (i *responsesItem) add(key pieceKey, data object) {
	i.pieces[key] = append(i.pieces[key], data.text("delta")...)
}

func (c *responsesReader) finish(r *bus.DecodedResponse) {
	failed := r.Error
	response := c.latest
	if isEmpty(response.get("output")) {
		var output []json.RawMessage
		for _, index := range slices.Sorted(maps.Keys(c.items)) {
			output = append(output, c.items[index].whole())
		}
		response = response.set("output", array(output))
	}
	c.plain(response, r) // cannot fail: its output is a list
	r.Error = failed
}

// whole returns the item as it would be had it ended here.
func (i *responsesItem) whole() json.RawMessage {
	if i.done && i.raw != nil {
		return i.raw
	}
	o := asObject(i.raw)
	var content, summary []json.RawMessage
	kind, args := "message", []byte(nil)
	for _, key := range slices.SortedFunc(maps.Keys(i.pieces), pieceKey.compare) {
		text := jsonlex.AppendQuoted(nil, i.pieces[key])
		part := object{{[]byte("type"), quote(key.kind)}, {[]byte(key.member()), text}}
		switch key.kind {
		case "":
			kind, args = "function_call", text
		case "summary_text":
			kind, summary = "reasoning", append(summary, part.raw())
		case "reasoning_text":
			kind, content = "reasoning", append(content, part.raw())
		default:
			content = append(content, part.raw())
		}
	}
	if o == nil {
		o = object{{[]byte("type"), quote(kind)}}
	}
	if args != nil && o.text("type") == "custom_tool_call" {
		o = o.set("input", args)
	} else if args != nil {
		o = o.set("arguments", args)
	}
	if content != nil {
		o = o.set("content", array(content))
	}
	if summary != nil {
		o = o.set("summary", array(summary))
	}
	return o.raw()
}

// member returns the name of the member that holds the text of a part.
func (k pieceKey) member() string {
	if k.kind == "refusal" {
		return "refusal"
	}
	return "text"
}

func (k pieceKey) compare(other pieceKey) int {
	return cmp.Or(cmp.Compare(k.index, other.index), cmp.Compare(k.kind, other.kind))
}
