// Package bus carries the events of a program that calls models and tools: a call starts, a call has ended.
//
// A [Bus] is typed by the events that travel on it. [Publish] hands an event to every subscriber of its type,
// synchronously, on the goroutine that publishes; [Subscribe] registers a callback; [SubscribeAsync] moves the callback
// to a goroutine of its own behind a bounded queue. A bus made with [Parent] passes all that it carries on to its
// parent, where each subscriber hears it once.
//
// The events of this package travel as pointers and are immutable by contract: a subscriber may keep an event, and the
// bytes in it, without copying, and must write to neither. Any other value can be published too, so that other tools
// can ride the same bus.
//
// The package knows nobody: it imports the standard library only.
package bus
