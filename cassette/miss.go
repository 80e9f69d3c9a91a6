package cassette

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/cassette/internal/match"
)

// MissError says that a replay was asked for a call that its cassette has no answer for. errors.As finds it through
// every SDK. Its text has passed the redactor.
type MissError struct {
	// Cassette is the file's path, Call names the call.
	Cassette, Call string
	// Played is how often the same request was served before: as often as it was recorded. 0 when it was not recorded.
	Played int
	// Nearest is the number of the recorded interaction whose request is most like it, from 1; 0 when there is none.
	Nearest int
	// NearestCall names that interaction's call.
	NearestCall string
	// Differences tell how the nearest request differs from the live one, the first ones first.
	Differences []Difference
	// OrderOnly says that nothing but the order of elements differs.
	OrderOnly bool
	// Command records the test again.
	Command string
}

// Difference is one place at which two requests differ. A value that is not there is empty.
type Difference struct {
	Path           string // such as $.messages[1].content
	Recorded, Live string
}

func (e *MissError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cassette %s: no recording for %s", e.Cassette, e.Call)
	switch {
	case e.Played > 0:
		fmt.Fprintf(&b, ": the same request was recorded %s and has been played %[1]s", times(e.Played))
	case e.Nearest == 0:
		b.WriteString(": the cassette holds no call of this kind")
	default:
		fmt.Fprintf(&b, "\n  nearest: interaction %d, %s", e.Nearest, e.NearestCall)
		if e.OrderOnly {
			b.WriteString("\n  only the order of elements differs: is it built from a Go map?")
		}
		for _, d := range e.Differences {
			fmt.Fprintf(&b, "\n  %s\n    recorded: %s\n    live:     %s", d.Path, orAbsent(d.Recorded), orAbsent(d.Live))
		}
	}
	fmt.Fprintf(&b, "\n  to record it again: %s", e.Command)
	return b.String()
}

// RetryableError keeps the AWS SDK from asking again.
func (e *MissError) RetryableError() bool { return false }

// printable returns s with what does not print, such as the escapes that a terminal obeys, written as in Go source.
func printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) && utf8.ValidString(s) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// enumerate joins names as a sentence does, and counts those for which there is no room.
func enumerate(names []string) string {
	const room = 5
	if more := len(names) - room; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:room], ", "), more)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func orAbsent(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// miss makes the error of a call that the cassette has no answer for, and fails the test with it.
func (s *Session) miss(r *match.Request, played int) error {
	// The redactor may have learnt of a secret since, and would not know it again once a text is cut.
	r = s.comparer.hidden(r)
	e := &MissError{
		Cassette: s.store.path, Call: s.redactor.text(describe(r)), Played: played, Command: s.command(),
	}
	if played == 0 {
		s.compare(e, r)
	}
	text := e.Error()
	s.mu.Lock()
	s.report.Missed++
	again := s.missed[text]
	s.missed[text] = true
	s.mu.Unlock()
	if !again { // a program that tries again shall not bury the first
		s.fail(e)
	}
	return e
}

// command returns what records the session's test again.
func (s *Session) command() string {
	const variable = "CASSETTE_RERECORD=1"
	if s.t == nil {
		return "run the program again with " + variable
	}
	if _, ok := s.t.(*testing.B); ok {
		return "open the same cassette in a test, since benchmarks do not record"
	}
	pkg := packagePath()
	if pkg == unknownPackage {
		pkg = "."
	}
	if strings.ContainsAny(s.name, " \t\n") { // which package testing gives no test: another library did
		return fmt.Sprintf("%s go test -count=1 %s, with the flag by which your test library selects %q", variable, pkg, s.name)
	}
	var pattern []string
	for _, element := range strings.Split(s.name, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(element)+"$")
	}
	return fmt.Sprintf("%s go test -count=1 -run '%s' %s", variable, strings.ReplaceAll(strings.Join(pattern, "/"), "'", `'\''`), pkg)
}

const (
	maxDifferences = 5   // that a miss shows
	maxFound       = 500 // that are looked at to tell whether they are of order only
)

// compare finds the recorded request that is most like r, which is hidden, and says how the two differ.
func (s *Session) compare(e *MissError, r *match.Request) {
	at, ok := s.tape.nearest(r)
	if !ok {
		return
	}
	near := s.comparer.hidden(s.tape.request(at))
	e.Nearest, e.NearestCall = at+1, s.redactor.text(describe(near))
	found := s.comparer.matcher.Diff(r, near, maxFound)
	e.OrderOnly = 0 < len(found) && len(found) < maxFound &&
		!slices.ContainsFunc(found, func(d match.Difference) bool { return d.Change != match.Reordered })
	for _, d := range found[:min(len(found), maxDifferences)] {
		e.Differences = append(e.Differences, Difference{
			Path: s.redactor.text(d.Path), Recorded: s.redactor.text(d.Stored), Live: s.redactor.text(d.Live),
		})
	}
}
