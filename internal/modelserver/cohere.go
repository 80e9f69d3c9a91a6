package modelserver

import "fmt"

var cohere = format{
	name:        "cohere.chat",
	contentType: "text/event-stream",
	plain: func(a Answer, model string) any {
		message := object{"role": "assistant"}
		if a.Text != "" {
			message["content"] = []object{{"type": "text", "text": a.Text}}
		}
		if len(a.Tools) > 0 {
			message["tool_calls"] = openAITools(a.Tools, false)
		}
		return object{"id": "c-1", "finish_reason": cohereFinish(a), "message": message, "usage": cohereUsage()}
	},
	events: func(a Answer, model string) [][]byte {
		var events [][]byte
		// The Go SDK takes a line end that stands alone in a read for an event: so the blank line comes first.
		event := func(kind string, o object) {
			o["type"] = kind
			events = append(events, fmt.Appendf(nil, "\ndata: %s\n", encode(o)))
		}
		event("message-start", object{"id": "c-1", "delta": object{"message": object{"role": "assistant", "content": []any{}}}})
		if a.Text != "" {
			event("content-start", object{"index": 0, "delta": object{"message": object{"content": object{"type": "text", "text": ""}}}})
			for _, p := range pieces(a.Text) {
				event("content-delta", object{"index": 0, "delta": object{"message": object{"content": object{"text": p}}}})
			}
			event("content-end", object{"index": 0})
		}
		for i, t := range openAITools(a.Tools, true) {
			delete(t, "index")
			event("tool-call-start", object{"index": i, "delta": object{"message": object{"tool_calls": t}}})
			for _, p := range pieces(a.Tools[i].Arguments) {
				event("tool-call-delta", object{"index": i, "delta": object{"message": object{"tool_calls": object{"function": object{"arguments": p}}}}})
			}
			event("tool-call-end", object{"index": i})
		}
		event("message-end", object{"id": "c-1", "delta": object{"finish_reason": cohereFinish(a), "usage": cohereUsage()}})
		return append(events, []byte("\ndata: [DONE]\n"))
	},
	failure: func(a Answer) any { return object{"message": a.Text} },
}

func cohereFinish(a Answer) string {
	if len(a.Tools) > 0 {
		return "TOOL_CALL"
	}
	return "COMPLETE"
}

func cohereUsage() object {
	tokens := object{"input_tokens": InputTokens, "output_tokens": OutputTokens}
	return object{"tokens": tokens, "billed_units": tokens}
}
