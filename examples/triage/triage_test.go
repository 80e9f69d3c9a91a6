package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/examples/triage/agent"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

// client is instrumented once, as in production, and shared by all tests.
var client openai.Client

// TestMain lets recordings come from the scripted model. Set OPENAI_BASE_URL and OPENAI_API_KEY to record from another.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv("OPENAI_BASE_URL") == "" {
		server, err := modelserver.New(script)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer server.Close()
		os.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
		os.Setenv("OPENAI_API_KEY", "none")
	}
	client = core.Instrument(openai.NewClient())
	return m.Run()
}

//region test

func TestTriage(t *testing.T) {
	s := cassette.Use(t, "triage.json", cassette.Auto)
	answer, err := agent.Run(s.Context(t.Context()), client, "My card was charged twice for order 1042.")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer, "refunded $39.00") {
		t.Errorf("the answer offers no refund: %s", answer)
	}
}

//endregion

//region stream

func TestTriageStreamed(t *testing.T) {
	s := cassette.Use(t, "streamed.json")
	var pieces []string
	a := agent.New(client, agent.SampleOrders())
	answer, err := a.Stream(s.Context(t.Context()), "My card was charged twice for order 1042.", func(text string) {
		pieces = append(pieces, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) < 2 || strings.Join(pieces, "") != answer {
		t.Errorf("the pieces %q do not make the answer %q", pieces, answer)
	}
}

//endregion

//region parallel

func TestTriageParallel(t *testing.T) {
	for name, test := range map[string]struct{ message, want string }{
		"charged once": {"Was I charged twice for order 1043?", "nothing to refund"},
		"no order":     {"My card was charged twice for order 9999.", "cannot find order 9999"},
		"no number":    {"My card was charged twice.", "Which order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cassette.Use(t, "") // named after the test
			answer, err := agent.Run(s.Context(t.Context()), client, test.message)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(answer, test.want) {
				t.Errorf("%q is not in the answer: %s", test.want, answer)
			}
		})
	}
}

//endregion
