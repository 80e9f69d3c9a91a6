package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
)

// lives are tests that TestLife runs, each in a test binary and a folder of its own, where a.json holds the answer to
// "old". They log the modes of their sessions.
var lives = map[string]func(t *testing.T){
	"record": func(t *testing.T) { once(t, "a", cassette.Record) },
	"auto":   func(t *testing.T) { once(t, "b") },
	"parallel": func(t *testing.T) {
		client := echoing.client()
		for i := range 24 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				s := use(t, "")
				for _, prompt := range []string{t.Name(), "and again " + t.Name()} {
					if got := ask(t, s.Context(t.Context()), client, prompt); !strings.Contains(got, prompt) {
						t.Errorf("asked %s, the answer is %s", prompt, got)
					}
				}
			})
		}
	},
	"use before parallel": func(t *testing.T) {
		for _, name := range []string{"one", "two"} {
			t.Run(name, func(t *testing.T) {
				s := use(t, "")
				t.Parallel()
				ask(t, s.Context(t.Context()), echoing.client(), "hi")
			})
		}
	},
	"use before parallel, no context": func(t *testing.T) {
		var asking sync.WaitGroup // so that both sessions are open
		asking.Add(2)
		for _, name := range []string{"one", "two"} {
			t.Run(name, func(t *testing.T) {
				use(t, "")
				t.Parallel()
				ask(t, t.Context(), unreachable(t).client(), "hi")
				asking.Done()
				asking.Wait()
			})
		}
	},
	"two": func(t *testing.T) {
		a, b := use(t, "a", cassette.Record), use(t, "b")
		ask(t, a.Context(t.Context()), echoing.client(), "to a")
		ask(t, b.Context(t.Context()), echoing.client(), "to b")
	},
	"two, no context": func(t *testing.T) {
		use(t, "a", cassette.Record)
		use(t, "b")
		ask(t, t.Context(), unreachable(t).client(), "hi")
	},
	"the same twice": func(t *testing.T) {
		once(t, "a", cassette.Record)
		use(t, "a")
	},
	"chdir": func(t *testing.T) {
		t.Chdir(t.TempDir())
		once(t, "b")
	},
	"cleanup": func(t *testing.T) {
		s := use(t, "b")
		ask(t, s.Context(t.Context()), echoing.client(), "hi")
		t.Cleanup(func() {
			if _, err := chat(s.Context(t.Context()), cancelling.client(), provider, "too late"); !errors.Is(err, context.Canceled) {
				t.Errorf("a call whose context is done gives %v", err)
			}
			ask(t, s.Context(context.WithoutCancel(t.Context())), echoing.client(), "bye")
		})
	},
	"cleanup before use": func(t *testing.T) {
		var s *cassette.Session
		t.Cleanup(func() {
			_, err := chat(s.Context(context.Background()), unreachable(t).client(), "http://127.0.0.1", "too late")
			if err == nil {
				t.Error("a call after the session's end was answered")
			}
			t.Log(err)
		})
		s = use(t, "b")
		ask(t, s.Context(t.Context()), echoing.client(), "hi")
	},
	"call under way": func(t *testing.T) {
		s := use(t, "b")
		started, ended := make(chan struct{}), make(chan error, 1)
		wire := &network{answer: func(req *http.Request, _ string) (*http.Response, error) {
			close(started)
			<-req.Context().Done()
			return nil, req.Context().Err()
		}}
		ctx := s.Context(t.Context())
		go func() {
			_, err := chat(ctx, wire.client(), provider, "hi")
			ended <- err
		}()
		<-started
		t.Cleanup(func() {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the call gives %v", err)
			}
		})
	},
	"bubbles": func(t *testing.T) {
		for i := range 8 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				cassette.Bubble(t, "", func(t *testing.T, s *cassette.Session) {
					t.Logf("the mode is %v", s.Mode())
					ask(t, s.Context(t.Context()), echoing.client(), t.Name())
				})
			})
		}
	},
	"bubble without a file": func(t *testing.T) {
		cassette.Bubble(t, "b", func(*testing.T, *cassette.Session) { t.Error("it ran") }, cassette.Replay)
	},
	"failing bubble": func(t *testing.T) {
		cassette.Bubble(t, "a", func(t *testing.T, s *cassette.Session) {
			ask(t, s.Context(t.Context()), unreachable(t).client(), "old")
			t.FailNow()
		})
	},

	"FailNow":  func(t *testing.T) { once(t, "a", cassette.Record); t.FailNow() },
	"SkipNow":  func(t *testing.T) { once(t, "a", cassette.Record); t.SkipNow() },
	"exit":     func(t *testing.T) { once(t, "a", cassette.Record); os.Exit(1) },
	"exit 0":   func(t *testing.T) { once(t, "a", cassette.Record); os.Exit(0) },
	"time-out": func(t *testing.T) { once(t, "a", cassette.Record); select {} },
	"panic in a subtest": func(t *testing.T) {
		once(t, "a", cassette.Record)
		t.Run("sub", func(*testing.T) { panic("in a subtest") })
	},
	"panic in a cleanup": func(t *testing.T) {
		once(t, "a", cassette.Record)
		t.Cleanup(func() { panic("in a cleanup") })
	},
	"panic in a goroutine": func(t *testing.T) {
		once(t, "a", cassette.Record)
		go panic("in a goroutine")
		select {}
	},
	"fatal subtest": func(t *testing.T) {
		once(t, "a", cassette.Record)
		t.Run("sub", func(t *testing.T) { t.Fatal("in a subtest") })
	},
	"recovered panic": func(t *testing.T) {
		s := use(t, "a", cassette.Record)
		defer func() { recover() }()
		ask(t, s.Context(t.Context()), echoing.client(), "new")
		panic("recovered")
	},
}

