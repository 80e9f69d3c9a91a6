package bus_test

import (
	"fmt"

	"github.com/mixtape-go/mixtape/bus"
)

// A subscriber hears each call when it has ended, on the goroutine that ended it.
func ExampleSubscribe() {
	b := bus.New()
	cancel := bus.Subscribe(b, func(c *bus.LLMCall) {
		fmt.Println(c.Provider, c.Model, c.Status, c.Ending)
	})
	defer cancel()

	bus.Publish(b, &bus.LLMCall{Provider: "openai", Model: "gpt-4o", Status: 200, Ending: bus.EndingComplete})
	bus.Publish(b, &bus.ToolCall{Name: "refund"}) // another type: not heard
	// Output: openai gpt-4o 200 complete
}

// A slow subscriber moves to a goroutine of its own. Close waits for what is queued.
func ExampleSubscribeAsync() {
	b := bus.New()
	s := bus.SubscribeAsync(b, func(c *bus.ToolCall) {
		fmt.Println("stored", c.Name)
	}, bus.QueueSize(64), bus.DropOldest)

	bus.Publish(b, &bus.ToolCall{Name: "lookup"})
	bus.Publish(b, &bus.ToolCall{Name: "refund"})
	s.Close()
	fmt.Println("dropped", s.Dropped())
	// Output:
	// stored lookup
	// stored refund
	// dropped 0
}

// A publisher skips the work of building an event that nobody would hear.
func ExampleActive() {
	type cacheHit struct{ Key string }

	b := bus.New()
	lookup := func(key string) {
		if bus.Active[*cacheHit](b) {
			bus.Publish(b, &cacheHit{Key: key})
		}
	}
	lookup("unheard")
	bus.Subscribe(b, func(h *cacheHit) { fmt.Println("hit", h.Key) })
	lookup("heard")
	// Output: hit heard
}

// What happens on a session's bus is heard on its parent too, once.
func ExampleParent() {
	process := bus.New()
	session := bus.New(bus.Parent(process))
	bus.Subscribe(process, func(c *bus.ToolCall) { fmt.Println("process:", c.Name) })
	bus.Subscribe(session, func(c *bus.ToolCall) { fmt.Println("session:", c.Name) })

	bus.Publish(session, &bus.ToolCall{Name: "refund"})
	// Output:
	// session: refund
	// process: refund
}
