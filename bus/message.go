package bus

import (
	"encoding/json"
	"strings"
)

// Roles of a [Message], in the words of the OTel GenAI semantic conventions.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one turn of a conversation in the neutral model that all wire formats decode to.
type Message struct {
	// Role is "system", "user", "assistant" or "tool". A provider's own word for one of these ("developer", "model")
	// is translated; a role that means none of them is kept as it stands.
	Role string
	// Name is the participant's name, where the format has one.
	Name string
	// Parts are the contents, in order.
	Parts []Part
	// FinishReason is why the model stopped, in the provider's own words. It is set on output messages only.
	FinishReason string
}

// Text joins the text parts of m. Reasoning is not part of it.
func (m Message) Text() string {
	var s strings.Builder
	for _, p := range m.Parts {
		if t, ok := p.(TextPart); ok {
			s.WriteString(t.Content)
		}
	}
	return s.String()
}

// Part is one piece of a [Message]: a [TextPart], [ReasoningPart], [ToolCallPart], [ToolResponsePart], [BlobPart],
// [URIPart], [FilePart] or [OtherPart]. A switch over a Part needs a default: later versions may add kinds.
type Part interface{ part() }

// TextPart is plain text.
type TextPart struct{ Content string }

// ReasoningPart is what a model thought before it answered, as far as the provider shows it.
type ReasoningPart struct {
	Content string
	// Signature seals the content for the provider; it is opaque and tied to the very text.
	Signature string
}

// ToolCallPart is a model's wish that a tool be called.
type ToolCallPart struct {
	ID        string
	Name      string
	Arguments json.RawMessage // as the model wrote them: normally a JSON object, not checked to be valid JSON
}

// ToolResponsePart is a tool's answer on its way back to the model.
type ToolResponsePart struct {
	ID       string          // of the ToolCallPart that it answers
	Response json.RawMessage // a JSON string where the format carries plain text
}

// BlobPart is inline binary content.
type BlobPart struct {
	MIMEType string
	Modality string // "image", "audio", "video", "document", or empty
	Data     string // base64, as it stands on the wire
}

// URIPart refers to content elsewhere.
type URIPart struct {
	MIMEType string
	Modality string
	URI      string
}

// FilePart refers to content that was uploaded to the provider before.
type FilePart struct {
	MIMEType string
	FileID   string
}

// OtherPart keeps what the neutral model has no word for, as raw JSON of the wire format.
type OtherPart struct {
	Type string // the wire format's own name for it
	Raw  json.RawMessage
}

func (TextPart) part()         {}
func (ReasoningPart) part()    {}
func (ToolCallPart) part()     {}
func (ToolResponsePart) part() {}
func (BlobPart) part()         {}
func (URIPart) part()          {}
func (FilePart) part()         {}
func (OtherPart) part()        {}

// Usage counts tokens, as the OTel GenAI conventions count them.
type Usage struct {
	Input      int64 // all input tokens; contains CacheRead and CacheWrite
	Output     int64 // all output tokens; contains Reasoning
	CacheRead  int64 // input tokens that were served from the provider's cache
	CacheWrite int64 // input tokens that were written to the provider's cache
	Reasoning  int64 // output tokens spent on reasoning
}
