package fantasy

import (
	"context"
	"testing"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

// model is what can be instrumented: a provider makes a client for each model that it is asked for.
func model(name string, seam core.Seam, provider func(url string) (fantasy.Provider, error)) conformance.Framework[fantasy.LanguageModel] {
	return conformance.Framework[fantasy.LanguageModel]{
		New: func(t *testing.T, url string) fantasy.LanguageModel {
			p, err := provider(url)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.LanguageModel(t.Context(), conformance.Model)
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		Text: func(ctx context.Context, m fantasy.LanguageModel, prompt string) (string, error) {
			r, err := m.Generate(ctx, fantasy.Call{Prompt: fantasy.Prompt{fantasy.NewUserMessage(prompt)}})
			if err != nil {
				return "", err
			}
			return r.Content.Text(), nil
		},
		Provider: name,
		Seam:     seam,
	}
}

func TestOpenAI(t *testing.T) {
	conformance.RunFramework(t, model("openai", core.SeamPerCall, func(url string) (fantasy.Provider, error) {
		return openai.New(openai.WithBaseURL(url+"/v1"), openai.WithAPIKey("none"))
	}))
}

func TestAnthropic(t *testing.T) {
	conformance.RunFramework(t, model("anthropic", core.SeamPerCall, func(url string) (fantasy.Provider, error) {
		return anthropic.New(anthropic.WithBaseURL(url), anthropic.WithAPIKey("none"))
	}))
}

func TestGoogle(t *testing.T) {
	conformance.RunFramework(t, model("gcp.gemini", core.SeamHTTP, func(url string) (fantasy.Provider, error) {
		return google.New(google.WithBaseURL(url), google.WithGeminiAPIKey("none"))
	}))
}

// TestProvider: a provider has no client yet; it is refused with a remedy, not instrumented in vain.
func TestProvider(t *testing.T) {
	p, err := openai.New(openai.WithAPIKey("none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := core.TryInstrument(p); err == nil {
		t.Error("no error")
	}
}
