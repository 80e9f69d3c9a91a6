// Triage runs the support agent of package agent and prints what it did: each call of the model, each tool, and the
// answer.
//
//	go run ./examples/triage            replays testdata/cassettes/triage.json: no network, no key
//	go run ./examples/triage -record    records it anew, from a scripted model that it starts on this machine
//	go run ./examples/triage -live      asks the real model, with the key in OPENAI_API_KEY, and records nothing
//
// It finds its cassette when it is run from the root of the repository or from its own folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/examples/triage/agent"
	"github.com/mixtape-go/mixtape/internal/modelserver"
)

const message = "My card was charged twice for order 1042."

func main() {
	record := flag.Bool("record", false, "record the cassette anew, from a scripted model on this machine")
	live := flag.Bool("live", false, "ask the real model; needs OPENAI_API_KEY")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *record, *live); err != nil {
		fmt.Fprintln(os.Stderr, "triage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, record, live bool) error {
	switch {
	case record && live:
		return errors.New("-record and -live exclude each other")
	case record:
		return recordScripted(ctx, w)
	case live && os.Getenv("OPENAI_API_KEY") == "":
		return errors.New("-live asks the real model: set OPENAI_API_KEY to a key of OpenAI, or leave -live out to replay the cassette")
	case live:
		return play(ctx, w, openai.NewClient(), cassette.Live)
	}
	// Nobody listens here: a replay dials nothing.
	return play(ctx, w, openai.NewClient(option.WithBaseURL("http://127.0.0.1:1/v1")), cassette.Replay)
}

// recordScripted records from a scripted model.
func recordScripted(ctx context.Context, w io.Writer) error {
	server, err := modelserver.New(script)
	if err != nil {
		return err
	}
	defer server.Close()
	client := openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("none"))
	return play(ctx, w, client, cassette.Record)
}

// play runs the agent on the cassette and prints what happens.
func play(ctx context.Context, w io.Writer, client openai.Client, mode cassette.Mode) (err error) {
	dir, err := home()
	if err != nil {
		return err
	}
	//region open
	s, err := cassette.Open("testdata/cassettes/triage.json", cassette.Dir(dir), mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	//endregion
	//region subscribe
	defer bus.Subscribe(s.Bus(), func(c *bus.LLMCall) { printCall(w, c) })()
	defer bus.Subscribe(s.Bus(), func(c *bus.ToolCall) { printTool(w, c) })()
	//endregion

	fmt.Fprintf(w, "%s %s\n\n> %s\n\n", s.Mode(), s.Path(), message)
	answer, err := agent.Run(s.Context(ctx), core.Instrument(client), message)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n< %s\n", answer)
	return nil
}

func printCall(w io.Writer, c *bus.LLMCall) {
	usage, _ := c.Usage()
	fmt.Fprintf(w, "model  %s %s: %d tokens in, %d out, %s\n", c.Provider, c.Model, usage.Input, usage.Output, c.Ending)
	for _, t := range c.ToolCalls() {
		fmt.Fprintf(w, "         asks for %s %s\n", t.Name, t.Arguments)
	}
}

func printTool(w io.Writer, c *bus.ToolCall) {
	fmt.Fprintf(w, "tool   %s %s\n", c.Name, c.Arguments)
	if c.Err != nil {
		fmt.Fprintf(w, "         fails: %v\n", c.Err)
		return
	}
	fmt.Fprintf(w, "         gives %s\n", c.Result)
}

// home returns this program's folder in the repository, relative to the one that it is run in.
func home() (string, error) {
	for _, dir := range []string{".", filepath.Join("examples", "triage")} {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "cassettes")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("testdata/cassettes is not here: run this from the root of the repository or from examples/triage")
}
