package main

import (
	"fmt"
	"math"
	"testing"
)

// unit is how a figure is read off a result, and how it is written.
type unit struct {
	of   func(testing.BenchmarkResult) float64
	show func(float64) string
}

// Metrics that a work reports with [testing.B.ReportMetric].
const (
	metricDisk = "disk-B" // the size of what it wrote
	metricHeap = "heap-B" // the memory that it held
)

var (
	duration = timeOf(1)
	allocs   = unit{func(r testing.BenchmarkResult) float64 { return float64(r.AllocsPerOp()) }, func(v float64) string { return fmt.Sprintf("%.0f allocs", v) }}
	events   = unit{func(r testing.BenchmarkResult) float64 { return 1e9 / perOp(r) }, func(v float64) string { return digits(v/1e6) + " M/s" }}
	speed    = unit{bytesPerSecond, func(v float64) string { return digits(v/1e6) + " MB/s" }}
	disk     = metric(metricDisk)
	heap     = metric(metricHeap)
)

// timeOf is the time of one of the parts that an operation has.
func timeOf(parts int) unit {
	return unit{func(r testing.BenchmarkResult) float64 { return perOp(r) / float64(parts) }, showTime}
}

// bytesPerSecond returns NaN for a work that did not say how many bytes it passes.
func bytesPerSecond(r testing.BenchmarkResult) float64 {
	if r.Bytes == 0 {
		return math.NaN()
	}
	return float64(r.Bytes) * 1e9 / perOp(r)
}

// metric is what a work reported under name, NaN when it did not.
func metric(name string) unit {
	return unit{func(r testing.BenchmarkResult) float64 {
		v, ok := r.Extra[name]
		if !ok {
			return math.NaN()
		}
		return v
	}, showBytes}
}

func showTime(ns float64) string {
	switch {
	case math.Abs(ns) < 1e3:
		return digits(ns) + " ns"
	case math.Abs(ns) < 1e6:
		return digits(ns/1e3) + " µs"
	case math.Abs(ns) < 1e9:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}

func showBytes(n float64) string {
	if n < 1e6 {
		return digits(n/1e3) + " KB"
	}
	return digits(n/1e6) + " MB"
}

// digits writes v with as many digits after the point as tell something.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
