package bus

import (
	"fmt"
	"log"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
)

// report tells of the panic v of a subscriber to typ. It is called from the deferred function that recovered, while
// the panicking frames are still on the stack, and never panics itself.
func (b *Bus) report(typ reflect.Type, v any) {
	fn := b.panicHandler()
	if fn == nil {
		logPanic(fmt.Sprintf("a subscriber to %v", typ), v)
		return
	}
	defer func() {
		if again := recover(); again != nil {
			logPanic("the OnPanic function", again)
			log.Printf("bus: it was to report that a subscriber to %v panicked: %s", typ, describe(v))
		}
	}()
	fn(v, debug.Stack())
}

func (b *Bus) panicHandler() func(any, []byte) {
	for ; b != nil; b = b.parent {
		if b.onPanic != nil {
			return b.onPanic
		}
	}
	return nil
}

func logPanic(who string, v any) {
	log.Printf("bus: %s panicked at %s: %s", who, panicPlace(), describe(v))
}

// describe returns a panic's value on one line. It shows texts only: any other value could be an event, with all the
// credentials in it.
func describe(v any) string {
	const limit = 400 // bytes; a text may quote a whole body
	var s string
	switch v := v.(type) {
	case error, string:
		s = fmt.Sprint(v) // not v.Error(): a nil pointer in v must not panic again
	default:
		return fmt.Sprintf("a value of type %T", v)
	}
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// panicPlace returns the file and line where the panic that is being recovered began.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && !inRuntime:
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
