package conformance

import (
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// replay records sc and replays it with the server gone: the SDK's user sees the same.
func (s SDK[C]) replay(t *testing.T, sc Scenario[C]) {
	t.Helper()
	t.Setenv("CI", "")
	dir := t.TempDir()
	script, run := sc.Start()
	server := Serve(t, script)
	pass := func(mode cassette.Mode) (o Outcome) {
		t.Run(mode.String(), func(t *testing.T) {
			session := cassette.Use(t, "scenario", mode, cassette.Dir(dir))
			o = run(session.Context(t.Context()), t, core.Instrument(s.New(server.URL)))
			if r := session.Report(); mode == cassette.Replay && (r.Missed != 0 || r.Unused != 0) {
				t.Errorf("the replay went another way: %+v", r)
			}
		})
		return o
	}
	recorded := pass(cassette.Record)
	server.Close()
	_, run = sc.Start()
	replayed := pass(cassette.Replay)
	if recorded.TimedOut || recorded.Cancelled {
		// Live, SDKs tell of the context, whose end is not replayed: what it meant for the call is.
		recorded.Error, replayed.Error = "", ""
	}
	if replayed != recorded {
		t.Errorf("replayed  %+v\nrecorded  %+v", replayed, recorded)
	}
}
