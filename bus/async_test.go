package bus_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mixtape-go/mixtape/bus"
)

func TestAsyncIsSerialAndInOrder(t *testing.T) {
	b := bus.New()
	const events = 500
	var got []int // no lock: -race tells when callbacks overlap
	s := bus.SubscribeAsync(b, func(e *first) { got = append(got, e.n) }, bus.Block, bus.QueueSize(3))
	for i := range events {
		bus.Publish(b, &first{i})
	}
	s.Close()
	if len(got) != events || !slices.IsSorted(got) {
		t.Errorf("%d of %d events, in order: %t", len(got), events, slices.IsSorted(got))
	}
	if s.Dropped() != 0 {
		t.Errorf("dropped %d", s.Dropped())
	}
}

func TestAsyncOverflow(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		opts    []bus.AsyncOption
		want    []int
		dropped uint64
	}{
		{"the default drops what comes", []bus.AsyncOption{bus.QueueSize(2)}, []int{0, 1, 2}, 3},
		{"the same by name", []bus.AsyncOption{bus.QueueSize(2), bus.DropNewest}, []int{0, 1, 2}, 3},
		{"the oldest go", []bus.AsyncOption{bus.DropOldest, bus.QueueSize(2)}, []int{0, 4, 5}, 3},
		{"a queue that is long enough", []bus.AsyncOption{bus.QueueSize(5)}, []int{0, 1, 2, 3, 4, 5}, 0},
		{"the default length", nil, []int{0, 1, 2, 3, 4, 5}, 0},
	} {
		b := bus.New()
		var got []int
		inside, leave := make(chan struct{}), make(chan struct{})
		s := bus.SubscribeAsync(b, func(e *first) {
			if e.n == 0 {
				close(inside)
				<-leave
			}
			got = append(got, e.n)
		}, tt.opts...)
		bus.Publish(b, &first{0})
		<-inside // event 0 is out of the queue and holds the goroutine
		for i := 1; i <= 5; i++ {
			bus.Publish(b, &first{i})
		}
		close(leave)
		s.Close()
		if !slices.Equal(got, tt.want) || s.Dropped() != tt.dropped {
			t.Errorf("%s: got %v and %d dropped, want %v and %d", tt.reason, got, s.Dropped(), tt.want, tt.dropped)
		}
	}
}

func TestAsyncBlockWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		step := make(chan struct{})
		var got []int
		s := bus.SubscribeAsync(b, func(e *first) { <-step; got = append(got, e.n) }, bus.Block, bus.QueueSize(1))
		bus.Publish(b, &first{0})
		synctest.Wait()
		bus.Publish(b, &first{0}) // fills the queue

		const blocked = 3
		returned := make(chan int, blocked)
		for i := 1; i <= blocked; i++ {
			go func() { bus.Publish(b, &first{i}); returned <- i }()
		}
		synctest.Wait()
		for i := range blocked {
			if len(returned) != i {
				t.Fatalf("%d publishers returned with room for %d", len(returned), i)
			}
			step <- struct{}{}
			synctest.Wait()
		}
		close(step)
		s.Close()
		if len(got) != 2+blocked || s.Dropped() != 0 {
			t.Errorf("got %v, dropped %d", got, s.Dropped())
		}
	})
}

func TestAsyncCloseFreesBlockedPublishers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		step := make(chan struct{})
		s := bus.SubscribeAsync(b, func(*first) { <-step }, bus.Block, bus.QueueSize(1))
		for range 4 { // one in the callback, one in the queue, two wait
			go bus.Publish(b, &first{})
			synctest.Wait()
		}
		go s.Close()
		synctest.Wait()
		if s.Dropped() != 2 {
			t.Errorf("dropped %d, want the 2 that waited", s.Dropped())
		}
		close(step)
		s.Close()
	})
}

