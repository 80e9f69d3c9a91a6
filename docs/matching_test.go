package docs

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
)

func TestIgnore(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		//region ignore
		s := cassette.Use(t, "ignore.json", cassette.Ignore("$.metadata.run_id", "$.messages[*].name"))
		//endregion
		wantMode(t, s, pass)
		post(t, s.Context(t.Context()), url, fmt.Sprintf(
			`{"model":"m","metadata":{"run_id":"run-%d"},"messages":[{"role":"user","name":"n%[1]d","content":"hi"}]}`, pass))
	})
}

func TestMatchMessages(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		//region messages
		s := cassette.Use(t, "messages.json", cassette.MatchMessages())
		//endregion
		wantMode(t, s, pass)
		post(t, s.Context(t.Context()), url, fmt.Sprintf(
			`{"model":"m","temperature":0.%d,"messages":[{"role":"user","content":"hi"}]}`, pass))
	})
}

//region normalize

var date = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)

func withoutDates(r *cassette.Request) {
	r.Body = date.ReplaceAll(r.Body, []byte("DATE"))
}

//endregion

func TestNormalize(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		s := cassette.Use(t, "normalize.json", cassette.Normalize(withoutDates))
		wantMode(t, s, pass)
		post(t, s.Context(t.Context()), url, fmt.Sprintf(
			`{"model":"m","messages":[{"role":"user","content":"Today is 2026-01-0%d."}]}`, pass+1))
	})
}

func TestRepeatLast(t *testing.T) {
	passes(t, func(t *testing.T, pass int, url string) {
		//region repeat
		s := cassette.Use(t, "repeat.json", cassette.RepeatLast())
		//endregion
		wantMode(t, s, pass)
		answers := map[string]bool{}
		for range 1 + 2*pass {
			answers[post(t, s.Context(t.Context()), url, `{"model":"m","messages":[]}`)] = true
		}
		if len(answers) != 1 {
			t.Errorf("%d different answers: %v", len(answers), answers)
		}
	})
}
