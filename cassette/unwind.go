package cassette

import "runtime"

// unwinding reports whether the caller is run by the end of its goroutine, a panic or a Goexit, and not by a return. A
// test's cleanups have no other way to know: package testing runs them before it marks a test that panics as failed.
func unwinding() bool {
	pcs := make([]uintptr, 128) // what ends a goroutine stands above all of its own frames
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}
