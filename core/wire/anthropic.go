package wire

import (
	"encoding/json"

	"github.com/mixtape-go/mixtape/bus"
)

// anthropicMessages is Anthropic's messages format.
type anthropicMessages struct{}

func (anthropicMessages) Name() string      { return "anthropic.messages" }
func (anthropicMessages) Operation() string { return "chat" }
func (anthropicMessages) Owner() string     { return "anthropic" }

func (anthropicMessages) Match(method, path string, body []byte) bool {
	return matchPost(method, path, "/v1/messages", body)
}

func (anthropicMessages) Layout() Layout { return anthropicLayout }

var anthropicLayout = Layout{
	Messages: "messages",
	IDs:      []string{"$.messages[*].content[*].id", "$.messages[*].content[*].tool_use_id"},
	Deltas: []string{
		"$.delta.text", "$.delta.thinking", "$.delta.signature", "$.delta.partial_json",
	},
}

func (anthropicMessages) DecodeRequest(body []byte) (bus.DecodedRequest, error) {
	return decodeRequest("anthropic.messages", body, func(o object, r *bus.DecodedRequest) error {
		r.Extra = o.addTo(nil, "model", "stream", "system", "messages")
		if system := anthropicContent(o.get("system")); len(system) > 0 {
			r.Messages = []bus.Message{{Role: bus.RoleSystem, Parts: system}}
		}
		messages, err := decodeMessages(o, "messages", func(m object) bus.Message {
			return bus.Message{Role: m.text("role"), Parts: anthropicContent(m.get("content"))}
		})
		r.Messages = append(r.Messages, messages...)
		return err
	})
}

func (anthropicMessages) DecodeResponse(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	return decodeAnswer("anthropic.messages", &anthropicReader{}, body, status, streamed)
}

// Ended implements [Format].
func (anthropicMessages) Ended(stream []byte) Progress {
	return lastVerdict(stream, func(e SSEEvent) Progress {
		kind := e.Event
		if kind == "" {
			data, _ := parseObject(e.Data)
			kind = data.text("type")
		}
		switch kind {
		case "message_stop":
			return Terminal
		case "error":
			return Failed
		}
		return Unfinished
	})
}

// plain reads a message.
func (*anthropicReader) plain(o object, r *bus.DecodedResponse) error {
	r.ID, r.Model = o.text("id"), o.text("model")
	r.Usage = anthropicUsage(o.object("usage"))
	r.Extra = o.addTo(nil, "id", "model", "role", "content", "usage", "stop_reason", "error")
	list, err := o.mustList("content")
	if r.Error != nil {
		return nil
	}
	m := bus.Message{Role: bus.RoleAssistant, FinishReason: o.text("stop_reason")}
	for _, raw := range list {
		m.Parts = appendBlock(m.Parts, raw)
	}
	if err == nil {
		r.Messages = []bus.Message{m}
	}
	return err
}

// anthropicUsage adds up what Anthropic counts apart: its input tokens are those outside the cache.
func anthropicUsage(o object) *bus.Usage {
	input, hasInput := o.count("input_tokens")
	output, hasOutput := o.count("output_tokens")
	if !hasInput && !hasOutput {
		return nil
	}
	u := &bus.Usage{Output: output}
	u.CacheRead, _ = o.count("cache_read_input_tokens")
	u.CacheWrite, _ = o.count("cache_creation_input_tokens")
	u.Reasoning, _ = o.object("output_tokens_details").count("thinking_tokens")
	u.Input = input + u.CacheRead + u.CacheWrite
	return u
}

func anthropicContent(raw json.RawMessage) []bus.Part {
	switch {
	case isEmpty(raw):
		return nil
	case isString(raw):
		return []bus.Part{bus.TextPart{Content: asText(raw)}}
	case isArray(raw):
		var parts []bus.Part
		for _, block := range asList(raw) {
			parts = appendBlock(parts, block)
		}
		return parts
	}
	return []bus.Part{other("content", raw)}
}

// appendBlock adds what a content block holds. Redacted thinking and what the provider's own tools did have no word in
// the neutral model and are kept as they stand.
func appendBlock(parts []bus.Part, raw json.RawMessage) []bus.Part {
	o := asObject(raw)
	kind := o.text("type")
	switch kind {
	case "text":
		parts = append(parts, bus.TextPart{Content: o.text("text")})
		return appendOthers(parts, o, "type", "text", "cache_control")
	case "thinking":
		return append(parts, bus.ReasoningPart{Content: o.text("thinking"), Signature: o.text("signature")})
	case "tool_use":
		return append(parts, bus.ToolCallPart{ID: o.text("id"), Name: o.text("name"), Arguments: arguments(o.get("input"))})
	case "tool_result":
		parts = append(parts, bus.ToolResponsePart{ID: o.text("tool_use_id"), Response: o.get("content")})
		if string(o.get("is_error")) == "true" {
			parts = append(parts, other("is_error", o.get("is_error")))
		}
		return parts
	case "image", "document":
		if p := anthropicSource(o.object("source"), kind); p != nil {
			return append(parts, p)
		}
	}
	return append(parts, other(kind, raw))
}

// anthropicSource returns the part for an image or a document; nil when its source is text or unknown.
func anthropicSource(o object, modality string) bus.Part {
	switch o.text("type") {
	case "base64":
		return bus.BlobPart{MIMEType: o.text("media_type"), Modality: modality, Data: o.text("data")}
	case "url":
		return bus.URIPart{Modality: modality, URI: o.text("url")}
	case "file":
		return bus.FilePart{FileID: o.text("file_id")}
	}
	return nil
}
