package modelserver

import "encoding/json"

var ollama = format{
	name:        "ollama.chat",
	contentType: "application/x-ndjson",
	plain: func(a Answer, model string) any {
		return ollamaLine(model, a.Text, a.Tools, true)
	},
	events: func(a Answer, model string) [][]byte {
		var lines [][]byte
		for _, p := range pieces(a.Text) {
			lines = append(lines, line(ollamaLine(model, p, nil, false)))
		}
		return append(lines, line(ollamaLine(model, "", a.Tools, true)))
	},
	failure: func(a Answer) any { return object{"error": a.Text} },
}

func line(v any) []byte { return append(encode(v), '\n') }

func ollamaLine(model, text string, tools []ToolCall, done bool) object {
	message := object{"role": "assistant", "content": text}
	var calls []object
	for _, t := range tools {
		calls = append(calls, object{"function": object{"name": t.Name, "arguments": json.RawMessage(t.Arguments)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	o := object{"model": model, "created_at": "2025-01-01T00:00:00Z", "message": message, "done": done}
	if done {
		o["done_reason"], o["prompt_eval_count"], o["eval_count"] = "stop", InputTokens, OutputTokens
	}
	return o
}
