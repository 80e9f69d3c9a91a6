package wire

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	const chat = `{"model":"m","messages":[],"stream":true}`
	tests := []struct {
		reason           string
		url              string
		body             string
		format, provider string
		model            string
		streamed         bool
	}{
		{"OpenAI", "https://api.openai.com/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"a regional host of OpenAI", "https://eu.api.openai.com/v1/responses", `{"model":"m","input":"x"}`, "openai.responses", "openai", "m", false},
		{"a local port", "http://127.0.0.1:8080/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"a proxy's path prefix", "https://llm.example.com/team/a/openai/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"no version in the path", "https://api.deepseek.com/chat/completions", chat, "openai.chat", "deepseek", "m", true},
		{"the port that Ollama likes says nothing", "http://localhost:11434/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"Groq", "https://api.groq.com/openai/v1/chat/completions", chat, "openai.chat", "groq", "m", true},
		{"Mistral", "https://api.mistral.ai/v1/chat/completions", chat, "openai.chat", "mistral_ai", "m", true},
		{"xAI", "https://api.x.ai/v1/chat/completions", chat, "openai.chat", "x_ai", "m", true},
		{"a host that only ends alike", "https://api.max.ai/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"Perplexity", "https://api.perplexity.ai/chat/completions", chat, "openai.chat", "perplexity", "m", true},
		{"Together", "https://api.together.xyz/v1/chat/completions", chat, "openai.chat", "together", "m", true},
		{"Fireworks", "https://api.fireworks.ai/inference/v1/chat/completions", chat, "openai.chat", "fireworks", "m", true},
		{"OpenRouter", "https://openrouter.ai/api/v1/chat/completions", chat, "openai.chat", "openrouter", "m", true},
		{"Gemini speaking OpenAI's format", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", chat, "openai.chat", "gcp.gemini", "m", true},
		{"Bedrock speaking OpenAI's format", "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/chat/completions", chat, "openai.chat", "aws.bedrock", "m", true},
		{"host names have no case", "https://API.OpenAI.com/v1/chat/completions", chat, "openai.chat", "openai", "m", true},
		{"Azure names the model in the path", "https://r1.openai.azure.com/openai/deployments/dev%2Fgpt4/chat/completions?api-version=1", `{"messages":[]}`, "openai.chat", "azure.ai.openai", "dev/gpt4", false},
		{"the body's model comes first", "https://r1.openai.azure.com/openai/deployments/dev/chat/completions", chat, "openai.chat", "azure.ai.openai", "m", true},
		{"Azure behind a gateway", "https://gw.example.com/openai/deployments/dev/chat/completions", `{"messages":[]}`, "openai.chat", "azure.ai.openai", "dev", false},
		{"Azure's v1 path", "https://r1.services.ai.azure.com/openai/v1/responses", `{"model":"m"}`, "openai.responses", "azure.ai.openai", "m", false},
		{"Azure's model inference", "https://r1.services.ai.azure.com/models/chat/completions?api-version=1", chat, "openai.chat", "azure.ai.inference", "m", true},
		{"Anthropic", "https://api.anthropic.com/v1/messages?beta=true", chat, "anthropic.messages", "anthropic", "m", true},
		{"Anthropic's format on Azure", "https://r1.services.ai.azure.com/anthropic/v1/messages", chat, "anthropic.messages", "anthropic", "m", true},
		{"Anthropic's format at DeepSeek", "https://api.deepseek.com/anthropic/v1/messages", chat, "anthropic.messages", "deepseek", "m", true},
		{"no model: a local server has one", "http://localhost/v1/chat/completions", `{"messages":[]}`, "openai.chat", "openai", "", false},
		{"of duplicates the last counts", "http://localhost/v1/chat/completions", `{"model":"a","stream":true,"model":"b","stream":false}`, "openai.chat", "openai", "b", false},
		{"names may be escaped", "http://localhost/v1/chat/completions", `{"mod\u0065l":"\u0061","stream":true}`, "openai.chat", "openai", "a", true},
		{"only top-level members count", "http://localhost/v1/chat/completions", `{"messages":[{"model":"x","stream":true}],"model":"a"}`, "openai.chat", "openai", "a", false},
		{"stream must be true", "http://localhost/v1/chat/completions", `{"model":"a","stream":"true"}`, "openai.chat", "openai", "a", false},
		{"space round the body", "http://localhost/v1/chat/completions", "\n {\"model\":\"a\"}\r\n", "openai.chat", "openai", "a", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			u, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			d, ok := Detect("POST", u, []byte(test.body))
			if !ok {
				t.Fatal("not detected")
			}
			got := [...]any{d.Format.Name(), d.Provider, d.Model, d.Streamed}
			want := [...]any{test.format, test.provider, test.model, test.streamed}
			if got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestDetectNot(t *testing.T) {
	tests := []struct{ reason, method, url, body string }{
		{"another method", "GET", "https://api.openai.com/v1/chat/completions", `{"model":"m"}`},
		{"another path of a known host", "POST", "https://api.openai.com/v1/files", `{"model":"m"}`},
		{"one response", "POST", "https://api.openai.com/v1/responses/resp_1", `{"model":"m"}`},
		{"cancelling a response", "POST", "https://api.openai.com/v1/responses/resp_1/cancel", `{"model":"m"}`},
		{"batches", "POST", "https://api.anthropic.com/v1/messages/batches", `{"model":"m"}`},
		{"counting tokens", "POST", "https://api.anthropic.com/v1/messages/count_tokens", `{"model":"m"}`},
		{"a path that only ends alike", "POST", "https://example.com/mychat/completions", `{"model":"m"}`},
		{"not JSON", "POST", "https://api.openai.com/v1/chat/completions", `hello`},
		{"JSON that is cut", "POST", "https://api.openai.com/v1/chat/completions", `{"model":"m","messages":[`},
		{"text after the object", "POST", "https://api.openai.com/v1/chat/completions", `{"model":"m"} x`},
		{"not an object", "POST", "https://api.openai.com/v1/chat/completions", `["model"]`},
		{"no body", "POST", "https://api.openai.com/v1/chat/completions", ``},
		{"neither a model nor messages", "POST", "https://survey.example.com/forms/1/responses", `{"answers":[1]}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			u, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := Detect(test.method, u, []byte(test.body)); ok {
				t.Errorf("detected as %s", d.Format.Name())
			}
		})
	}
	if _, ok := Detect("POST", nil, nil); ok {
		t.Error("a request without a URL was detected")
	}
}

func TestIsStream(t *testing.T) {
	for value, want := range map[string]bool{
		"text/event-stream":                  true,
		"Text/Event-Stream; charset=utf-8":   true,
		" text/event-stream ;x":              true,
		"application/x-ndjson":               true,
		"application/vnd.amazon.eventstream": true,
		"application/json":                   false,
		"text/event-streams":                 false,
		"":                                   false,
	} {
		if got := IsStream(http.Header{"Content-Type": {value}}); got != want {
			t.Errorf("%q: got %v", value, got)
		}
	}
	if IsStream(nil) {
		t.Error("no header announces a stream")
	}
}

func BenchmarkDetect(b *testing.B) {
	u, err := url.Parse("https://api.openai.com/v1/chat/completions")
	if err != nil {
		b.Fatal(err)
	}
	body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("some words ", 180) + `"}],"model":"m"}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Detect("POST", u, body); !ok {
			b.Fatal("not detected")
		}
	}
}
