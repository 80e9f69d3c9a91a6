package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mixtape-go/mixtape/internal/modelserver"
)

var orderNumber = regexp.MustCompile(`\b\d{4}\b`)

// script is the model that the recordings of this example come from. What it says depends on the conversation alone, so
// that conversations may run side by side.
func script(r modelserver.Request) modelserver.Answer {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return modelserver.Answer{Status: 400, Text: err.Error()}
	}
	var question string
	var results []string // of the tools
	for _, m := range body.Messages {
		switch m.Role {
		case "user":
			question = m.Content
		case "tool":
			results = append(results, m.Content)
		}
	}
	order := orderNumber.FindString(question)
	switch {
	case order == "":
		return modelserver.Answer{Text: "I am sorry to hear that. Which order is it?"}
	case len(results) == 0:
		return asks("call_1", "lookup_order", fmt.Sprintf(`{"order":%q}`, order))
	case len(results) == 2:
		return modelserver.Answer{Text: "I am sorry that you were charged twice for order " + order + ". I have refunded $39.00 to your card."}
	case strings.Contains(results[0], "error"):
		return modelserver.Answer{Text: "I cannot find order " + order + ". Would you check its number?"}
	case strings.Contains(results[0], `"charged_cents":7800`):
		return asks("call_2", "refund", fmt.Sprintf(`{"order":%q,"cents":3900}`, order))
	}
	return modelserver.Answer{Text: "Order " + order + " was charged once, so there is nothing to refund."}
}

func asks(id, tool, arguments string) modelserver.Answer {
	return modelserver.Answer{Tools: []modelserver.ToolCall{{ID: id, Name: tool, Arguments: arguments}}}
}
