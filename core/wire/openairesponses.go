package wire

import (
	"encoding/json"
	"strings"

	"github.com/mixtape-go/mixtape/bus"
)

// openAIResponses is OpenAI's responses format.
type openAIResponses struct{}

func (openAIResponses) Name() string      { return "openai.responses" }
func (openAIResponses) Operation() string { return "chat" }
func (openAIResponses) Owner() string     { return "openai" }

func (openAIResponses) Match(method, path string, body []byte) bool {
	return matchPost(method, path, "/responses", body)
}

func (openAIResponses) Layout() Layout { return openAIResponsesLayout }

var openAIResponsesLayout = Layout{Messages: "input", IDs: []string{"$.input[*].call_id"}, Deltas: []string{"$.delta"}}

func (openAIResponses) DecodeRequest(body []byte) (bus.DecodedRequest, error) {
	return decodeRequest("openai.responses", body, func(o object, r *bus.DecodedRequest) error {
		r.Extra = o.addTo(nil, "model", "stream", "instructions", "input")
		if instructions := o.get("instructions"); isString(instructions) {
			r.Messages = []bus.Message{{Role: bus.RoleSystem, Parts: responsesContent(instructions)}}
		} else {
			r.Messages = responsesItems(asList(instructions))
		}
		input := o.get("input")
		switch {
		case input == nil: // the prompt stands on the server
			return nil
		case isString(input):
			r.Messages = append(r.Messages, bus.Message{Role: bus.RoleUser, Parts: responsesContent(input)})
			return nil
		}
		list, err := o.mustList("input")
		r.Messages = append(r.Messages, responsesItems(list)...)
		return err
	})
}

func (openAIResponses) DecodeResponse(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	return decodeAnswer("openai.responses", &responsesReader{}, body, status, streamed)
}

// Ended implements [Format].
func (openAIResponses) Ended(stream []byte) Progress {
	return lastVerdict(stream, func(e SSEEvent) Progress {
		kind := e.Event
		if kind == "" {
			data, _ := parseObject(e.Data)
			if kind = data.text("type"); kind == "" && data.get("error") != nil {
				return Failed
			}
		}
		switch kind {
		case "response.completed", "response.incomplete":
			return Terminal
		case "response.failed", "error":
			return Failed
		}
		return Unfinished
	})
}

// plain reads a response object, which is also what a stream's last event holds.
func (*responsesReader) plain(o object, r *bus.DecodedResponse) error {
	r.ID, r.Model = o.text("id"), o.text("model")
	r.Usage = responsesUsage(o.object("usage"))
	r.Extra = o.addTo(nil, "id", "model", "output", "usage", "error", "status", "incomplete_details")
	list, err := o.mustList("output")
	if r.Error != nil {
		err = nil
	}
	m := bus.Message{Role: bus.RoleAssistant, FinishReason: responsesFinish(o)}
	for _, raw := range list {
		m.Parts = appendItem(m.Parts, raw)
	}
	if len(m.Parts) > 0 || m.FinishReason != "" && r.Error == nil {
		r.Messages = []bus.Message{m}
	}
	return err
}

// responsesFinish returns why the model stopped: the reason of an incomplete response, else its status once that is
// final.
func responsesFinish(o object) string {
	if reason := o.object("incomplete_details").text("reason"); reason != "" {
		return reason
	}
	switch status := o.text("status"); status {
	case "queued", "in_progress":
		return ""
	default:
		return status
	}
}

func responsesUsage(o object) *bus.Usage {
	input, hasInput := o.count("input_tokens")
	output, hasOutput := o.count("output_tokens")
	if !hasInput && !hasOutput {
		return nil
	}
	u := &bus.Usage{Input: input, Output: output}
	details := o.object("input_tokens_details")
	u.CacheRead, _ = details.count("cached_tokens")
	u.CacheWrite, _ = details.count("cache_write_tokens")
	u.Reasoning, _ = o.object("output_tokens_details").count("reasoning_tokens")
	return u
}

// responsesItems reads a list of items as messages. Items of the model that follow each other are one turn, and so one
// message.
func responsesItems(list []json.RawMessage) []bus.Message {
	var messages []bus.Message
	for _, raw := range list {
		who := itemRole(asObject(raw))
		if n := len(messages); n > 0 && who == bus.RoleAssistant && messages[n-1].Role == who {
			messages[n-1].Parts = appendItem(messages[n-1].Parts, raw)
			continue
		}
		messages = append(messages, bus.Message{Role: who, Parts: appendItem(nil, raw)})
	}
	return messages
}

func itemRole(o object) string {
	if word := o.text("role"); word != "" {
		return role(word)
	}
	if strings.HasSuffix(o.text("type"), "_output") {
		return bus.RoleTool
	}
	return bus.RoleAssistant
}

// appendItem adds what an item holds. Items that the provider's own tools made have no word in the neutral model.
func appendItem(parts []bus.Part, raw json.RawMessage) []bus.Part {
	o := asObject(raw)
	kind := o.text("type")
	if kind == "" && o.get("role") != nil {
		kind = "message"
	}
	switch kind {
	case "message":
		return append(parts, responsesContent(o.get("content"))...)
	case "function_call":
		return append(parts, bus.ToolCallPart{ID: o.text("call_id"), Name: o.text("name"), Arguments: arguments(o.get("arguments"))})
	case "custom_tool_call":
		return append(parts, bus.ToolCallPart{ID: o.text("call_id"), Name: o.text("name"), Arguments: arguments(o.get("input"))})
	case "function_call_output", "custom_tool_call_output":
		return append(parts, bus.ToolResponsePart{ID: o.text("call_id"), Response: o.get("output")})
	case "reasoning":
		r := bus.ReasoningPart{Content: joinTexts(o.list("content")), Signature: o.text("encrypted_content")}
		summary := o.get("summary")
		if r.Content == "" {
			r.Content = joinTexts(asList(summary))
		} else if !isEmpty(summary) {
			return append(parts, r, other("summary", summary))
		}
		return append(parts, r)
	}
	return append(parts, other(kind, raw))
}

func responsesContent(raw json.RawMessage) []bus.Part {
	switch {
	case isEmpty(raw):
		return nil
	case isString(raw):
		return []bus.Part{bus.TextPart{Content: asText(raw)}}
	case isArray(raw):
		var parts []bus.Part
		for _, p := range asList(raw) {
			parts = appendResponsesPart(parts, p)
		}
		return parts
	}
	return []bus.Part{other("content", raw)}
}

func appendResponsesPart(parts []bus.Part, raw json.RawMessage) []bus.Part {
	o := asObject(raw)
	kind := o.text("type")
	switch kind {
	case "input_text", "output_text", "text":
		parts = append(parts, bus.TextPart{Content: o.text("text")})
		return appendOthers(parts, o, "type", "text", "prompt_cache_breakpoint")
	case "input_image":
		if id := o.text("file_id"); id != "" {
			return append(parts, bus.FilePart{FileID: id})
		}
		if url := o.text("image_url"); url != "" {
			return append(parts, media(url, "image"))
		}
	case "input_file":
		if p := filePart(o); p != nil {
			return append(parts, p)
		}
	case "input_audio":
		if audio := o.object("input_audio"); audio.text("data") != "" {
			return append(parts, audioPart(audio))
		}
	}
	return append(parts, other(kind, raw))
}
