package bus_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

type (
	named interface{ EventName() string }
	first struct{ n int }
	other struct{ _ int } // not empty: two pointers to empty structs may be equal
	plain struct{ _ int }
)

func (*first) EventName() string { return "first" }
func (*other) EventName() string { return "other" }

// mustPanic returns the text of fn's panic.
func mustPanic(t *testing.T, fn func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		if v == nil {
			t.Error("no panic")
		}
		text = fmt.Sprint(v)
	}()
	fn()
	return ""
}

func TestPublishGoesByDynamicType(t *testing.T) {
	b := bus.New()
	var got []string
	hear := func(what string) func() { return func() { got = append(got, what) } }
	onFirst, onOther, onNamed, onAny, onPlain := hear("*first"), hear("*other"), hear("named"), hear("any"), hear("plain")
	bus.Subscribe(b, func(*first) { onFirst() })
	bus.Subscribe(b, func(any) { onAny() })
	bus.Subscribe(b, func(*other) { onOther() })
	bus.Subscribe(b, func(named) { onNamed() })
	bus.Subscribe(b, func(plain) { onPlain() })

	for _, tt := range []struct {
		reason  string
		publish func()
		want    []string
	}{
		{"a concrete type, and the interfaces it implements, in order of subscription",
			func() { bus.Publish(b, &first{}) }, []string{"*first", "any", "named"}},
		{"an event behind an interface is told by its dynamic type",
			func() { bus.Publish[any](b, &other{}) }, []string{"any", "*other", "named"}},
		{"the same behind another interface",
			func() { bus.Publish[named](b, &other{}) }, []string{"any", "*other", "named"}},
		{"other tools' events may be values", func() { bus.Publish(b, plain{}) }, []string{"any", "plain"}},
		{"a pointer is another type than its value", func() { bus.Publish(b, &plain{}) }, []string{"any"}},
		{"any value can be published", func() { bus.Publish(b, 7) }, []string{"any"}},
		{"a nil interface has no type", func() { bus.Publish[any](b, nil) }, nil},
		{"a nil pointer has one", func() { bus.Publish[*plain](b, nil) }, []string{"any"}},
	} {
		for range 2 { // the second time from the list that the first one left
			got = nil
			tt.publish()
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: heard by %v, want %v", tt.reason, got, tt.want)
			}
		}
	}
}

func TestEventsTravelAsPointers(t *testing.T) {
	b := bus.New()
	bus.Subscribe(b, func(any) { t.Error("an event by value was heard") })
	for name, fn := range map[string]func(){
		"bus.LLMCall":   func() { bus.Subscribe[bus.LLMCall](b, nil) }, // vet knows the lock in it
		"bus.CallStart": func() { bus.Subscribe(b, func(bus.CallStart) {}) },
		"bus.HTTPCall":  func() { bus.SubscribeAsync(b, func(bus.HTTPCall) {}) },
		"bus.ToolCall":  func() { bus.Publish(b, bus.ToolCall{}) },
		"bus.FuncCall":  func() { bus.Publish[any](b, bus.FuncCall{}) },
	} {
		if text := mustPanic(t, fn); !strings.Contains(text, "use *"+name) {
			t.Errorf("%s: the panic does not name the remedy: %s", name, text)
		}
	}
	mustPanic(t, func() { bus.Publish(bus.New(), bus.ToolCall{}) }) // though nobody listens
}

func TestMisuseIsLoud(t *testing.T) {
	b := bus.New()
	for reason, fn := range map[string]func(){
		"two parents":         func() { bus.New(bus.Parent(b), bus.Parent(b)) },
		"two OnPanic":         func() { bus.New(bus.OnPanic(func(any, []byte) {}), bus.OnPanic(func(any, []byte) {})) },
		"nil callback":        func() { bus.Subscribe[*first](b, nil) },
		"nil async callback":  func() { bus.SubscribeAsync[*first](b, nil) },
		"nil bus":             func() { bus.Subscribe(nil, func(*first) {}) },
		"nil async bus":       func() { bus.SubscribeAsync(nil, func(*first) {}) },
		"no queue":            func() { bus.QueueSize(0) },
		"two queue sizes":     func() { bus.SubscribeAsync(b, func(*first) {}, bus.QueueSize(1), bus.QueueSize(1)) },
		"two overflows":       func() { bus.SubscribeAsync(b, func(*first) {}, bus.DropNewest, bus.Block) },
		"an unknown overflow": func() { bus.SubscribeAsync(b, func(*first) {}, bus.Overflow(3)) },
	} {
		if text := mustPanic(t, fn); !strings.HasPrefix(text, "bus: ") {
			t.Errorf("%s: %s", reason, text)
		}
	}
	if bus.Active[any](b) {
		t.Error("a refused subscription stayed")
	}
}

