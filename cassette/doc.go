// Package cassette records the calls of a test once, model calls and tool calls alike, and replays them for ever: the
// same bytes, no network, no key, no cost.
//
//	client := core.Instrument(openai.NewClient())
//
//	func TestTriage(t *testing.T) {
//		s := cassette.Use(t, "triage.json", cassette.Auto)
//		answer := agent.Run(s.Context(t.Context()), client, "My card was charged twice")
//		…
//	}
//
// A session subscribes to the bus of its calls to record them, and intercepts them to replay them. Nothing else of the
// program changes: the instrumented client is the one that runs in production.
//
// # Modes
//
//	mode      no file   file
//	Auto      record    replay                              in CI it is Replay
//	Record    record    record anew
//	Replay    fail      replay                              nothing can go out
//	Extend    record    replay what is known, record what is new
//	Verify    fail      live, compare with the file, never write    see Session.Drift
//	Live      live      live, the file is not read
//
// A mode other than Auto that is given to [Use] wins; then CASSETTE_MODE; then Auto. CASSETTE_RERECORD=1 records anew
// what Auto, Replay or Extend would have answered, outside of CI. In CI, Record or Extend in the code fails the test
// unless CASSETTE_MODE names the same.
//
// # Which session owns a call
//
// In this order:
//
//  1. A context of [Unrecorded] belongs to none; of it and [Session.Context] the inner wins.
//  2. The session of the call's context ([Session.Context]).
//  3. The session that its client is bound to (core.WithBus(s.Bus())).
//  4. The only session that is open on its bus, a test's before one of [Open]. CASSETTE_STRICT, set to anything but 0 or
//     false, turns this off.
//  5. With two or more open the call is refused, and the tests fail, with the remedy in the text.
//  6. With none open, in a test binary, an HTTP call is refused unless it goes to a loopback address or CASSETTE_MODE is
//     live. Outside of test binaries it goes out. Tools, which have no address, run.
//
// The context and the bus of a session that has ended own nothing: their calls are refused.
//
// What a tool does inside of its body, asking a model say, is recorded too. In a replay the body does not run, and what
// it did then is not waited for.
//
// # Matching
//
// Two calls are the same when their requests are: provider, wire format, model, operation, method, query and the whole
// body, as a JSON value. Headers, credentials and, for a known format, host and path take no part. Equal requests are
// answered in the order in which they started, each once; [RepeatLast], [Ignore], [MatchMessages] and [Normalize]
// say otherwise. A call that was not recorded is a miss: it fails the test at once, with a [*MissError] that names the
// nearest recording, the differences, and the command that records the test again.
//
// # Files
//
// Cassettes stand in testdata/cassettes of the package, as JSON, or JSON Lines for a name that ends in ".jsonl"; in
// CASSETTE_DIR below the package's import path when it is set; elsewhere with [Dir]. They are made to be committed and
// reviewed: secrets are hidden (package core/redact), and nothing changes in the file when the run did not. A run that
// failed leaves the cassette alone; what it recorded goes to a file beside it.
package cassette
