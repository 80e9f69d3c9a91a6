// Package modelserver is a scripted model on a local port: it answers in the wire formats of OpenAI (chat completions and
// responses), Anthropic, Gemini, Ollama, Cohere and Bedrock Converse, plain and streamed, as the request asks. Tests run real SDKs
// against it, and examples record from it, where a provider would cost money and a key.
//
//	s, err := modelserver.New(modelserver.Script(
//		modelserver.Answer{Status: 429, Header: http.Header{"Retry-After-Ms": {"1"}}},
//		modelserver.Answer{Text: "Hello."},
//	))
package modelserver
