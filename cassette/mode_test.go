package cassette

import (
	"os"
	"strings"
	"testing"
)

func TestDecideMode(t *testing.T) {
	const file, noFile = true, false
	test := func(e environment) environment { e.testing = true; return e }
	ci := func(e environment) environment { e.ci = "true"; return test(e) }
	none := test(environment{})

	for _, tt := range []struct {
		reason   string
		explicit Mode
		env      environment
		exists   bool
		want     Mode
		err      string // part of the error; empty when there is none
	}{
		{"auto records where there is no file", Auto, none, noFile, Record, ""},
		{"auto replays a file", Auto, none, file, Replay, ""},
		{"record records", Record, none, noFile, Record, ""},
		{"record records anew", Record, none, file, Record, ""},
		{"replay without a file is still replay: it fails later, and never records", Replay, none, noFile, Replay, ""},
		{"replay", Replay, none, file, Replay, ""},
		{"extend without a file", Extend, none, noFile, Extend, ""},
		{"extend", Extend, none, file, Extend, ""},
		{"verify without a file fails later", Verify, none, noFile, Verify, ""},
		{"verify", Verify, none, file, Verify, ""},
		{"live without a file", Live, none, noFile, Live, ""},
		{"live", Live, none, file, Live, ""},

		{"an explicit mode wins over CASSETTE_MODE", Replay, test(environment{mode: "record"}), file, Replay, ""},
		{"live too", Live, test(environment{mode: "replay"}), file, Live, ""},
		{"CASSETTE_MODE wins over auto", Auto, test(environment{mode: "record"}), file, Record, ""},
		{"CASSETTE_MODE=live", Auto, test(environment{mode: "live"}), file, Live, ""},
		{"CASSETTE_MODE=verify", Auto, test(environment{mode: "verify"}), noFile, Verify, ""},
		{"CASSETTE_MODE=auto, no file", Auto, test(environment{mode: "auto"}), noFile, Record, ""},
		{"CASSETTE_MODE=auto, file", Auto, test(environment{mode: "auto"}), file, Replay, ""},

		{"an unknown value lists the valid ones", Auto, test(environment{mode: "rewind"}), file, Auto,
			`CASSETTE_MODE: unknown mode "rewind"; the modes are auto, record, replay, extend, verify, live`},
		{"case counts: Replay must not turn a replay off", Auto, test(environment{mode: "Replay"}), file, Auto, "the modes are"},
		{"so does white space", Auto, test(environment{mode: "replay "}), file, Auto, `"replay "`},
		{"even where an explicit mode would win", Replay, test(environment{mode: "rewind"}), file, Auto, "the modes are"},
		{"a number that is no mode", Mode(6), none, file, Auto, "unknown mode Mode(6); the modes are auto"},
		{"a negative one", Mode(-1), none, file, Auto, "unknown mode Mode(-1)"},

		{"in CI auto replays", Auto, ci(environment{}), file, Replay, ""},
		{"in CI auto never records", Auto, ci(environment{}), noFile, Replay, ""},
		{"nor does CASSETTE_MODE=auto", Auto, ci(environment{mode: "auto"}), noFile, Replay, ""},
		{"record was left in the code", Record, ci(environment{}), file, Auto, "set CASSETTE_MODE=record"},
		{"extend was left in the code", Extend, ci(environment{}), file, Auto, "set CASSETTE_MODE=extend"},
		{"though there is no file", Record, ci(environment{}), noFile, Auto, `CI="true"`},
		{"a nightly job means it", Record, ci(environment{mode: "record"}), file, Record, ""},
		{"a nightly job means extend", Extend, ci(environment{mode: "extend"}), file, Extend, ""},
		{"it means another mode than the code", Record, ci(environment{mode: "extend"}), file, Auto, "CASSETTE_MODE=record"},
		{"the other way round", Extend, ci(environment{mode: "record"}), file, Auto, "CASSETTE_MODE=extend"},
		{"a job that records what the code leaves open", Auto, ci(environment{mode: "record"}), file, Record, ""},
		{"a job that extends what the code leaves open", Auto, ci(environment{mode: "extend"}), noFile, Extend, ""},
		{"replay in CI", Replay, ci(environment{}), file, Replay, ""},
		{"verify in CI", Verify, ci(environment{}), file, Verify, ""},
		{"live in CI", Live, ci(environment{}), file, Live, ""},
		{"CI=1 is CI", Record, test(environment{ci: "1"}), file, Auto, `CI="1"`},
		{"any other text is CI", Auto, test(environment{ci: "woodpecker"}), noFile, Replay, ""},
		{"CI=0 is not", Record, test(environment{ci: "0"}), file, Record, ""},
		{"CI=false is not", Auto, test(environment{ci: "false"}), noFile, Record, ""},
		{"nor CI=False", Auto, test(environment{ci: "False"}), noFile, Record, ""},
		{"a program that is no test may record in CI", Record, environment{ci: "true"}, file, Record, ""},
		{"and auto in it records", Auto, environment{ci: "true"}, noFile, Record, ""},

		{"rerecord, auto", Auto, test(environment{rerecord: "1"}), file, Record, ""},
		{"rerecord, explicit replay", Replay, test(environment{rerecord: "1"}), file, Record, ""},
		{"rerecord, explicit replay without a file", Replay, test(environment{rerecord: "true"}), noFile, Record, ""},
		{"rerecord, extend", Extend, test(environment{rerecord: "1"}), file, Record, ""},
		{"rerecord, record", Record, test(environment{rerecord: "1"}), file, Record, ""},
		{"rerecord, CASSETTE_MODE=replay", Auto, test(environment{mode: "replay", rerecord: "1"}), file, Record, ""},
		{"rerecord leaves verify alone", Verify, test(environment{rerecord: "1"}), file, Verify, ""},
		{"rerecord leaves live alone", Live, test(environment{rerecord: "1"}), file, Live, ""},
		{"rerecord leaves CASSETTE_MODE=live alone", Auto, test(environment{mode: "live", rerecord: "1"}), file, Live, ""},
		{"rerecord=0 is none", Replay, test(environment{rerecord: "0"}), file, Replay, ""},
		{"rerecord=false is none", Auto, test(environment{rerecord: "false"}), file, Replay, ""},
		{"rerecord that says neither", Auto, test(environment{rerecord: "yes"}), file, Auto,
			`CASSETTE_RERECORD: "yes" is neither true nor false`},
		{"though live leaves it alone", Live, test(environment{rerecord: "yes"}), file, Auto, "CASSETTE_RERECORD"},
		{"in CI rerecord is ignored", Auto, ci(environment{rerecord: "1"}), file, Replay, ""},
		{"with an explicit replay", Replay, ci(environment{rerecord: "1"}), file, Replay, ""},
		{"with an extend that is meant", Extend, ci(environment{mode: "extend", rerecord: "1"}), file, Extend, ""},
		{"in CI it has to be understood all the same", Auto, ci(environment{rerecord: "yes"}), file, Auto, "CASSETTE_RERECORD"},
		{"rerecord excuses no record in the code", Record, ci(environment{rerecord: "1"}), file, Auto, "CASSETTE_MODE=record"},
	} {
		got, err := decideMode(tt.explicit, tt.env, tt.exists)
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("%s: %v", tt.reason, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: error %v, want one with %q", tt.reason, err, tt.err)
		case got != tt.want:
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Whatever stands in the code and in the environment, the mode decided is a valid one and never Auto; and in CI a run
// records only where CASSETTE_MODE says so.
func TestDecideModeAlways(t *testing.T) {
	modes := []Mode{Auto, Record, Replay, Extend, Verify, Live}
	for _, explicit := range modes {
		for _, named := range append([]string{""}, modeNames[:]...) {
			for _, rerecord := range []string{"", "0", "1"} {
				for _, ci := range []string{"", "0", "true"} {
					for _, exists := range []bool{false, true} {
						env := environment{mode: named, rerecord: rerecord, ci: ci, testing: true}
						got, err := decideMode(explicit, env, exists)
						if err != nil {
							if !env.inCI() {
								t.Errorf("%v, %+v: %v", explicit, env, err)
							}
							continue
						}
						if got == Auto || !got.valid() {
							t.Errorf("%v, %+v, exists %t: %v", explicit, env, exists, got)
						}
						if env.inCI() && (got == Record || got == Extend) && named != got.String() {
							t.Errorf("%v, %+v: %v in CI", explicit, env, got)
						}
					}
				}
			}
		}
	}
}

func TestModeNames(t *testing.T) {
	var zero Mode
	if zero != Auto {
		t.Error("the zero Mode is not Auto")
	}
	for m := Auto; m <= Live; m++ {
		got, err := parseMode(m.String())
		if err != nil || got != m {
			t.Errorf("%v comes back as %v, %v", m, got, err)
		}
	}
	if got := Mode(17).String(); got != "Mode(17)" {
		t.Errorf("an unknown mode prints %q", got)
	}
}

func TestReadEnvironment(t *testing.T) {
	t.Setenv("CASSETTE_MODE", "m")
	t.Setenv("CASSETTE_RERECORD", "r")
	t.Setenv("CI", "c")
	if got, want := readEnvironment(), (environment{"m", "r", "c", true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, name := range []string{"CASSETTE_MODE", "CASSETTE_RERECORD", "CI"} {
		os.Unsetenv(name) // t.Setenv puts it back
	}
	if got, want := readEnvironment(), (environment{testing: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
