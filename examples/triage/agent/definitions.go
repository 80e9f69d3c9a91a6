package agent

import "github.com/openai/openai-go/v3"

// definitions tell the model of the tools.
var definitions = []openai.ChatCompletionToolUnionParam{
	openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:        "lookup_order",
		Description: openai.String("Looks up an order by its number."),
		Parameters: openai.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"order": map[string]any{"type": "string"}},
			"required":   []string{"order"},
		},
	}),
	openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:        "refund",
		Description: openai.String("Gives back what an order was charged too much, in cents."),
		Parameters: openai.FunctionParameters{
			"type": "object",
			"properties": map[string]any{
				"order": map[string]any{"type": "string"},
				"cents": map[string]any{"type": "integer"},
			},
			"required": []string{"order", "cents"},
		},
	}),
}
