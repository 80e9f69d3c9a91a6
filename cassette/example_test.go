package cassette_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// Example records one call and one tool, and replays both with the server gone. A test writes cassette.Use(t, name) in
// place of Open and Close.
func Example() {
	dir, err := os.MkdirTemp("", "cassettes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "it rains")
	}))
	client := core.Instrument(&http.Client{})
	umbrella := core.Tool("umbrella", func(_ context.Context, open bool) (string, error) {
		fmt.Println("(the tool runs)")
		return "opened", nil
	})

	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
		s, err := cassette.Open("weather.json", mode, cassette.Dir(dir))
		if err != nil {
			log.Fatal(err)
		}
		ctx := s.Context(context.Background())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL, strings.NewReader("how is the weather?"))
		if err != nil {
			log.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		result, err := umbrella(ctx, true)
		fmt.Println(s.Mode(), string(answer), result, err)
		if err := s.Close(); err != nil {
			log.Fatal(err)
		}
		model.Close()
	}
	// Output:
	// (the tool runs)
	// record it rains opened <nil>
	// replay it rains opened <nil>
}

func ExampleLoad() {
	f, err := cassette.Load("testdata/golden/example.json")
	if err != nil {
		log.Fatal(err)
	}
	for i, in := range f.Interactions() {
		fmt.Println(i+1, in.Kind, in.Ending)
	}
	// Output:
	// 1 llm complete
	// 2 tool complete
	// 3 llm closed_after_terminal
}
