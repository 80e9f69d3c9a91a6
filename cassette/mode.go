package cassette

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Mode says where the answers of a session come from, and whether its calls are recorded. The zero Mode is [Auto].
type Mode int

const (
	// Auto replays the file, and records when there is none. In CI it is Replay.
	Auto Mode = iota
	// Record makes every call live and records it anew.
	Record
	// Replay answers every call from the file. Nothing can go out; a missing file is a failure.
	Replay
	// Extend replays what the file knows and records what is new. What a run records never answers that run.
	Extend
	// Verify makes every call live, compares it with the file and never writes. A missing file is a failure.
	Verify
	// Live makes every call live and neither reads nor writes the file.
	Live
)

var modeNames = [...]string{"auto", "record", "replay", "extend", "verify", "live"}

// String returns the mode's name, as CASSETTE_MODE spells it.
func (m Mode) String() string {
	if !m.valid() {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modeNames[m]
}

func (m Mode) valid() bool { return m >= 0 && int(m) < len(modeNames) }

var errUnknownMode = errors.New("unknown mode")

func modeList() string { return strings.Join(modeNames[:], ", ") }

// parseMode reads a mode's name as String spells it: case and white space count, since a mode that was meant and not
// understood must never pass for another.
func parseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return Auto, fmt.Errorf("%w %q; the modes are %s", errUnknownMode, s, modeList())
}

// environment is what decides on a mode besides the code. An empty variable is one that is not set.
type environment struct {
	mode     string // CASSETTE_MODE
	rerecord string // CASSETTE_RERECORD
	ci       string // CI
	testing  bool   // this is a test binary
}

func readEnvironment() environment {
	return environment{
		mode:     os.Getenv("CASSETTE_MODE"),
		rerecord: os.Getenv("CASSETTE_RERECORD"),
		ci:       os.Getenv("CI"),
		testing:  testing.Testing(),
	}
}

// inCI reports whether this is a test run of a CI service. A program that runs there is no test, and records as told.
func (e environment) inCI() bool {
	return e.testing && e.ci != "" && e.ci != "0" && !strings.EqualFold(e.ci, "false")
}

// namedMode returns the mode that CASSETTE_MODE names, Auto when it names none.
func (e environment) namedMode() (Mode, error) {
	if e.mode == "" {
		return Auto, nil
	}
	m, err := parseMode(e.mode)
	if err != nil {
		return Auto, fmt.Errorf("cassette: CASSETTE_MODE: %w", err)
	}
	return m, nil
}

func (e environment) wantsRerecord() (bool, error) {
	if e.rerecord == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(e.rerecord)
	if err != nil {
		return false, fmt.Errorf("cassette: CASSETTE_RERECORD: %q is neither true nor false; set it to 1, or unset it", e.rerecord)
	}
	return yes, nil
}

// decideMode returns the mode of a session, never Auto, from the mode that stands in the code, the environment, and
// whether the cassette's file exists, readable or not. In order:
//
//   - A value that is not understood is an error, wherever it stands and whatever wins.
//   - In CI, Record or Extend in the code is an error unless CASSETTE_MODE names the same.
//   - An explicit mode other than Auto wins, then CASSETTE_MODE, then Auto.
//   - Outside CI, CASSETTE_RERECORD turns Auto, Replay and Extend into Record.
//   - Auto is Replay where the file exists and in CI, else Record.
func decideMode(explicit Mode, env environment, exists bool) (Mode, error) {
	if !explicit.valid() {
		return Auto, fmt.Errorf("cassette: %w %v; the modes are %s", errUnknownMode, explicit, modeList())
	}
	named, err := env.namedMode()
	if err != nil {
		return Auto, err
	}
	rerecord, err := env.wantsRerecord()
	if err != nil {
		return Auto, err
	}

	if env.inCI() && (explicit == Record || explicit == Extend) && named != explicit {
		return Auto, fmt.Errorf("cassette: the mode %v stands in the code of a test that runs in CI (CI=%q), where nothing is "+
			"recorded by accident; take it out of the code, or set CASSETTE_MODE=%[1]v in a job that is meant to record",
			explicit, env.ci)
	}

	mode := explicit
	if mode == Auto {
		mode = named
	}
	if rerecord && !env.inCI() && (mode == Auto || mode == Replay || mode == Extend) {
		mode = Record
	}
	if mode == Auto {
		if exists || env.inCI() {
			return Replay, nil
		}
		return Record, nil
	}
	return mode, nil
}

// writes reports whether a session in this mode may write its file.
func (m Mode) writes() bool { return m == Record || m == Extend }
