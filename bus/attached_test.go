package bus_test

import (
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

type attachedKey struct{ name string }

func TestAttached(t *testing.T) {
	parent := bus.New()
	b := bus.New(bus.Parent(parent))
	if v := b.Attached(attachedKey{"a"}, nil); v != nil {
		t.Errorf("%v is attached to a new bus", v)
	}
	var wg sync.WaitGroup
	got := make([]any, 20)
	for i := range got {
		wg.Go(func() { got[i] = b.Attached(attachedKey{"a"}, func() any { return i }) })
	}
	wg.Wait()
	for _, v := range got {
		if v != got[0] {
			t.Fatalf("the goroutines got %v, want one value", got)
		}
	}
	if v := b.Attached(attachedKey{"a"}, func() any { return "other" }); v != got[0] {
		t.Errorf("%v replaced %v", v, got[0])
	}
	if v := b.Attached(attachedKey{"b"}, nil); v != nil {
		t.Errorf("%v stands under another key", v)
	}
	if v := parent.Attached(attachedKey{"a"}, nil); v != nil {
		t.Errorf("%v is attached to the parent", v)
	}
}
