package main

import (
	"flag"
	"math"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := clearEnvironment(); err != nil {
		panic(err)
	}
	// The rows in which nobody listens have no session: in a test binary their calls would be refused. The modes of the
	// others stand in the code, and win.
	if err := os.Setenv("CASSETTE_MODE", "live"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Benchmark is the table as ordinary benchmarks.
func Benchmark(b *testing.B) {
	for _, r := range rows(newLab(b.TempDir(), fullSizes)) {
		b.Run(r.work, func(b *testing.B) {
			for _, side := range []struct {
				name string
				do   work
			}{{"Mixtape", r.ours}, {r.against, r.base}} {
				if side.do == nil {
					continue
				}
				b.Run(side.name, func(b *testing.B) {
					b.ReportAllocs()
					if err := side.do(b); err != nil {
						b.Fatal(err)
					}
				})
			}
		})
	}
}

// Every row runs, and finds on all sides the answers that were recorded: the loops compare them.
func TestRows(t *testing.T) {
	runOnce(t)
	for _, r := range rows(newLab(t.TempDir(), smallSizes)) {
		t.Run(r.work, func(t *testing.T) {
			ours, base, err := r.measure(1)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.figures {
				if math.IsNaN(f.unit.of(ours)) || r.base != nil && math.IsNaN(f.unit.of(base)) {
					t.Errorf("%q was not reported", f.label)
				}
				if len(r.line(f, ours, base)) != len(header) {
					t.Errorf("a line has %d cells", len(r.line(f, ours, base)))
				}
			}
		})
	}
}

// runOnce lets benchmarks of t run their loops once.
func runOnce(t *testing.T) {
	t.Helper()
	old := flag.Lookup("test.benchtime").Value.String()
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set("test.benchtime", old); err != nil {
			t.Error(err)
		}
	})
}
