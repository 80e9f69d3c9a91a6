package modelserver

import "encoding/json"

var gemini = format{
	name:        "gemini.generate_content",
	contentType: "text/event-stream",
	plain: func(a Answer, model string) any {
		var parts []object
		if a.Text != "" {
			parts = append(parts, object{"text": a.Text})
		}
		return geminiChunk(model, append(parts, geminiTools(a)...), "STOP")
	},
	events: func(a Answer, model string) [][]byte {
		var events [][]byte
		for _, p := range pieces(a.Text) {
			events = append(events, sse("", geminiChunk(model, []object{{"text": p}}, "")))
		}
		return append(events, sse("", geminiChunk(model, append([]object{{"text": ""}}, geminiTools(a)...), "STOP")))
	},
	failure: func(a Answer) any {
		return object{"error": object{"code": a.Status, "message": a.Text, "status": "INVALID_ARGUMENT"}}
	},
}

func geminiTools(a Answer) []object {
	var parts []object
	for _, t := range a.Tools {
		parts = append(parts, object{"functionCall": object{"name": t.Name, "args": json.RawMessage(t.Arguments)}})
	}
	return parts
}

func geminiChunk(model string, parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": model, "responseId": "resp-1",
		"usageMetadata": object{
			"promptTokenCount": InputTokens, "candidatesTokenCount": OutputTokens, "totalTokenCount": InputTokens + OutputTokens,
		},
	}
}
