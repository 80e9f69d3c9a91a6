package cassette

import (
	"testing"
	"testing/synctest"
)

// Bubble is [Use] and fn: inside a bubble of testing/synctest when the mode decided on is [Replay], where the sleeps of
// every SDK and framework, such as those before a retry, cost no time; as a plain call otherwise, since a bubble has no
// network. In a bubble, fn has to obey the rules of synctest: what it starts must end before it returns.
func Bubble(t *testing.T, name string, fn func(*testing.T, *Session), opts ...Option) {
	t.Helper()
	if !wouldReplay(t, name, opts) {
		fn(t, Use(t, name, opts...))
		return
	}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		fn(t, Use(t, name, opts...))
	})
}

// wouldReplay reports whether Use would decide on Replay. What Use would fail on it leaves to Use.
func wouldReplay(t T, name string, opts []Option) bool {
	s := &Session{name: t.Name(), t: t}
	var err error
	if s.settings, err = newSettings(opts); err != nil {
		return false
	}
	return s.locate(name) == nil && s.decide() == nil && s.mode == Replay
}
