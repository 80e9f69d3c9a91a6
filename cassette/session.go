package cassette

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
	"github.com/mixtape-go/mixtape/internal/route"
)

// T is the part of testing.TB that a session needs. Any test library's handle that has it will do; one that has a
// FailNow method too is stopped where going on would make no sense.
type T interface {
	Helper()
	Name() string
	Cleanup(func())
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
	Failed() bool
	Skipped() bool
}

// Session is one use of a cassette, from [Use] or [Open] until the test ends or Close is called. Its methods are safe
// for concurrent use.
type Session struct {
	name     string // the test, or the file for a session of Open
	t        T      // nil for a session of Open
	mode     Mode
	settings *settings
	store    store
	bus      *bus.Bus
	redactor *hider
	comparer *comparer
	loaded   []byte // the file's bytes; nil when there was none, or it was not read
	file     *File  // what they hold
	tape     *tape  // nil unless the mode replays
	recorder *recorder
	broken   error // why the session could not be opened
	stop     []func()

	gate   sync.RWMutex // held for reading while the test is told something, so that it has not ended
	closed bool         // guarded by gate

	mu       sync.Mutex
	problems []error
	report   Report
	missed   map[string]bool // texts of misses that the test was told
	out      map[uint64]bool // Seq of calls that went out, are under way, and will be recorded
}

// Report counts what became of a session's calls.
type Report struct {
	Served   int // answered from the file; a call of several attempts counts once
	Recorded int // attempts that were recorded
	Unused   int // recorded calls that nobody asked for
	Missed   int // calls that the file has no answer for
	Refused  int // calls that could not be told to be the session's
	Live     int // calls that went out and were not recorded
}

// Use opens the cassette called name for t, until t ends. The name stands for a file below testdata/cassettes of the
// package; an empty one is made from t.Name(). What goes wrong fails t: a miss at once, unused recordings and what
// cannot be saved when t ends. In a *testing.F it is refused; its targets' *testing.T will do.
//
// Use goes after t.Parallel, and before the first call. See the package's documentation for modes and ownership.
func Use(t T, name string, opts ...Option) *Session {
	t.Helper()
	s := &Session{name: t.Name(), t: t}
	if err := s.open(name, opts); err != nil {
		s.breakDown(err)
		t.Errorf("%v", err)
		if f, ok := t.(interface{ FailNow() }); ok {
			f.FailNow()
		}
		return s
	}
	t.Cleanup(func() {
		t.Helper()
		for _, err := range s.finish() {
			t.Errorf("%v", err)
		}
	})
	return s
}

// Open opens the cassette at path outside of tests; [Session.Close] ends the session and saves what it recorded. A
// relative path is taken from the folder given with [Dir], else from the one in which the process started. Options are
// those of Use.
func Open(path string, opts ...Option) (*Session, error) {
	s := &Session{name: path}
	if err := s.open(path, opts); err != nil {
		return nil, err
	}
	return s, nil
}

// breakDown makes s a session that refuses its calls.
func (s *Session) breakDown(err error) {
	s.broken = fmt.Errorf("%w: %w", errBroken, err)
	if s.settings == nil {
		s.settings = &settings{}
	}
	if s.bus == nil {
		s.connect()
	}
	owners.mu.Lock()
	owners.open = append(owners.open, s)
	openCount.Add(1)
	owners.mu.Unlock()
	s.t.Cleanup(func() { s.finish() })
}

// open does what Use and Open have in common.
func (s *Session) open(name string, opts []Option) (err error) {
	if s.settings, err = newSettings(opts); err != nil {
		return fmt.Errorf("cassette %s: %w", orName(name, s.name), err)
	}
	if err := s.locate(name); err != nil {
		return err
	}
	if err := s.decide(); err != nil {
		return err
	}
	if err := s.equip(); err != nil {
		return fmt.Errorf("cassette %s: %w", s.store.path, err)
	}
	if err := s.load(); err != nil {
		return err
	}
	s.connect()
	return claim(s)
}

