package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mixtape-go/mixtape/bus"
)

// openAIChat is OpenAI's chat completions format, which most other providers speak too.
type openAIChat struct{}

func (openAIChat) Name() string      { return "openai.chat" }
func (openAIChat) Operation() string { return "chat" }
func (openAIChat) Owner() string     { return "openai" }

func (openAIChat) Match(method, path string, body []byte) bool {
	return matchPost(method, path, "/chat/completions", body)
}

func (openAIChat) Layout() Layout { return openAIChatLayout }

var openAIChatLayout = Layout{
	Messages: "messages",
	IDs:      []string{"$.messages[*].tool_calls[*].id", "$.messages[*].tool_call_id"},
	Deltas: []string{
		"$.choices[*].delta.content", "$.choices[*].delta.content[*].text", "$.choices[*].delta.refusal",
		"$.choices[*].delta.reasoning", "$.choices[*].delta.reasoning_content", "$.choices[*].delta.reasoning_details[*].text",
		"$.choices[*].delta.tool_calls[*].function.arguments", "$.choices[*].delta.tool_calls[*].custom.input",
		"$.choices[*].delta.function_call.arguments", "$.choices[*].delta.audio.transcript",
	},
}

func (openAIChat) DecodeRequest(body []byte) (bus.DecodedRequest, error) {
	return decodeRequest("openai.chat", body, func(o object, r *bus.DecodedRequest) error {
		r.Extra = o.addTo(nil, "model", "stream", "messages")
		var err error
		r.Messages, err = decodeMessages(o, "messages", chatMessage)
		return err
	})
}

func (openAIChat) DecodeResponse(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	return decodeAnswer("openai.chat", &chatReader{}, body, status, streamed)
}

// Ended implements [Format]. The terminal marker is [DONE], which every server of the format sends: a finish reason
// alone is none, since usage may still follow it. An error stays one when [DONE] follows.
func (openAIChat) Ended(stream []byte) Progress {
	if mayHoldError(stream) && lastVerdict(stream, chatFailure) == Failed {
		return Failed
	}
	return lastVerdict(stream, func(e SSEEvent) Progress {
		if isDone(e.Data) {
			return Terminal
		}
		return Unfinished
	})
}

func chatFailure(e SSEEvent) Progress {
	if mayHoldError(e.Data) {
		if data, _ := parseObject(e.Data); chatError(data, e.Data) != nil {
			return Failed
		}
	}
	return Unfinished
}

func mayHoldError(text []byte) bool { return bytes.Contains(text, []byte(`"error"`)) }

// chatError returns the error that a chunk carries: in a member, or, from vLLM, in its place.
func chatError(chunk object, raw []byte) json.RawMessage {
	if err := chunk.get("error"); err != nil {
		return err
	}
	if chunk.text("object") == "error" {
		return raw
	}
	return nil
}

// plain reads a chat.completion.
func (*chatReader) plain(o object, r *bus.DecodedResponse) error {
	r.ID, r.Model = o.text("id"), o.text("model")
	r.Usage = chatUsage(o)
	r.Extra = o.addTo(nil, "id", "model", "choices", "usage", "error")
	list, err := o.mustList("choices")
	if r.Error != nil {
		err = nil
	}
	for _, raw := range list {
		choice := asObject(raw)
		m := chatMessage(choice.object("message"))
		if m.Role == "" {
			m.Role = bus.RoleAssistant
		}
		m.FinishReason = choice.text("finish_reason")
		m.Parts = appendOthers(m.Parts, choice, "index", "message", "finish_reason")
		r.Messages = append(r.Messages, m)
	}
	return err
}

// chatUsage returns the usage of an answer or a chunk, nil when it has none.
func chatUsage(o object) *bus.Usage {
	usage := o.object("usage")
	if usage == nil {
		usage = o.object("x_groq").object("usage") // in streams
	}
	input, hasInput := usage.count("prompt_tokens")
	output, hasOutput := usage.count("completion_tokens")
	if !hasInput && !hasOutput {
		return nil
	}
	u := &bus.Usage{Input: input, Output: output}
	prompt := usage.object("prompt_tokens_details")
	if n, ok := prompt.count("cached_tokens"); ok {
		u.CacheRead = n
	} else {
		u.CacheRead, _ = usage.count("prompt_cache_hit_tokens") // DeepSeek
	}
	u.CacheWrite, _ = prompt.count("cache_write_tokens")
	u.Reasoning, _ = usage.object("completion_tokens_details").count("reasoning_tokens")
	if total, ok := usage.count("total_tokens"); ok && total == input+output+u.Reasoning {
		u.Output = output + u.Reasoning // xAI counts reasoning apart: the total says so
	}
	return u
}

