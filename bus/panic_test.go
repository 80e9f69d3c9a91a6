package bus_test

import (
	"bytes"
	"errors"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

// captureLog returns what fn writes to the standard logger.
func captureLog(t *testing.T, fn func()) string {
	t.Helper()
	var out bytes.Buffer
	w, flags := log.Writer(), log.Flags()
	log.SetOutput(&out)
	log.SetFlags(0)
	defer func() { log.SetOutput(w); log.SetFlags(flags) }()
	fn()
	return out.String()
}

func TestPanicStarvesNobody(t *testing.T) {
	var panics []any
	report := bus.OnPanic(func(v any, stack []byte) {
		panics = append(panics, v)
		if !bytes.Contains(stack, []byte("panic_test.go")) {
			t.Errorf("the stack does not show the subscriber:\n%s", stack)
		}
	})
	parent := bus.New(report)
	b := bus.New(bus.Parent(parent))
	boom := errors.New("boom")
	var got []string
	bus.Subscribe(b, func(*first) { panic(boom) })
	bus.Subscribe(b, func(*first) { panic("again") })
	bus.Subscribe(b, func(*first) { got = append(got, "third") })
	bus.Subscribe(b, func(*first) { panic(3) })
	bus.Subscribe(parent, func(any) { got = append(got, "parent") })
	for range 2 {
		panics, got = nil, nil
		bus.Publish(b, &first{})
		if want := []string{"third", "parent"}; !slices.Equal(got, want) {
			t.Errorf("heard by %v, want %v", got, want)
		}
		if want := []any{boom, "again", 3}; !slices.Equal(panics, want) {
			t.Errorf("reported %v, want %v: by the parent's OnPanic, the bus has none", panics, want)
		}
	}
}

func TestPanicNearestReport(t *testing.T) {
	var got []string
	parent := bus.New(bus.OnPanic(func(any, []byte) { got = append(got, "parent") }))
	b := bus.New(bus.Parent(parent), bus.OnPanic(func(any, []byte) { got = append(got, "own") }))
	bus.Subscribe(b, func(*first) { panic(1) })
	bus.Subscribe(parent, func(*first) { panic(2) })
	bus.Publish(b, &first{})
	if want := []string{"own", "parent"}; !slices.Equal(got, want) {
		t.Errorf("reported by %v, want %v", got, want)
	}
}

// panicsInError has a method that panics, which a report must survive.
type panicsInError struct{}

func (*panicsInError) Error() string { panic("in Error") }

func TestPanicDefaultReport(t *testing.T) {
	for _, tt := range []struct {
		reason string
		panics func()
		want   string
	}{
		{"an error's text", func() { panic(errors.New("boom")) }, `"boom"`},
		{"a string", func() { panic("boom") }, `"boom"`},
		{"one line, whatever the text", func() { panic("a\nb\x1b[31m") }, `"a\nb\x1b[31m"`},
		{"the runtime's own", func() { _ = []int{}[len(t.Name()):] }, "slice bounds out of range"},
		{"a nil map", func() { nilMap()[0] = 1 }, "assignment to entry in nil map"},
		{"a key that has no hash", func() { _ = map[any]int{1: 1}[any([]int{})] }, "hash of unhashable type"},
		{"a nil pointer", func() { (*first)(nil).n++ }, "nil pointer dereference"},
		{"panic(nil)", func() { panic(nil) }, "panic called with nil argument"},
		{"an error that cannot tell", func() { panic(&panicsInError{}) }, "in Error"},
		{"a value is not shown: it could be an event", func() { panic(&bus.Exchange{URL: "https://x?key=secret"}) },
			"a value of type *bus.Exchange"},
	} {
		b := bus.New()
		bus.Subscribe(b, func(*first) { tt.panics() })
		line := captureLog(t, func() { bus.Publish(b, &first{}) })
		for _, want := range []string{"bus: a subscriber to *bus_test.first panicked at ", "panic_test.go:", tt.want} {
			if !strings.Contains(line, want) {
				t.Errorf("%s: no %q in the report: %s", tt.reason, want, line)
			}
		}
		if strings.Count(line, "\n") != 1 || strings.Contains(line, "secret") {
			t.Errorf("%s: not one harmless line: %s", tt.reason, line)
		}
	}
}

func TestPanicInReport(t *testing.T) {
	b := bus.New(bus.OnPanic(func(any, []byte) { panic("worse") }))
	heard := false
	bus.Subscribe(b, func(*first) { panic("boom") })
	bus.Subscribe(b, func(*first) { heard = true })
	lines := captureLog(t, func() { bus.Publish(b, &first{}) })
	if !heard || !strings.Contains(lines, "boom") || !strings.Contains(lines, "worse") {
		t.Errorf("heard %t, log: %s", heard, lines)
	}
}

func TestPanicLongText(t *testing.T) {
	b := bus.New()
	bus.Subscribe(b, func(*first) { panic(strings.Repeat("x", 1<<20)) })
	if line := captureLog(t, func() { bus.Publish(b, &first{}) }); len(line) > 1000 {
		t.Errorf("the report has %d bytes", len(line))
	}
}

func nilMap() map[int]int { return nil }