func TestAsyncClose(t *testing.T) {
	b := bus.New()
	calls := 0
	s := bus.SubscribeAsync(b, func(*first) { calls++ })
	bus.Publish(b, &first{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(s.Close)
	}
	wg.Wait()
	s.Close()
	bus.Publish(b, &first{})
	if calls != 1 || bus.Active[*first](b) {
		t.Errorf("%d calls, active %t", calls, bus.Active[*first](b))
	}
}

func TestAsyncCloseInOwnCallback(t *testing.T) {
	b := bus.New()
	calls := 0
	inside, leave := make(chan struct{}), make(chan struct{})
	var s *bus.Subscription
	s = bus.SubscribeAsync(b, func(*first) {
		calls++
		close(inside)
		<-leave
		s.Close()
		s.Close()
		bus.Publish(b, &first{}) // unheard
	}, bus.QueueSize(4))
	for range 3 {
		bus.Publish(b, &first{})
	}
	<-inside
	close(leave)
	s.Close() // from outside it waits for the callback
	if calls != 1 || s.Dropped() > 2 {
		t.Errorf("%d calls, %d dropped", calls, s.Dropped())
	}
}

func TestAsyncCloseInOwnCallbackDropsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		calls := 0
		leave := make(chan struct{})
		var s *bus.Subscription
		s = bus.SubscribeAsync(b, func(*first) { calls++; <-leave; s.Close() })
		for range 3 {
			bus.Publish(b, &first{})
		}
		close(leave)
		synctest.Wait() // and the bubble would not end with a goroutine left
		if calls != 1 || s.Dropped() != 2 {
			t.Errorf("%d calls and %d dropped, want 1 and 2", calls, s.Dropped())
		}
	})
}

func TestAsyncSurvivesItsCallback(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		fail    func()
		reports int
	}{
		{"a panic is reported, and the next event comes", func() { panic(errors.New("boom")) }, 1},
		{"a callback that ends its goroutine ends only that", runtime.Goexit, 0},
	} {
		reports, parent := 0, 0
		above := bus.New()
		b := bus.New(bus.Parent(above), bus.OnPanic(func(any, []byte) { reports++ }))
		bus.Subscribe(above, func(*first) { parent++ })
		var got []int
		s := bus.SubscribeAsync(b, func(e *first) {
			if e.n == 1 {
				tt.fail()
			}
			got = append(got, e.n)
		})
		for i := range 3 {
			bus.Publish(b, &first{i})
		}
		s.Close()
		if want := []int{0, 2}; !slices.Equal(got, want) || reports != tt.reports || parent != 3 {
			t.Errorf("%s: got %v, %d reports, the parent heard %d of 3", tt.reason, got, reports, parent)
		}
	}
}

func TestAsyncHearsInterfaces(t *testing.T) {
	b := bus.New()
	var got []string
	s := bus.SubscribeAsync(b, func(e named) { got = append(got, e.EventName()) })
	bus.Publish(b, &first{})
	bus.Publish(b, &plain{})
	bus.Publish(b, &other{})
	s.Close()
	if want := []string{"first", "other"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every event is either heard or counted, whenever Close comes.
func TestAsyncCountsEveryEvent(t *testing.T) {
	for _, overflow := range []bus.Overflow{bus.DropNewest, bus.DropOldest, bus.Block} {
		b := bus.New()
		const publishers, each = 4, 200
		handed, heard := uint64(0), uint64(0)
		var mu sync.Mutex
		// A subscriber before the asynchronous one counts what is handed on; closing is under way meanwhile, so that
		// an event may be heard by the first and miss the second altogether.
		bus.Subscribe(b, func(*first) { mu.Lock(); handed++; mu.Unlock() })
		half := make(chan struct{}, publishers)
		s := bus.SubscribeAsync(b, func(*first) { heard++ }, overflow, bus.QueueSize(2))
		var wg sync.WaitGroup
		for range publishers {
			wg.Go(func() {
				for i := range each {
					if i == each/2 {
						half <- struct{}{}
					}
					bus.Publish(b, &first{})
				}
			})
		}
		for range publishers {
			<-half
		}
		s.Close()
		after := heard
		wg.Wait()
		if heard != after {
			t.Errorf("%d: heard %d events after Close", overflow, heard-after)
		}
		if n := heard + s.Dropped(); n > handed || n < publishers*each/2 {
			t.Errorf("%d: heard %d, dropped %d, published %d", overflow, heard, s.Dropped(), handed)
		}
	}
}
