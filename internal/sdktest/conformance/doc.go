// Package conformance holds what every SDK must do under core.Instrument, as one body that each SDK's own test module
// runs: the module says how its SDK makes a call, in a table of closures, and the body does the rest.
//
// A [Scenario] is one conversation with the model server. Its run function drives a client and returns what the SDK's
// user sees of it, as a value that can be compared: so the same scenario can run against a plain client, an instrumented
// one, and one that replays.
//
// The modules are nested, since the SDKs must not be in the module graph of whoever imports Mixtape. The workspace at
// the root holds those whose SDKs go together; the others are tested in their folders with GOWORK=off.
package conformance
