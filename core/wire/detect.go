package wire

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

func detect(method string, u *url.URL, body []byte) (Detected, bool) {
	if u == nil {
		return Detected{}, false
	}
	for _, f := range formats() {
		if !f.Match(method, u.Path, body) {
			continue
		}
		h, ok := peek(body, f.Layout().Messages)
		if h.model == "" {
			h.model = deployment(u)
		}
		if !ok || h.model == "" && !h.messages {
			return Detected{}, false
		}
		return Detected{Format: f, Provider: provider(u, f.Owner()), Model: h.model, Streamed: h.stream}, true
	}
	return Detected{}, false
}

// matchPost is the Match of the formats whose requests are JSON objects posted to one path.
func matchPost(method, path, suffix string, body []byte) bool {
	if method != http.MethodPost || !strings.HasSuffix(path, suffix) {
		return false
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '{'
}

// head is what detection needs of a request's body.
type head struct {
	model    string
	stream   bool
	messages bool // there is a message list
}

// peek reads body's head in one pass. ok is false when it is not one JSON object.
func peek(body []byte, messages string) (h head, ok bool) {
	var s jsonlex.Scanner
	s.Reset(body)
	if s.Next() != jsonlex.ObjectStart {
		return head{}, false
	}
	for {
		switch k := s.Next(); k {
		case jsonlex.ObjectEnd:
			return h, s.Next() == jsonlex.End
		case jsonlex.Name:
			name := unquote(s.Raw(), s.Escaped())
			if _, ok := skipValue(&s); !ok {
				return head{}, false
			}
			// A container's last token is its end: neither a string nor true.
			switch value := s.Raw(); string(name) {
			case "model":
				h.model = asText(value)
			case "stream":
				h.stream = string(value) == "true"
			case messages:
				h.messages = true
			}
		default:
			return head{}, false
		}
	}
}

const deployments = "/openai/deployments/"

// deployment returns the model that an Azure OpenAI path names, "" for other paths.
func deployment(u *url.URL) string {
	_, rest, ok := strings.Cut(u.EscapedPath(), deployments)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(name)
	if err != nil {
		return ""
	}
	return name
}

// provider returns OTel's gen_ai.provider.name for a request in a format of owner. What OTel has no name for has the
// name by which its makers call it.
func provider(u *url.URL, owner string) string {
	host := strings.ToLower(u.Hostname())
	under := func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }

	azure := under("openai.azure.com") || under("cognitiveservices.azure.com") || under("services.ai.azure.com")
	switch {
	case owner != "openai" && azure: // another's format on Azure's host
		return owner
	case azure && strings.HasPrefix(u.Path, "/models/"), under("models.ai.azure.com"):
		return "azure.ai.inference"
	case azure || strings.Contains(u.Path, deployments):
		return "azure.ai.openai"
	case under("amazonaws.com"):
		return "aws.bedrock"
	case under("aiplatform.googleapis.com") || strings.HasSuffix(host, "-aiplatform.googleapis.com"):
		return "gcp.vertex_ai"
	}
	for _, known := range []struct{ domain, name string }{
		{"openai.com", "openai"},
		{"anthropic.com", "anthropic"},
		{"generativelanguage.googleapis.com", "gcp.gemini"},
		{"groq.com", "groq"},
		{"deepseek.com", "deepseek"},
		{"mistral.ai", "mistral_ai"},
		{"x.ai", "x_ai"},
		{"perplexity.ai", "perplexity"},
		{"cohere.com", "cohere"},
		{"cohere.ai", "cohere"},
		{"moonshot.ai", "moonshot_ai"},
		{"moonshot.cn", "moonshot_ai"},
		{"together.xyz", "together"},
		{"together.ai", "together"},
		{"fireworks.ai", "fireworks"},
		{"openrouter.ai", "openrouter"},
		{"ollama.com", "ollama"},
	} {
		if under(known.domain) {
			return known.name
		}
	}
	return owner
}

func isStream(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream":
		return true
	}
	return false
}
