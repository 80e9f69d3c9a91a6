package modelserver

const created = 1735689600

var openAIChat = format{
	name:        "openai.chat",
	contentType: "text/event-stream",
	plain: func(a Answer, model string) any {
		message, finish := object{"role": "assistant", "content": a.Text}, "stop"
		if len(a.Tools) > 0 {
			message["tool_calls"], finish = openAITools(a.Tools, false), "tool_calls"
		}
		return object{
			"id": "chatcmpl-1", "object": "chat.completion", "created": created, "model": model,
			"choices": []object{{"index": 0, "message": message, "finish_reason": finish}},
			"usage":   openAIUsage(),
		}
	},
	events: func(a Answer, model string) [][]byte {
		var events [][]byte
		chunk := func(delta object, finish any, usage any) {
			choices := []object{}
			if delta != nil {
				choices = append(choices, object{"index": 0, "delta": delta, "finish_reason": finish})
			}
			events = append(events, sse("", object{
				"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": created, "model": model,
				"choices": choices, "usage": usage,
			}))
		}
		chunk(object{"role": "assistant", "content": ""}, nil, nil)
		for _, p := range pieces(a.Text) {
			chunk(object{"content": p}, nil, nil)
		}
		finish := "stop"
		for i, t := range openAITools(a.Tools, true) {
			finish = "tool_calls"
			chunk(object{"tool_calls": []any{t}}, nil, nil)
			for _, p := range pieces(a.Tools[i].Arguments) {
				chunk(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil, nil)
			}
		}
		chunk(object{}, finish, nil)
		chunk(nil, nil, openAIUsage())
		return append(events, sse("", "[DONE]"))
	},
	failure: openAIFailure,
}

// openAITools returns tool calls, without their arguments when these are streamed.
func openAITools(tools []ToolCall, streamed bool) []object {
	var all []object
	for i, t := range tools {
		o := object{"id": t.ID, "type": "function", "function": object{"name": t.Name, "arguments": t.Arguments}}
		if streamed {
			o["index"] = i
			o["function"] = object{"name": t.Name, "arguments": ""}
		}
		all = append(all, o)
	}
	return all
}

func openAIUsage() object {
	return object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens}
}

func openAIFailure(a Answer) any {
	return object{"error": object{"message": a.Text, "type": "invalid_request_error", "param": nil, "code": nil}}
}

var openAIResponses = format{
	name:        "openai.responses",
	contentType: "text/event-stream",
	plain: func(a Answer, model string) any {
		return response(a, model, "completed", responseItems(a))
	},
	events: func(a Answer, model string) [][]byte {
		var events [][]byte
		event := func(kind string, o object) {
			o["type"], o["sequence_number"] = kind, len(events)
			events = append(events, sse(kind, o))
		}
		event("response.created", object{"response": response(a, model, "in_progress", []object{})})
		items := responseItems(a)
		for i, item := range items {
			event("response.output_item.added", object{"output_index": i, "item": item})
			if item["type"] == "function_call" {
				for _, p := range pieces(item["arguments"].(string)) {
					event("response.function_call_arguments.delta", object{"output_index": i, "item_id": item["id"], "delta": p})
				}
				event("response.function_call_arguments.done", object{"output_index": i, "item_id": item["id"], "arguments": item["arguments"]})
			} else {
				for _, p := range pieces(a.Text) {
					event("response.output_text.delta", object{"output_index": i, "content_index": 0, "item_id": item["id"], "delta": p})
				}
				event("response.output_text.done", object{"output_index": i, "content_index": 0, "item_id": item["id"], "text": a.Text})
			}
			event("response.output_item.done", object{"output_index": i, "item": item})
		}
		event("response.completed", object{"response": response(a, model, "completed", items)})
		return events
	},
	failure: openAIFailure,
}

func response(a Answer, model, status string, output []object) object {
	return object{
		"id": "resp_1", "object": "response", "created_at": created, "model": model, "status": status,
		"output": output, "parallel_tool_calls": true, "tools": []any{}, "error": nil,
		"usage": object{
			"input_tokens": InputTokens, "output_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

func responseItems(a Answer) []object {
	items := []object{}
	if a.Text != "" {
		items = append(items, object{
			"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.Text, "annotations": []any{}}},
		})
	}
	for _, t := range a.Tools {
		items = append(items, object{
			"id": "fc_" + t.ID, "type": "function_call", "status": "completed",
			"call_id": t.ID, "name": t.Name, "arguments": t.Arguments,
		})
	}
	return items
}