func orName(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// locate finds where the cassette is kept.
func (s *Session) locate(name string) (err error) {
	if s.t == nil {
		if name == "" {
			return errors.New("cassette: Open needs a path")
		}
		dir, base := filepath.Split(filepath.Clean(name))
		if s.settings.dir != "" && !filepath.IsAbs(name) {
			dir = filepath.Join(s.settings.dir, dir)
		}
		if dir == "" {
			dir = "."
		}
		s.store, err = storeAt(dir, base)
		return err
	}
	if _, ok := s.t.(*testing.F); ok {
		return fmt.Errorf("cassette: %s is a fuzz test, which runs before its inputs are known: call Use in the function that is given to Fuzz", s.name)
	}
	rel, err := fileName(name, s.name)
	if err != nil {
		return err
	}
	s.store, err = newStore(s.settings.dir, rel, os.Getenv)
	if err == nil {
		ask(s.store.key())
	}
	return err
}

// decide finds the mode of the session.
func (s *Session) decide() error {
	exists, err := s.store.exists()
	if err != nil {
		return readError(s.store.path, err)
	}
	if s.mode, err = decideMode(s.settings.mode, readEnvironment(), exists); err != nil {
		return err
	}
	if _, ok := s.t.(*testing.B); ok {
		if s.mode == Record || s.mode == Extend {
			return fmt.Errorf("cassette %s: benchmarks do not record; record it with a test first", s.store.path)
		}
		s.settings.repeatLast, s.settings.allowUnused = true, true
	}
	if (s.mode == Record || s.mode == Extend) && s.t != nil && isFuzzWorker() {
		return fmt.Errorf("cassette %s: fuzzing does not record, since all inputs of %s share one file; record it first, with go test -count=1 and without -fuzz", s.store.path, s.name)
	}
	if s.mode == Record && s.t != nil && exists && !passes.first(s.store.key(), s.name) {
		s.mode = Replay // a later pass of -count
	}
	return nil
}

// isFuzzWorker reports whether this process runs the inputs that go test -fuzz makes up.
func isFuzzWorker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// equip makes what the session compares and hides with.
func (s *Session) equip() (err error) {
	rules := s.settings.rules
	if !s.settings.noRedaction {
		rules = append(redact.Default(), rules...)
	}
	r, err := redact.New(rules...)
	if err != nil {
		return err
	}
	s.redactor = &hider{Redactor: r}
	if !s.settings.noRedaction {
		s.redactor.Credential(redact.CredentialsFromEnv(os.Environ(), pathExists)...)
	}
	s.comparer, err = newComparer(s.settings, s.redactor.Redactor)
	return err
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// load reads the file, where the mode asks for one.
func (s *Session) load() error {
	if s.mode == Live {
		return nil
	}
	data, err := s.store.read()
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.mode.writes():
		return nil
	case err != nil && s.mode == Record:
		return nil // what stands there is to be replaced; saving will tell whether it can be
	case err != nil:
		return s.missing(err)
	}
	s.loaded = data
	if s.mode == Record {
		s.file, _ = readFile(s.store.path, data, s.store.blob, nil) // to see whether anything but times changed
		return nil
	}
	var outlines []outline
	if s.file, err = readFile(s.store.path, data, s.store.blob, func(o outline) { outlines = append(outlines, o) }); err != nil {
		return err
	}
	s.redactor.Names(s.file.Rules...)
	for fp := range redact.Placeholders(data) {
		s.redactor.Known(fp) // so that live values take the same
	}
	var places []string
	for _, o := range outlines {
		places = append(places, o.hidden...)
	}
	s.redactor.KnownNumbers(places...)
	if s.mode == Verify {
		return nil
	}
	s.compareRules()
	if s.tape, err = newTape(s.file, outlines, s.comparer, s.settings.repeatLast); err != nil {
		fe := &FileError{Path: s.store.path, Err: err, Remedy: remedyEdit}
		if errors.Is(err, errNormalize) {
			fe.Remedy = "mend that function"
		}
		return fe
	}
	return nil
}

// compareRules logs which rules are on that were not when the file was recorded.
func (s *Session) compareRules() {
	added := slices.DeleteFunc(s.redactor.Rules(), func(name string) bool { return slices.Contains(s.file.Rules, name) })
	if s.t != nil && len(added) > 0 {
		s.t.Logf("cassette %s was recorded without the redaction rules %s, so that what they hide may stand in it; record it again: %s", s.store.path, enumerate(added), s.command())
	}
}

// missing is the error of a mode that cannot do without a file.
func (s *Session) missing(err error) error {
	fe := readError(s.store.path, err)
	if errors.Is(err, fs.ErrNotExist) && s.t != nil {
		fe.Remedy = "record it: " + s.command()
		if readEnvironment().inCI() {
			fe.Remedy = "nothing is recorded in CI; record it elsewhere and commit it: " + s.command()
		}
		if s.mode == Verify { // which CASSETTE_RERECORD leaves alone
			fe.Remedy = "verify compares with a recording: make one first, in the mode auto or record"
		}
		if orphans := s.orphans(); len(orphans) > 0 {
			fe.Remedy += fmt.Sprintf("; in its folder no test has opened %s so far: was one of them renamed?", enumerate(orphans))
		}
	}
	return fe
}

// connect puts the session on a bus of its own.
func (s *Session) connect() {
	parent := s.settings.bus
	if parent == nil {
		parent = bus.Default()
	}
	s.bus = bus.New(bus.Parent(parent))
	s.out, s.missed = map[uint64]bool{}, map[string]bool{}
	s.bus.Attached(ownerKey{}, func() any { return s })
	// It is never removed: a call that was on its way here when the session ended is refused, and does not go out.
	core.Intercept(s.bus, (*interceptor)(s), core.Innermost())
	if s.mode.writes() || s.mode == Verify {
		s.recorder = newRecorder(s)
		s.stop = append(s.stop, s.recorder.subscribe(s.bus)...)
	}
}

// Context returns a context whose calls belong to the session and run on its bus.
func (s *Session) Context(ctx context.Context) context.Context { return route.WithBus(ctx, s.bus) }

// Bus returns the session's own bus. A client that is bound to it (core.WithBus) belongs to the session; a subscriber
// hears the session's calls only.
func (s *Session) Bus() *bus.Bus { return s.bus }

// Mode returns the mode that was decided on; never Auto.
func (s *Session) Mode() Mode { return s.mode }

// Path returns the cassette's path, for messages.
func (s *Session) Path() string { return s.store.path }

// Report returns what became of the session's calls so far.
func (s *Session) Report() Report {
	s.mu.Lock()
	r := s.report
	s.mu.Unlock()
	if s.tape != nil {
		r.Served, r.Unused = s.tape.served(), len(s.tape.unused())
	}
	switch {
	case s.recorder == nil:
	case s.mode == Verify:
		r.Live += s.recorder.count()
	default:
		r.Recorded = s.recorder.count()
	}
	return r
}

// Close ends the session: calls under way are recorded as far as they came, and what was recorded is saved. It returns
// what would have failed a test, joined: misses, refused calls, unused recordings, nothing served, and what could not
// be saved. For a session of [Use] the end of the test does the same. A second call returns nil.
func (s *Session) Close() error { return errors.Join(s.finish()...) }

func (s *Session) isClosed() bool {
	s.gate.RLock()
	defer s.gate.RUnlock()
	return s.closed
}

// fail notes what is wrong, and fails the test at once where there is one that still runs.
func (s *Session) fail(err error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return
	}
	if s.t == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.problems = append(s.problems, err)
		return
	}
	s.t.Helper()
	s.t.Errorf("%v", err)
}