// echoing is a network whose model says what it is asked; in cancelling no call comes back before its context is done.
var (
	echoing = &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		return response(http.StatusOK, "application/json", completion(body)), nil
	}}
	cancelling = &network{answer: func(req *http.Request, _ string) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}}
)

// use is cassette.Use, with the mode in the log.
func use(t testing.TB, name string, opts ...cassette.Option) *cassette.Session {
	t.Helper()
	s := cassette.Use(t, name, opts...)
	t.Logf("the mode is %v", s.Mode())
	return s
}

// once makes one call in a session.
func once(t *testing.T, name string, opts ...cassette.Option) {
	t.Helper()
	s := use(t, name, opts...)
	ask(t, s.Context(t.Context()), echoing.client(), "new")
}

// life returns which of the lives this process has, and skips b in one that has none.
func life(b testing.TB) string {
	name := os.Getenv("LIFE")
	if name == "" {
		b.Skip("it is run by TestLife")
	}
	return name
}

func TestLived(t *testing.T) { lives[life(t)](t) }

func FuzzLived(f *testing.F) {
	life(f)
	f.Add("x")
	f.Add("y")
	f.Fuzz(func(t *testing.T, in string) {
		s := use(t, "")
		ask(t, s.Context(t.Context()), echoing.client(), in)
	})
}

func BenchmarkLived(b *testing.B) {
	name := life(b)
	s := use(b, name)
	client := echoing.client()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got, err := chat(s.Context(b.Context()), client, provider, "old"); err != nil || got != completion("answer 1") {
				b.Errorf("the answer is %s, %v", got, err)
			}
		}
	})
}

