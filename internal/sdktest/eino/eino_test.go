package eino

import (
	"context"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/schema"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

func TestOpenAI(t *testing.T) {
	conformance.RunFramework(t, conformance.Framework[*openai.ChatModel]{
		New: func(t *testing.T, url string) *openai.ChatModel {
			m, err := openai.NewChatModel(t.Context(), &openai.ChatModelConfig{BaseURL: url + "/v1", APIKey: "none", Model: conformance.Model})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		Text: func(ctx context.Context, m *openai.ChatModel, prompt string) (string, error) {
			r, err := m.Generate(ctx, []*schema.Message{schema.UserMessage(prompt)})
			if err != nil {
				return "", err
			}
			return r.Content, nil
		},
		Provider: "openai",
		Seam:     core.SeamHTTP,
	})
}
