package genai

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/genai"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/sdktest/conformance"
)

var models = conformance.SDK[*genai.Client]{
	New: func(url string) *genai.Client {
		c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
		})
		if err != nil {
			panic(err)
		}
		return c
	},
	Text: func(ctx context.Context, c *genai.Client, prompt string) (string, error) {
		r, err := c.Models.GenerateContent(ctx, conformance.Model, genai.Text(prompt), nil)
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	},
	Stream: func(ctx context.Context, c *genai.Client, prompt string, each func(string) bool) error {
		for r, err := range c.Models.GenerateContentStream(ctx, conformance.Model, genai.Text(prompt), nil) {
			if err != nil {
				return err
			}
			if !each(r.Text()) {
				break
			}
		}
		return nil
	},
	Tool: func(ctx context.Context, c *genai.Client, prompt string, streamed bool) (string, string, error) {
		config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: "weather", Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}},
		}}}}}
		var calls []*genai.FunctionCall
		if streamed {
			for r, err := range c.Models.GenerateContentStream(ctx, conformance.Model, genai.Text(prompt), config) {
				if err != nil {
					return "", "", err
				}
				calls = append(calls, r.FunctionCalls()...)
			}
		} else {
			r, err := c.Models.GenerateContent(ctx, conformance.Model, genai.Text(prompt), config)
			if err != nil {
				return "", "", err
			}
			calls = r.FunctionCalls()
		}
		args, err := json.Marshal(calls[0].Args)
		return calls[0].Name, string(args), err
	},
	Status: func(err error) int {
		var e genai.APIError
		if errors.As(err, &e) {
			return e.Code
		}
		return 0
	},

	Provider: "gcp.gemini",
	Seam:     core.SeamHTTP,
	Paths:    12,
	Refused: map[string]func() error{
		"zero": conformance.Try(&genai.Client{}),
		"nil":  conformance.Try[*genai.Client](nil),
	},
}

func Test(t *testing.T) { conformance.Run(t, models) }