// What the life of a test binary brings: passes, shuffles, parallel tests, and every way in which a test ends.
func TestLife(t *testing.T) {
	const (
		passes = "ok"   // all tests of the process pass
		fails  = "fail" // they do not
	)
	alone := []string{"a.json"}
	aside := []string{"a.failed.json", "a.json"}
	for _, tt := range []struct {
		reason string
		life   string
		run    string // the test that is run; TestLived where it is empty
		flags  string
		ending string
		modes  string // of its sessions, in turn, each with the number of those that follow one another
		says   []string
		files  []string // what there is after it; nil where it is not of interest
		kept   bool     // a.json is as it was
	}{
		{"Record records in the first pass", "record", "", "-test.count=3", passes, "1 record, 2 replay", nil, alone, false},
		{"one pass for each number of processors", "record", "", "-test.cpu=1,2,3", passes, "1 record, 2 replay", nil, alone, false},
		{"Auto too", "auto", "", "-test.count=3", passes, "1 record, 2 replay", nil, []string{"a.json", "b.json"}, true},
		{"parallel subtests", "parallel", "", "-test.count=2 -test.shuffle=on -test.parallel=8", passes, "24 record, 24 replay", nil, nil, true},
		{"one at a time", "parallel", "", "-test.count=2 -test.parallel=1", passes, "24 record, 24 replay", nil, nil, true},
		{"Use before Parallel", "use before parallel", "", "-test.count=2", passes, "2 record, 2 replay", nil, nil, true},
		{"which leaves a call without a context in doubt", "use before parallel, no context", "", "-test.parallel=2", fails, "2 record",
			[]string{"sessions are open in TestLived/one and TestLived/two", "call t.Parallel before Use"}, alone, true},
		{"two cassettes in one test", "two", "", "-test.count=2", passes, "2 record, 2 replay", nil, []string{"a.json", "b.json"}, false},
		{"which leaves a call in doubt", "two, no context", "", "", fails, "2 record", []string{"s.Context(ctx)"}, alone, true},
		{"one cassette twice in one test", "the same twice", "", "", fails, "1 record", []string{"a.json is open already, in TestLived"}, nil, true},
		{"Chdir before Use", "chdir", "", "-test.count=2", passes, "1 record, 1 replay", nil, []string{"a.json", "b.json"}, true},
		{"calls of a cleanup, with the test's context done", "cleanup", "", "-test.count=2", passes, "1 record, 1 replay", nil, []string{"a.json", "b.json"}, true},
		{"a cleanup that comes after the session's", "cleanup before use", "", "", passes, "1 record",
			[]string{"belongs to TestLived, which has ended"}, []string{"a.json", "b.json"}, true},
		{"a call that the test's end cancels", "call under way", "", "", passes, "1 record", nil, []string{"a.json", "b.json"}, true},
		{"bubbles", "bubbles", "", "-test.count=2 -test.parallel=8", passes, "8 record, 8 replay", nil, nil, true},
		{"a bubble without a file", "bubble without a file", "", "", fails, "", []string{"CASSETTE_RERECORD=1 go test -count=1 -run '^TestLived$'"}, alone, true},
		{"a bubble that fails", "failing bubble", "", "", fails, "", []string{"FAIL: TestLived"}, alone, true},

		{"FailNow", "FailNow", "", "", fails, "1 record", []string{"a.failed.json"}, aside, true},
		{"SkipNow", "SkipNow", "", "", passes, "1 record", []string{"a.failed.json"}, aside, true},
		{"a subtest fails", "fatal subtest", "", "", fails, "1 record", []string{"a.failed.json"}, aside, true},
		{"a subtest panics", "panic in a subtest", "", "", fails, "1 record", []string{"panic: in a subtest", "a.failed.json"}, aside, true},
		{"a cleanup panics", "panic in a cleanup", "", "", fails, "1 record", []string{"panic: in a cleanup", "a.failed.json"}, aside, true},
		{"a panic that the test recovers", "recovered panic", "", "", passes, "1 record", nil, alone, false},
		{"the process dies of another goroutine's panic", "panic in a goroutine", "", "", fails, "1 record", []string{"panic: in a goroutine"}, alone, true},
		{"the process exits", "exit", "", "", fails, "1 record", nil, alone, true},
		{"the process exits without an error", "exit 0", "", "-test.paniconexit0", fails, "1 record", []string{"unexpected call to os.Exit(0)"}, aside, true},
		{"the time is up", "time-out", "", "-test.timeout=1s", fails, "", []string{"test timed out"}, alone, true},

		{"the seeds of a fuzz test", "fuzz", "FuzzLived", "-test.count=2", passes, "2 record, 2 replay", nil, nil, true},
		{"a parallel benchmark", "a", "", "-test.run=^$ -test.bench=^BenchmarkLived$ -test.benchtime=20x -test.count=2", passes, "", nil, alone, true},
		{"a benchmark records nothing", "b", "", "-test.run=^$ -test.bench=^BenchmarkLived$ -test.benchtime=20x", fails, "", []string{"benchmarks do not record"}, alone, true},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			cassettes := filepath.Join(dir, "testdata", "cassettes")
			record(t, cassettes, "a.json", "old")
			before := read(t, cassettes, "a.json")
			if tt.run == "" {
				tt.run = "TestLived"
			}
			out, err := live(dir, tt.life, append([]string{"-test.run=^" + tt.run + "$"}, strings.Fields(tt.flags)...)...)
			ending := passes
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				ending = fails
			} else if err != nil {
				t.Fatal(err)
			}
			if ending != tt.ending {
				t.Errorf("the process ends with %s, want %s:\n%s", ending, tt.ending, out)
			}
			if got := modesIn(out); tt.modes != "" && got != tt.modes {
				t.Errorf("the modes are %s, want %s:\n%s", got, tt.modes, out)
			}
			wantText(t, out, tt.says...)
			if tt.files != nil {
				wantFiles(t, cassettes, tt.files...)
			}
			if same := read(t, cassettes, "a.json") == before; same != tt.kept {
				t.Errorf("a.json is as it was: %v, want %v", same, tt.kept)
			}
			for name := range contents(t, cassettes) {
				if _, err := cassette.Load(filepath.Join(cassettes, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// live runs a life in dir and returns its output.
func live(dir, name string, flags ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, append(flags, "-test.v")...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "LIFE="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var modeLine = regexp.MustCompile(`the mode is (\w+)`)

// modesIn counts the modes that follow one another in the log of a process.
func modesIn(out string) string {
	var runs []string
	last, n := "", 0
	for _, m := range append(modeLine.FindAllStringSubmatch(out, -1), []string{"", ""}) {
		if m[1] != last && n > 0 {
			runs = append(runs, fmt.Sprintf("%d %s", n, last))
			n = 0
		}
		last = m[1]
		n++
	}
	return strings.Join(runs, ", ")
}

// The go command keeps the result of a test until something changes that the test asked for. A replay asks, through
// package os, for its file and for the variables that decide on its mode.
func TestCachedResultsKnowTheCassette(t *testing.T) {
	dir := folder(t)
	cassettes := filepath.Join(dir, "testdata", "cassettes")
	record(t, cassettes, "b.json", "new")
	log := filepath.Join(t.TempDir(), "log")
	if out, err := live(dir, "auto", "-test.run=^TestLived$", "-test.testlogfile="+log); err != nil || modesIn(out) != "1 replay" {
		t.Fatalf("%v:\n%s", err, out)
	}
	wantText(t, read(t, log), "open "+filepath.Join(cassettes, "b.json")+"\n",
		"getenv CASSETTE_MODE\n", "getenv CASSETTE_DIR\n", "getenv CASSETTE_RERECORD\n", "getenv CI\n")
}