// chatMessage reads one message of a request or an answer.
func chatMessage(o object) bus.Message {
	word := o.text("role")
	m := bus.Message{Role: role(word), Name: o.text("name")}
	known := []string{"role", "name", "content"}
	if m.Role == bus.RoleTool {
		m.Parts = []bus.Part{bus.ToolResponsePart{ID: o.text("tool_call_id"), Response: o.get("content")}}
		m.Parts = appendOthers(m.Parts, o, append(known, "tool_call_id")...)
		return m
	}

	if text := chatReasoning(o); text != "" {
		m.Parts = append(m.Parts, bus.ReasoningPart{Content: text})
		for _, name := range []string{"reasoning_content", "reasoning"} {
			if o.text(name) == text {
				known = append(known, name)
			}
		}
	}
	m.Parts = append(m.Parts, chatContent(o.get("content"))...)
	if audio := o.object("audio"); audio != nil {
		m.Parts = appendAudio(m.Parts, audio)
		known = append(known, "audio")
	}
	if calls := o.get("tool_calls"); isArray(calls) {
		for _, raw := range asList(calls) {
			m.Parts = append(m.Parts, chatToolCall(raw))
		}
		known = append(known, "tool_calls")
	}
	if call := o.object("function_call"); call != nil {
		m.Parts = append(m.Parts, bus.ToolCallPart{Name: call.text("name"), Arguments: arguments(call.get("arguments"))})
		known = append(known, "function_call")
	}
	m.Parts = appendOthers(m.Parts, o, known...)
	return m
}

// chatReasoning returns what the model thought. The format has no word for it; servers use these two, some of them both
// for the same text.
func chatReasoning(o object) string {
	if text := o.text("reasoning_content"); text != "" {
		return text
	}
	return o.text("reasoning")
}

func chatContent(raw json.RawMessage) []bus.Part {
	switch {
	case isEmpty(raw):
		return nil
	case isString(raw):
		return []bus.Part{bus.TextPart{Content: asText(raw)}}
	case isArray(raw):
		var parts []bus.Part
		for _, p := range asList(raw) {
			parts = append(parts, chatPart(p))
		}
		return parts
	}
	return []bus.Part{other("content", raw)}
}

func chatPart(raw json.RawMessage) bus.Part {
	if isString(raw) {
		return bus.TextPart{Content: asText(raw)}
	}
	o := asObject(raw)
	kind := o.text("type")
	switch kind {
	case "text":
		return bus.TextPart{Content: o.text("text")}
	case "image_url":
		if url := o.object("image_url").text("url"); url != "" {
			return media(url, "image")
		}
		if url := o.text("image_url"); url != "" { // Mistral
			return media(url, "image")
		}
	case "input_audio":
		if audio := o.object("input_audio"); audio.text("data") != "" {
			return audioPart(audio)
		}
	case "file":
		if p := filePart(o.object("file")); p != nil {
			return p
		}
	case "thinking": // Mistral
		if text := joinTexts(o.list("thinking")); text != "" {
			return bus.ReasoningPart{Content: text}
		}
	}
	return other(kind, raw)
}

// audioPart reads an input_audio, as both of OpenAI's formats write it.
func audioPart(o object) bus.Part {
	return bus.BlobPart{MIMEType: "audio/" + o.text("format"), Modality: "audio", Data: o.text("data")}
}

// filePart reads a file, as both of OpenAI's formats write it; nil when there is none.
func filePart(o object) bus.Part {
	if id := o.text("file_id"); id != "" {
		return bus.FilePart{FileID: id}
	}
	if url := o.text("file_url"); url != "" {
		return media(url, "document")
	}
	if data := o.text("file_data"); data != "" {
		if strings.HasPrefix(data, "data:") {
			return media(data, "document")
		}
		return bus.BlobPart{Modality: "document", Data: data}
	}
	return nil
}

func joinTexts(list []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range list {
		b.WriteString(asObject(raw).text("text"))
	}
	return b.String()
}

func chatToolCall(raw json.RawMessage) bus.Part {
	o := asObject(raw)
	if f := o.object("function"); f != nil {
		return bus.ToolCallPart{ID: o.text("id"), Name: f.text("name"), Arguments: arguments(f.get("arguments"))}
	}
	if c := o.object("custom"); c != nil {
		return bus.ToolCallPart{ID: o.text("id"), Name: c.text("name"), Arguments: arguments(c.get("input"))}
	}
	return other(o.text("type"), raw)
}

// arguments returns what a model wrote as a tool's arguments: the text inside a JSON string, or JSON as it stands, from
// servers that do not wrap it.
func arguments(raw json.RawMessage) json.RawMessage {
	if isString(raw) {
		return json.RawMessage(asText(raw))
	}
	return raw
}

// appendAudio keeps the sound as a blob and what is said about it apart.
func appendAudio(parts []bus.Part, audio object) []bus.Part {
	if data := audio.text("data"); data != "" {
		parts = append(parts, bus.BlobPart{Modality: "audio", Data: data})
	}
	return append(parts, other("audio", audio.without("data").raw()))
}

// appendOthers keeps the members of o that are not among known and say something.
func appendOthers(parts []bus.Part, o object, known ...string) []bus.Part {
next:
	for _, m := range o {
		for _, k := range known {
			if string(m.name) == k {
				continue next
			}
		}
		if !isEmpty(m.value) {
			parts = append(parts, other(string(m.name), m.value))
		}
	}
	return parts
}

// mustList is list for a member that a body cannot do without.
func (o object) mustList(name string) ([]json.RawMessage, error) {
	raw := o.get(name)
	if !isArray(raw) {
		return nil, errors.New("member " + name + " is not an array")
	}
	return parseArray(raw)
}
