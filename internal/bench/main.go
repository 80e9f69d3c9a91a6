package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"
	"time"
)

var header = []string{"work", "Mixtape", "peer or base", "ratio", "bar", "met?"}

func main() {
	testing.Init()
	markdown := flag.Bool("markdown", false, "print the table as Markdown")
	count := flag.Int("count", 3, "how often each side is measured; the fastest run counts")
	benchtime := flag.Duration("benchtime", 300*time.Millisecond, "how long one measurement takes, at least")
	only := flag.String("run", "", "measure only the rows whose work matches this regular expression")
	flag.Parse()
	if err := run(os.Stdout, *markdown, *count, *benchtime, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, markdown bool, count int, benchtime time.Duration, only string) (err error) {
	if count < 1 {
		return errors.New("-count must be 1 or more")
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if err := flag.Set("test.benchtime", benchtime.String()); err != nil {
		return err
	}
	if err := clearEnvironment(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	t := table{head: header}
	list := rows(newLab(dir, fullSizes))
	for i, r := range list {
		list[i] = row{} // what it holds must not weigh on the collector in the next rows
		if !match.MatchString(r.work) {
			continue
		}
		fmt.Fprintln(os.Stderr, r.work)
		ours, base, err := r.measure(count)
		if err != nil {
			return fmt.Errorf("%s: %w", r.work, err)
		}
		for _, f := range r.figures {
			t.lines = append(t.lines, r.line(f, ours, base))
		}
	}
	fmt.Fprintf(w, "%s\n\n", machine())
	if markdown {
		return t.markdown(w)
	}
	return t.text(w)
}

// clearEnvironment takes out of the environment what would change the mode of a session.
func clearEnvironment() error {
	var errs []error
	for _, name := range []string{"CI", "CASSETTE_MODE", "CASSETTE_RERECORD", "CASSETTE_STRICT", "CASSETTE_DIR"} {
		errs = append(errs, os.Unsetenv(name))
	}
	return errors.Join(errs...)
}
