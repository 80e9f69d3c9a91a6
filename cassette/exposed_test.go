package cassette_test

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// TestExposed looks through cassettes that were recorded with and without redaction.
func TestExposed(t *testing.T) {
	rules := []redact.Rule{redact.Field("salary"), redact.Path("$.note"), redact.Pattern("customer", regexp.MustCompile(`CUST-\d+`))}
	for _, tc := range []struct {
		reason string
		opts   []cassette.Option
		want   []string
	}{
		{"recorded with the rules", []cassette.Option{cassette.Redact(rules...)}, nil},
		{"recorded without any", []cassette.Option{cassette.NoRedaction()}, []string{
			"interaction 1: request", "interaction 1: response", "interaction 2: request", "interaction 2: response",
			"interaction 3: URL", "interaction 3: response", "interaction 4: arguments", "interaction 4: result",
		}},
		{"recorded before rules were added", nil, []string{"interaction 2: request"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := t.TempDir()
			n := &network{answer: func(req *http.Request, body string) (*http.Response, error) {
				return response(200, "text/event-stream", eventsOf("mail jane.roe@bigcorp.io now", `{"choices":[{"index":0,"delta":{"content":PIECE}}]}`, "")), nil
			}}
			f := newT(t, "TestRecords")
			s := cassette.Use(f, "a.json", append(tc.opts, cassette.Dir(dir), cassette.Record)...)
			ctx, client := s.Context(t.Context()), n.client()
			ask(t, ctx, client, "who is hunter2-hunter2-hunter2?")
			post(t, ctx, client, "https://tools.bigcorp.io/x", `{"salary":70000,"note":"a note","to":"CUST-17"}`)
			post(t, ctx, client, "https://tools.bigcorp.io/x?q=jane.roe%40bigcorp.io", "{}")
			tool := core.Tool("login", func(_ context.Context, in map[string]string) (map[string]string, error) { return in, nil })
			if _, err := tool(ctx, map[string]string{"password": "hunter2-hunter2-hunter2"}); err != nil {
				t.Error(err)
			}
			f.end().wantPass()
			file, err := cassette.Load(filepath.Join(dir, "a.json"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := file.Exposed(rules...)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
	if _, err := (&cassette.File{}).Exposed(redact.Rule{}); err == nil {
		t.Error("a wrong rule is no error")
	}
}
