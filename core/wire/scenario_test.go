package wire

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

var update = flag.Bool("update", false, "rewrite what the scenarios in testdata want")

// TestScenarios decodes the bytes of real exchanges. A scenario is one file of testdata/<format>: a line that says why
// it is there, sections "-- request --" and "-- answer STATUS --" or "-- stream STATUS --", and "-- want --", which
// -update rewrites.
func TestScenarios(t *testing.T) {
	for _, f := range formats() {
		files, err := filepath.Glob(filepath.Join("testdata", f.Name(), "*.txt"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no scenarios (%v)", f.Name(), err)
		}
		for _, file := range files {
			t.Run(f.Name()+"/"+filepath.Base(file), func(t *testing.T) { runScenario(t, f, file) })
		}
	}
}

func runScenario(t *testing.T, f Format, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	input, want, found := bytes.Cut(text, []byte("-- want --\n"))
	if !found {
		t.Fatal("no want section")
	}
	for _, s := range sections(input) {
		fmt.Fprintf(&got, "# %s\n", s.head)
		before := bytes.Clone(s.body)
		kind, rest, _ := strings.Cut(s.head, " ")
		switch kind {
		case "request":
			r, err := f.DecodeRequest(s.body)
			dumpRequest(&got, r, err)
		case "answer", "stream":
			status, err := strconv.Atoi(rest)
			if err != nil {
				t.Fatal(err)
			}
			r, err := f.DecodeResponse(s.body, status, kind == "stream")
			if kind == "stream" {
				fmt.Fprintf(&got, "progress %v\n", progressNames[f.Ended(s.body)])
			}
			dumpResponse(&got, r, err)
		default:
			t.Fatalf("unknown section %q", s.head)
		}
		if !bytes.Equal(before, s.body) {
			t.Errorf("section %q: its bytes were changed", s.head)
		}
	}
	if *update {
		out := slices.Concat(input, []byte("-- want --\n"), []byte(got.String()))
		if err := os.WriteFile(file, out, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

type section struct {
	head string
	body []byte
}

func sections(text []byte) []section {
	var list []section
	for line := range bytes.Lines(text) {
		if head, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("-- ")); ok && bytes.HasSuffix(head, []byte(" --")) {
			list = append(list, section{head: string(head[:len(head)-3])})
		} else if n := len(list); n > 0 {
			list[n-1].body = append(list[n-1].body, line...)
		}
	}
	return list
}

var progressNames = map[Progress]string{Unfinished: "unfinished", Terminal: "terminal", Failed: "failed"}

func dumpRequest(b *strings.Builder, r bus.DecodedRequest, err error) {
	fmt.Fprintf(b, "model %q stream %v\n", r.Model, r.Stream)
	dumpMessages(b, r.Messages)
	fmt.Fprintf(b, "extra %v\n", slices.Sorted(maps.Keys(r.Extra)))
	dumpErr(b, err)
}

func dumpResponse(b *strings.Builder, r bus.DecodedResponse, err error) {
	fmt.Fprintf(b, "id %q model %q\n", r.ID, r.Model)
	dumpMessages(b, r.Messages)
	if r.Usage != nil {
		fmt.Fprintf(b, "usage %+v\n", *r.Usage)
	}
	if r.Error != nil {
		fmt.Fprintf(b, "error %s\n", r.Error)
	}
	fmt.Fprintf(b, "extra %v\n", slices.Sorted(maps.Keys(r.Extra)))
	dumpErr(b, err)
}

func dumpErr(b *strings.Builder, err error) {
	if err != nil {
		fmt.Fprintf(b, "problem %v\n", err)
	}
}

func dumpMessages(b *strings.Builder, messages []bus.Message) {
	for _, m := range messages {
		fmt.Fprintf(b, "%s", m.Role)
		if m.Name != "" {
			fmt.Fprintf(b, " (%s)", m.Name)
		}
		if m.FinishReason != "" {
			fmt.Fprintf(b, " [%s]", m.FinishReason)
		}
		fmt.Fprintln(b)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case bus.ToolCallPart:
				fmt.Fprintf(b, "\tcall %q %q %s\n", p.ID, p.Name, p.Arguments)
			case bus.ToolResponsePart:
				fmt.Fprintf(b, "\tresponse %q %s\n", p.ID, p.Response)
			case bus.OtherPart:
				fmt.Fprintf(b, "\tother %q %s\n", p.Type, p.Raw)
			default:
				fmt.Fprintf(b, "\t%s %+v\n", strings.TrimPrefix(fmt.Sprintf("%T", p), "bus."), p)
			}
		}
	}
}

// scenarioSections returns the inputs of a format's scenarios.
func scenarioSections(tb testing.TB, f Format) []section {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", f.Name(), "*.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	var list []section
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		input, _, _ := bytes.Cut(text, []byte("-- want --\n"))
		list = append(list, sections(input)...)
	}
	return list
}