func TestParentHearsOnce(t *testing.T) {
	root := bus.New()
	middle := bus.New(bus.Parent(root))
	leaf := bus.New(bus.Parent(middle))
	sibling := bus.New(bus.Parent(middle))
	if leaf.Parent() != middle || middle.Parent() != root || root.Parent() != nil {
		t.Fatal("Parent does not return the parent")
	}
	var got []string
	for _, on := range []struct {
		name string
		*bus.Bus
	}{{"root", root}, {"middle", middle}, {"leaf", leaf}, {"sibling", sibling}} {
		bus.Subscribe(on.Bus, func(*first) { got = append(got, on.name) })
	}
	for _, tt := range []struct {
		on     *bus.Bus
		want   []string
		reason string
	}{
		{leaf, []string{"leaf", "middle", "root"}, "its own subscribers first, then upwards, each once"},
		{middle, []string{"middle", "root"}, "nothing goes down"},
		{root, []string{"root"}, "nothing goes down"},
	} {
		got = nil
		bus.Publish(tt.on, &first{})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

func TestDefaultAndZero(t *testing.T) {
	one := bus.Default()
	if two := bus.Default(); one == nil || one != two {
		t.Error("Default is not one bus")
	}
	var zero bus.Bus
	heard := 0
	bus.Subscribe(&zero, func(*first) { heard++ })
	bus.Publish(&zero, &first{})
	if heard != 1 {
		t.Error("the zero Bus does not work")
	}
	bus.Publish(nil, &first{})
	if bus.Active[any](nil) {
		t.Error("somebody listens on a nil Bus")
	}
}

func TestCancel(t *testing.T) {
	b := bus.New()
	var got []string
	cancel := bus.Subscribe(b, func(*first) { got = append(got, "one") })
	bus.Subscribe(b, func(*first) { got = append(got, "two") })
	cancel()
	cancel()
	bus.Publish(b, &first{})
	if want := []string{"two"}; !slices.Equal(got, want) {
		t.Errorf("heard by %v, want %v", got, want)
	}
}

// A lock that was held during a callback would make this test hang.
func TestCallbackMayDoAnything(t *testing.T) {
	b := bus.New()
	var got []string
	var cancelSelf, cancelLast func()
	cancelSelf = bus.Subscribe(b, func(e *first) {
		got = append(got, fmt.Sprint("self ", e.n))
		cancelSelf()
		cancelLast()
		bus.Subscribe(b, func(e *first) { got = append(got, fmt.Sprint("new ", e.n)) })
		if e.n == 1 {
			bus.Publish(b, &first{2})
		}
		if !bus.Active[*first](b) {
			t.Error("not active in a callback")
		}
	})
	cancelLast = bus.Subscribe(b, func(e *first) { got = append(got, fmt.Sprint("last ", e.n)) })
	bus.Publish(b, &first{1})
	bus.Publish(b, &first{3})
	want := []string{
		"self 1",
		"new 2", // published in the callback: the new subscriber hears it, the cancelled ones do not
		"new 3", // and the new one does not hear event 1, which was under way before it
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCancelDoesNotWait(t *testing.T) {
	b := bus.New()
	inside, leave := make(chan struct{}), make(chan struct{})
	cancel := bus.Subscribe(b, func(*first) { close(inside); <-leave })
	done := make(chan struct{})
	go func() { defer close(done); bus.Publish(b, &first{}) }()
	<-inside
	cancel() // while the callback runs
	close(leave)
	<-done
}

func TestActive(t *testing.T) {
	active := func(b *bus.Bus) string {
		return fmt.Sprintf("first=%t other=%t named=%t any=%t llm=%t byvalue=%t",
			bus.Active[*first](b), bus.Active[*other](b), bus.Active[named](b), bus.Active[any](b),
			bus.Active[*bus.LLMCall](b), bus.Active[bus.LLMCall](b))
	}
	for _, tt := range []struct {
		reason    string
		subscribe func(*bus.Bus) func()
		want      string
	}{
		{"nobody", func(*bus.Bus) func() { return func() {} },
			"first=false other=false named=false any=false llm=false byvalue=false"},
		{"a concrete type", func(b *bus.Bus) func() { return bus.Subscribe(b, func(*first) {}) },
			"first=true other=false named=true any=true llm=false byvalue=false"},
		{"an interface hears what implements it", func(b *bus.Bus) func() { return bus.Subscribe(b, func(named) {}) },
			"first=true other=true named=true any=true llm=false byvalue=false"},
		{"any hears everything", func(b *bus.Bus) func() { return bus.Subscribe(b, func(any) {}) },
			"first=true other=true named=true any=true llm=true byvalue=true"},
		{"an event by value means its pointer", func(b *bus.Bus) func() { return bus.Subscribe(b, func(*bus.LLMCall) {}) },
			"first=false other=false named=false any=true llm=true byvalue=true"},
		{"asynchronous", func(b *bus.Bus) func() { return bus.SubscribeAsync(b, func(*other) {}).Close },
			"first=false other=true named=true any=true llm=false byvalue=false"},
	} {
		parent := bus.New()
		child := bus.New(bus.Parent(parent))
		for name, on := range map[string]*bus.Bus{"child": child, "parent": parent} {
			cancel := tt.subscribe(on)
			if got := active(child); got != tt.want {
				t.Errorf("%s, at the %s:\n got %s\nwant %s", tt.reason, name, got, tt.want)
			}
			cancel()
			if bus.Active[any](child) {
				t.Errorf("%s, at the %s: active after cancel", tt.reason, name)
			}
		}
	}
	b := bus.New()
	bus.Subscribe(bus.New(bus.Parent(b)), func(any) {})
	if bus.Active[any](b) {
		t.Error("a parent is active for its child's subscribers")
	}
}

func TestNoAllocation(t *testing.T) {
	parent := bus.New()
	b := bus.New(bus.Parent(parent))
	event := new(bus.LLMCall)
	nobody := testing.AllocsPerRun(100, func() { bus.Publish(b, event); bus.Active[*bus.LLMCall](b) })
	bus.Subscribe(b, func(*bus.LLMCall) {})
	bus.Subscribe(parent, func(any) {})
	heard := testing.AllocsPerRun(100, func() { bus.Publish(b, event); bus.Active[*bus.LLMCall](b) })
	if nobody != 0 || heard != 0 {
		t.Errorf("%v allocations when nobody listens, %v when somebody does", nobody, heard)
	}
}

func TestEndedGoroutineStarvesNobody(t *testing.T) {
	parent := bus.New()
	b := bus.New(bus.Parent(parent))
	var got []string
	bus.Subscribe(b, func(*first) { runtime.Goexit() })
	bus.Subscribe(b, func(*first) { got = append(got, "next") })
	bus.Subscribe(parent, func(*first) { got = append(got, "parent") })
	done := make(chan struct{})
	go func() {
		defer close(done)
		bus.Publish(b, &first{})
		t.Error("the goroutine goes on")
	}()
	<-done
	if want := []string{"next", "parent"}; !slices.Equal(got, want) {
		t.Errorf("heard by %v, want %v", got, want)
	}
}

// Subscribers come and go while events are published: one that stays hears each of them once.
func TestConcurrent(t *testing.T) {
	parent := bus.New()
	b := bus.New(bus.Parent(parent))
	const publishers, each = 4, 500
	var stays, above atomic.Int64
	bus.Subscribe(b, func(*first) { stays.Add(1) })
	bus.Subscribe(parent, func(named) { above.Add(1) })
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for range each {
				bus.Publish(b, &first{})
				bus.Publish(b, &plain{})
			}
		})
		wg.Go(func() {
			for range each {
				cancel := bus.Subscribe(b, func(any) {})
				bus.Active[*other](b)
				cancel()
				cancel()
			}
		})
	}
	wg.Wait()
	if stays.Load() != publishers*each || above.Load() != publishers*each {
		t.Errorf("heard %d and %d of %d", stays.Load(), above.Load(), publishers*each)
	}
}

func TestNextSeq(t *testing.T) {
	const goroutines, each = 4, 100
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			var last uint64
			for range each {
				n := bus.NextSeq()
				if n <= last {
					t.Errorf("%d after %d", n, last)
				}
				last = n
				mu.Lock()
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != goroutines*each || seen[0] {
		t.Errorf("%d different numbers, want %d, and no 0", len(seen), goroutines*each)
	}
}

func TestMessageText(t *testing.T) {
	m := bus.Message{Parts: []bus.Part{
		bus.TextPart{Content: "a"}, bus.ReasoningPart{Content: "no"}, bus.ToolCallPart{}, bus.ToolResponsePart{},
		bus.BlobPart{}, bus.URIPart{}, bus.FilePart{}, bus.OtherPart{}, bus.TextPart{Content: "b"},
	}}
	if got := m.Text(); got != "ab" {
		t.Errorf("Text is %q, want the text parts joined", got)
	}
}
