package main

import (
	"errors"
	"testing"
)

// work is the body of a benchmark. It returns why it failed instead of telling b, which [testing.Benchmark] keeps to itself.
type work func(b *testing.B) error

// errDidNotRun is for a benchmark that ended without a word.
var errDidNotRun = errors.New("the benchmark did not run")

// fastest runs w once more and returns the faster of its result and best.
func (w work) fastest(best testing.BenchmarkResult) (testing.BenchmarkResult, error) {
	var err error
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		if err = w(b); err != nil {
			b.FailNow()
		}
	})
	if err == nil && got.N == 0 {
		err = errDidNotRun
	}
	if best.N == 0 || perOp(got) < perOp(best) {
		best = got
	}
	return best, err
}

// perOp returns the nanoseconds that one operation took.
func perOp(r testing.BenchmarkResult) float64 { return float64(r.T.Nanoseconds()) / float64(r.N) }

// row is one piece of work, done by both sides.
type row struct {
	work    string
	ours    work
	base    work   // nil where there is nothing to compare with
	against string // what base is
	figures []figure
}

// figure is a line of the table: what is read off the results of a row, and the bar that it should reach.
type figure struct {
	label string // of several in one row; empty for the only one
	unit  unit
	bar   bar
}

// measure runs both sides count times, in turn.
func (r row) measure(count int) (ours, base testing.BenchmarkResult, err error) {
	for range count {
		if ours, err = r.ours.fastest(ours); err != nil {
			return ours, base, err
		}
		if r.base == nil {
			continue
		}
		if base, err = r.base.fastest(base); err != nil {
			return ours, base, errors.Join(errors.New(r.against), err)
		}
	}
	return ours, base, nil
}

// line returns the cells of f.
func (r row) line(f figure, ours, base testing.BenchmarkResult) []string {
	name := r.work
	if f.label != "" {
		name += ": " + f.label
	}
	v := f.unit.of(ours)
	if r.base == nil {
		return []string{name, f.unit.show(v), "", "", f.bar.text(f.unit), f.bar.verdict(v, 0)}
	}
	than := f.unit.of(base)
	return []string{name, f.unit.show(v), f.unit.show(than) + " (" + r.against + ")", f.bar.ratio(f.unit, v, than), f.bar.text(f.unit), f.bar.verdict(v, than)}
}
