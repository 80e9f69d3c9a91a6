package langchaingo

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// model is driven through the interface that programs hold.
func model(provider string, make func(url string) (llms.Model, error)) conformance.Framework[llms.Model] {
	return conformance.Framework[llms.Model]{
		New: func(t *testing.T, url string) llms.Model {
			m, err := make(url)
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		Text: func(ctx context.Context, m llms.Model, prompt string) (string, error) {
			return llms.GenerateFromSinglePrompt(ctx, m, prompt)
		},
		Provider: provider,
		Seam:     core.SeamHTTP,
	}
}

func TestOpenAI(t *testing.T) {
	conformance.RunFramework(t, model("openai", func(url string) (llms.Model, error) {
		return openai.New(openai.WithBaseURL(url+"/v1"), openai.WithToken("none"), openai.WithModel(conformance.Model))
	}))
}

func TestAnthropic(t *testing.T) {
	conformance.RunFramework(t, model("anthropic", func(url string) (llms.Model, error) {
		return anthropic.New(anthropic.WithBaseURL(url+"/v1"), anthropic.WithToken("none"), anthropic.WithModel(conformance.Model))
	}))
}

func TestOllama(t *testing.T) {
	conformance.RunFramework(t, model("ollama", func(url string) (llms.Model, error) {
		return ollama.New(ollama.WithServerURL(url), ollama.WithModel(conformance.Model))
	}))
}
