package modelserver

import "encoding/json"

var anthropic = format{
	name:        "anthropic.messages",
	contentType: "text/event-stream",
	plain: func(a Answer, model string) any {
		content := []object{}
		if a.Text != "" {
			content = append(content, object{"type": "text", "text": a.Text})
		}
		for _, t := range a.Tools {
			content = append(content, object{"type": "tool_use", "id": t.ID, "name": t.Name, "input": json.RawMessage(t.Arguments)})
		}
		m := anthropicMessage(model, content)
		m["stop_reason"], m["usage"] = anthropicStop(a), object{"input_tokens": InputTokens, "output_tokens": OutputTokens}
		return m
	},
	events: func(a Answer, model string) [][]byte {
		var events [][]byte
		event := func(kind string, o object) {
			o["type"] = kind
			events = append(events, sse(kind, o))
		}
		block := 0
		content := func(start object, kind, member, text string) {
			event("content_block_start", object{"index": block, "content_block": start})
			for _, p := range pieces(text) {
				event("content_block_delta", object{"index": block, "delta": object{"type": kind, member: p}})
			}
			event("content_block_stop", object{"index": block})
			block++
		}
		event("message_start", object{"message": anthropicMessage(model, []object{})})
		event("ping", object{})
		if a.Text != "" {
			content(object{"type": "text", "text": ""}, "text_delta", "text", a.Text)
		}
		for _, t := range a.Tools {
			content(object{"type": "tool_use", "id": t.ID, "name": t.Name, "input": object{}}, "input_json_delta", "partial_json", t.Arguments)
		}
		event("message_delta", object{
			"delta": object{"stop_reason": anthropicStop(a), "stop_sequence": nil},
			"usage": object{"output_tokens": OutputTokens},
		})
		event("message_stop", object{})
		return events
	},
	failure: func(a Answer) any {
		return object{"type": "error", "error": object{"type": "invalid_request_error", "message": a.Text}}
	},
}

func anthropicMessage(model string, content []object) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": InputTokens, "output_tokens": 1},
	}
}

func anthropicStop(a Answer) string {
	if len(a.Tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}
