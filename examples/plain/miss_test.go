package plain

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
)

var update = flag.Bool("update", false, "write testdata/miss.txt anew")

// failing is a test that keeps what it is told.
type failing struct {
	*testing.T
	said strings.Builder
}

func (f *failing) Name() string { return "TestAsk" }
func (f *failing) Failed() bool { return f.said.Len() > 0 }

func (f *failing) Errorf(format string, args ...any) { fmt.Fprintf(&f.said, format+"\n", args...) }

// TestMiss shows what a test says whose prompt was changed since it was recorded.
func TestMiss(t *testing.T) {
	f := &failing{T: t}
	s := cassette.Use(f, "ask.json", cassette.Replay)
	if _, err := ask(s.Context(t.Context()), "http://127.0.0.1:1/v1", "Name a primary colour."); err == nil {
		t.Error("a question that was not recorded got an answer")
	}
	s.Close()
	const golden = "testdata/miss.txt"
	got := f.said.String()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the test said\n%s\nwant\n%s", got, want)
	}
}
