package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core/redact"
)

func TestRedact(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		//region rules
		s := cassette.Use(t, "rules.json",
			cassette.RedactFields("full_name"),
			cassette.Redact(
				redact.Pattern("customer", regexp.MustCompile(`\bCUST-\d{6}\b`)),
				redact.Path("$.metadata.note"),
				redact.Value("Lamp Street 7").Opaque(),
			),
		)
		//endregion
		wantMode(t, s, pass)
		post(t, s.Context(t.Context()), url, `{"model":"m","full_name":"Dana Reyes","metadata":{"note":"ring twice"},`+
			`"messages":[{"role":"user","content":"CUST-123456 lives at Lamp Street 7, dana.reyes@lampmail.shop"}]}`)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"Dana Reyes", "ring twice", "CUST-123456", "Lamp Street", "dana.reyes@lampmail.shop"} {
			if strings.Contains(string(file), secret) {
				t.Errorf("%q stands in the file", secret)
			}
		}
		for _, placeholder := range []string{"<field:", "<path:", "<customer:", "<value>", "@redacted.invalid"} {
			if !strings.Contains(string(file), placeholder) {
				t.Errorf("%q does not stand in the file", placeholder)
			}
		}
	})
}
