package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// format is one provider's wire format.
type format struct {
	name        string
	contentType string // of a stream
	plain       func(a Answer, model string) any
	events      func(a Answer, model string) [][]byte // framed
	failure     func(a Answer) any
}

// detect says in which format a request is, and fills in what the format tells.
func detect(r *Request) *format {
	var body struct {
		Model  string
		Stream *bool
	}
	_ = json.Unmarshal(r.Body, &body)
	r.Model, r.Streamed = body.Model, body.Stream != nil && *body.Stream
	var f *format
	switch p := r.Path; {
	case strings.HasSuffix(p, "/chat/completions"):
		f = &openAIChat
	case strings.HasSuffix(p, "/responses"):
		f = &openAIResponses
	case strings.HasSuffix(p, "/messages"):
		f = &anthropic
	case strings.HasSuffix(p, "/v2/chat"):
		f = &cohere
	case strings.HasSuffix(p, "/api/chat"):
		f = &ollama
		r.Streamed = body.Stream == nil || *body.Stream
	case strings.Contains(p, ":generateContent"), strings.Contains(p, ":streamGenerateContent"):
		f = &gemini
		r.Model, r.Streamed = between(p, "/models/", ":"), strings.Contains(p, ":stream")
	case strings.HasSuffix(p, "/converse"), strings.HasSuffix(p, "/converse-stream"):
		f = &bedrock
		r.Model, r.Streamed = between(p, "/model/", "/"), strings.HasSuffix(p, "-stream")
	default:
		return nil
	}
	r.Format = f.name
	return f
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// sse frames one server-sent event; name may be empty.
func sse(name string, data any) []byte {
	text, ok := data.(string)
	if !ok {
		text = string(encode(data))
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	return fmt.Appendf(nil, "%sdata: %s\n\n", name, text)
}