// refused notes a call that may have been the session's.
func (s *Session) refused(err error) {
	s.mu.Lock()
	s.report.Refused++
	s.mu.Unlock()
	s.fail(err)
}

// finish ends the session and returns what the test does not know yet.
func (s *Session) finish() []error {
	if s.isClosed() {
		return nil
	}
	core.Drain(s.bus)
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		return nil
	}
	s.closed = true
	s.gate.Unlock()
	s.mu.Lock()
	problems := s.problems
	s.mu.Unlock()
	release(s)
	for _, stop := range s.stop {
		stop()
	}
	if s.broken != nil {
		return nil
	}
	failed := len(problems) > 0 || s.t != nil && (s.t.Failed() || s.t.Skipped()) || unwinding()
	switch {
	case s.recorder != nil && s.mode.writes():
		problems = append(problems, s.recorder.save(failed)...)
	case s.mode == Replay:
		problems = append(problems, s.checkServed(failed)...)
	}
	return slices.DeleteFunc(problems, func(err error) bool { return err == nil })
}

// checkServed returns what is wrong with a replay that otherwise passed.
func (s *Session) checkServed(failed bool) []error {
	if failed {
		return nil
	}
	unused := s.tape.unused()
	if s.tape.served() == 0 && s.Report().Live == 0 {
		return []error{fmt.Errorf("cassette %s: nothing was served: no call reached it; instrument the client (core.Instrument), and give its calls the session's context where another session is open", s.store.path)}
	}
	if len(unused) == 0 || s.settings.allowUnused {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cassette %s: %d of %d recorded calls were not asked for:", s.store.path, len(unused), len(s.tape.calls))
	for n, i := range unused {
		if n == 10 {
			fmt.Fprintf(&b, "\n  and %d more", len(unused)-n)
			break
		}
		fmt.Fprintf(&b, "\n  interaction %d: %s", i+1, s.redactor.text(describe(s.tape.outlines[i])))
	}
	fmt.Fprintf(&b, "\nrecord it again (%s), or allow it with cassette.AllowUnused()", s.command())
	return []error{errors.New(b.String())}
}
