package redact

import (
	"net/http"
	"slices"
	"testing"
)

func TestHeader(t *testing.T) {
	r := newDefault(t)
	live := http.Header{
		"Content-Type":        {"application/json"},
		"x-request-id":        {"req_011CQbXkzj"},
		"Location":            {"https://x.io/?token=abc"},
		"Retry-After":         {"2"},
		"Set-Cookie":          {"a=b"},
		"Openai-Organization": {"org-abc"},
		"content-length":      {"40"},
		"Transfer-Encoding":   {"chunked"},
	}
	got := r.Header(live)
	if len(got) != 5 || got.Get("Content-Length") != "40" || got.Get("X-Request-Id") != "req_011CQbXkzj" || got.Get("Location") == live.Get("Location") {
		t.Errorf("kept %v", got)
	}
	got.Set("Retry-After", "3")
	if live.Get("Retry-After") != "2" {
		t.Error("the live header was changed")
	}
	if r.Header(nil) == nil {
		t.Error("no header gave nil")
	}
}

func TestCredentialsOf(t *testing.T) {
	req, err := http.NewRequest("POST", "https://u:pass-word@x.io/?key=q%2B1&page=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer b1"}, "X-Api-Key": {"k1"}, "Cookie": {"a=c1; b=c2"}, "Accept": {"no"}}
	if got, want := CredentialsOf(req), []string{"b1", "c1", "c2", "k1", "pass-word", "q%2B1", "q+1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCredentialsFromEnv(t *testing.T) {
	got := CredentialsFromEnv([]string{
		"OPENAI_API_KEY=key0123456789abcdef", "SHORT_KEY=a1", "WORD_TOKEN=nodigitsinthisvalue", "SPACED_SECRET=with space 0123456789",
		"FILE_KEY=/etc/keys/key01234", "HOME=/home/user0123456789", "broken",
	}, func(path string) bool { return path == "/etc/keys/key01234" })
	if want := []string{"key0123456789abcdef"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
