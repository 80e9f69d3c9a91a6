package cassette_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// No run but a good one writes over a cassette. What a bad one recorded stands beside it, and the log says so.
func TestBadRunsLeaveTheCassette(t *testing.T) {
	for _, tt := range []struct {
		reason string
		mode   cassette.Mode
		run    func(f *fakeT, ctx context.Context, client *http.Client)
		failed bool // something was recorded
	}{
		{"failed", cassette.Record, func(f *fakeT, ctx context.Context, client *http.Client) {
			ask(t, ctx, client, "new")
			f.fail()
		}, true},
		{"failed before a call", cassette.Record, func(f *fakeT, ctx context.Context, client *http.Client) { f.fail() }, false},
		{"skipped", cassette.Record, func(f *fakeT, ctx context.Context, client *http.Client) {
			ask(t, ctx, client, "new")
			f.skip()
		}, true},
		{"empty", cassette.Record, func(*fakeT, context.Context, *http.Client) {}, false},
		{"failed, extending", cassette.Extend, func(f *fakeT, ctx context.Context, client *http.Client) {
			ask(t, ctx, client, "old")
			ask(t, ctx, client, "new")
			f.fail()
		}, true},
		{"extending with nothing new", cassette.Extend, func(f *fakeT, ctx context.Context, client *http.Client) {
			ask(t, ctx, client, "old")
		}, false},
		{"live", cassette.Live, func(f *fakeT, ctx context.Context, client *http.Client) { ask(t, ctx, client, "new") }, false},
		{"verify", cassette.Verify, func(f *fakeT, ctx context.Context, client *http.Client) { ask(t, ctx, client, "new") }, false},
		{"a replay that missed", cassette.Replay, func(f *fakeT, ctx context.Context, client *http.Client) {
			chat(ctx, client, provider, "new")
		}, false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			record(t, dir, "a.json", "old")
			before := read(t, dir, "a.json")
			f := newT(t, "TestBadRun/"+tt.reason)
			s := cassette.Use(f, "a.json", cassette.Dir(dir), tt.mode)
			tt.run(f, s.Context(t.Context()), answering("new answer").client())
			f.end()
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
			if !tt.failed {
				wantFiles(t, dir, "a.json")
				return
			}
			wantFiles(t, dir, "a.json", "a.failed.json")
			wantText(t, f.logText(), "is left as it was", filepath.Join(dir, "a.failed.json"))
			failed, err := cassette.Load(filepath.Join(dir, "a.failed.json"))
			if err != nil {
				t.Fatal(err)
			}
			if last := failed.Interaction(failed.Len() - 1); !strings.Contains(string(last.HTTP.Response.Bytes), "new answer") {
				t.Errorf("the failed recording ends with %s", last.HTTP.Response.Bytes)
			}
		})
	}
}

// TestChild is what other tests run in a process of its own.
func TestChild(t *testing.T) {
	dir := os.Getenv("CHILD_DIR")
	switch os.Getenv("CHILD") {
	case "":
		t.Skip("it is run by other tests")
	case "panic":
		s := cassette.Use(t, "a.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering("new answer").client(), "new")
		panic("in call 2 of 3")
	case "goexit":
		s := cassette.Use(t, "a.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering("new answer").client(), "new")
		runtime.Goexit()
	case "large":
		s := cassette.Use(t, "a.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering(strings.Repeat("large ", 2000)).client(), "new")
	}
}

// child runs TestChild in a process of its own, after the shell commands of setup, and returns its output.
func child(t *testing.T, what, dir, setup string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	if setup != "" {
		cmd = exec.Command("sh", "-c", setup+`; exec "$0" "$@"`, os.Args[0], "-test.run=^TestChild$", "-test.v")
	}
	cmd.Env = append(os.Environ(), "CHILD="+what, "CHILD_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the test passed:\n%s", out)
	}
	return string(out)
}

func TestFault85PanicLeavesTheCassette(t *testing.T) {
	for what, says := range map[string]string{"panic": "in call 2 of 3", "goexit": "panic(nil) or runtime.Goexit"} {
		t.Run(what, func(t *testing.T) {
			dir := folder(t)
			record(t, dir, "a.json", "old")
			before := read(t, dir, "a.json")
			wantText(t, child(t, what, dir, ""), says, "a.failed.json")
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
			wantText(t, read(t, dir, "a.failed.json"), "new answer")
		})
	}
}

// A disk that takes a part of the file only: one error, the old cassette whole, no temporary file.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it needs a limit on the size of files")
	}
	dir := folder(t)
	record(t, dir, "a.json", "old")
	before := read(t, dir, "a.json")
	out := child(t, "large", dir, "ulimit -f 4")
	wantText(t, out, filepath.Join(dir, "a.json")+" cannot be written", "file too large", "space on its disk")
	if n := strings.Count(out, "cannot be written"); n != 1 {
		t.Errorf("the error stands %d times in\n%s", n, out)
	}
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
	wantFiles(t, dir, "a.json")
}

func TestFault115FailedTestLeavesNothing(t *testing.T) {
	dir := folder(t)
	f := newT(t, "TestFault115")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := answering("1", "2").client()
	ask(t, s.Context(t.Context()), client, "one")
	ask(t, s.Context(t.Context()), client, "two")
	f.fail()
	f.end()
	wantFiles(t, dir, "a.failed.json")
	wantText(t, f.logText(), "a.failed.json")

	f = newT(t, "TestFault115")
	s = cassette.Use(f, "a.json", cassette.Dir(dir))
	if s.Mode() != cassette.Record {
		t.Errorf("the next run is %v", s.Mode())
	}
	ask(t, s.Context(t.Context()), client, "one")
	f.end().wantPass()
	read(t, dir, "a.json")
}

// Errors are recorded, and replay as what they were.
func TestFault82ErrorsAreRecorded(t *testing.T) {
	statuses := []int{404, 500, 200}
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		status := statuses[0]
		statuses = statuses[1:]
		return response(status, "application/json", fmt.Sprintf(`{"status": %d}`, status)), nil
	}}
	var got []string
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := wire.client()
		if replay {
			client = unreachable(t).client()
		}
		for _, prompt := range []string{"a", "b", "c"} {
			got = append(got, ask(t, ctx, client, prompt))
		}
	})
	f.wantPass()
	g.wantPass()
	if strings.Join(got[:3], "") != strings.Join(got[3:], "") {
		t.Errorf("live and replayed: %q", got)
	}
}

// A recording that ends in a refused key is a failed one.
func TestFault83RefusedKeyIsNoRecording(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		statuses []int
		options  []cassette.Option
		saved    bool
	}{
		{"401 at the end", []int{200, 401}, nil, false},
		{"403 at the end", []int{403}, nil, false},
		{"allowed", []int{200, 401}, []cassette.Option{cassette.AllowErrors()}, true},
		{"401 in between", []int{401, 200}, nil, true},
		{"429 at the end", []int{429}, nil, true},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			record(t, dir, "a.json", "old")
			before := read(t, dir, "a.json")
			next := 0
			wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
				next++
				return response(tt.statuses[next-1], "application/json", `{}`), nil
			}}
			f := newT(t, "TestFault83")
			s := cassette.Use(f, "a.json", append(tt.options, cassette.Dir(dir), cassette.Record)...)
			for range tt.statuses {
				ask(t, s.Context(t.Context()), wire.client(), "hi")
			}
			f.end()
			if saved := read(t, dir, "a.json") != before; saved != tt.saved {
				t.Errorf("saved: %v, want %v", saved, tt.saved)
			}
			if tt.saved {
				f.wantPass()
				wantFiles(t, dir, "a.json")
				return
			}
			f.wantError("a.json", fmt.Sprint("status ", tt.statuses[len(tt.statuses)-1]), "AllowErrors")
			wantFiles(t, dir, "a.json", "a.failed.json")
		})
	}
}

func TestConflict(t *testing.T) {
	for _, tt := range []struct {
		reason string
		before bool
		change func(t *testing.T, path string)
	}{
		{"changed", true, func(t *testing.T, path string) { os.WriteFile(path, []byte("by hand"), 0o666) }},
		{"appeared", false, func(t *testing.T, path string) { os.WriteFile(path, []byte("by hand"), 0o666) }},
		{"removed", true, func(t *testing.T, path string) { os.Remove(path) }},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			path := filepath.Join(dir, "a.json")
			if tt.before {
				record(t, dir, "a.json", "old")
			}
			f := newT(t, "TestConflict/"+tt.reason)
			s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
			ask(t, s.Context(t.Context()), answering("new answer").client(), "new")
			tt.change(t, path)
			after, _ := os.ReadFile(path)
			f.end().wantError("a.json was changed by somebody else", "a.conflict.json", "keep one of the two")
			if now, _ := os.ReadFile(path); string(now) != string(after) {
				t.Errorf("somebody else's file is now %s", now)
			}
			wantText(t, read(t, dir, "a.conflict.json"), "new answer")
		})
	}
}

// Where nothing but times changed, the file is left as it was.
func TestUnchangedFileIsNotWritten(t *testing.T) {
	for _, name := range []string{"a.json", "a.jsonl"} {
		dir := folder(t)
		path := filepath.Join(dir, name)
		run := func(test, answer string) {
			f := newT(t, test)
			s := cassette.Use(f, name, cassette.Dir(dir), cassette.Record)
			ask(t, s.Context(t.Context()), answering(answer).client(), "hi")
			tool := core.Tool("t", func(context.Context, int) (string, error) { return answer, nil })
			tool(s.Context(t.Context()), 1)
			f.end().wantPass()
		}
		run("TestUnchanged/1", "same")
		times := regexp.MustCompile(`("(?:start|duration)_ms": ?)\d+`)
		before := times.ReplaceAllString(read(t, path), "${1}7654321")
		if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
			t.Fatal(err)
		}
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		run("TestUnchanged/2", "same")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if read(t, path) != before || !info.ModTime().Equal(long) {
			t.Errorf("%s was written although the run was the same", name)
		}
		run("TestUnchanged/3", "other")
		if read(t, path) == before {
			t.Errorf("%s was not written although the run was another", name)
		}
	}
}

// Calls stand in the file in the order of their starts; one under way when the session closes as far as it came.
func TestRecordedInOrderOfStarts(t *testing.T) {
	dir := folder(t)
	started, release := make(chan struct{}), make(chan struct{})
	wire := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		if strings.Contains(body, "slow") {
			close(started)
			<-release
		}
		return response(200, "application/json", completion("x")), nil
	}}
	f := newT(t, "TestOrder")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	client := wire.client()
	done := make(chan string)
	go func() {
		answer, err := chat(s.Context(context.Background()), client, provider, "slow")
		done <- fmt.Sprint(answer, err)
	}()
	<-started
	ask(t, s.Context(t.Context()), client, "fast")
	f.end().wantPass()
	close(release)
	if got := <-done; got != completion("x")+"<nil>" {
		t.Errorf("the caller whose session closed got %s", got)
	}
	file, err := cassette.Load(filepath.Join(dir, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	if file.Len() != 2 {
		t.Fatalf("%d interactions", file.Len())
	}
	slow, fast := file.Interaction(0), file.Interaction(1)
	if !strings.Contains(string(slow.HTTP.Request.Bytes), "slow") || slow.Ending != bus.EndingClosedEarly || slow.HTTP.Status != 0 {
		t.Errorf("the first interaction is %+v", slow)
	}
	if !strings.Contains(string(fast.HTTP.Request.Bytes), "fast") || fast.Ending != bus.EndingComplete {
		t.Errorf("the second interaction is %+v", fast)
	}
}

// What cannot be written is one clear error; what stood there stays.
func TestUnwritable(t *testing.T) {
	t.Run("a file in place of the folder", func(t *testing.T) {
		dir := folder(t)
		if err := os.WriteFile(filepath.Join(dir, "sub"), []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, use := range []func(f *fakeT) *cassette.Session{
			func(f *fakeT) *cassette.Session {
				return cassette.Use(f, "a.json", cassette.Dir(filepath.Join(dir, "sub")))
			},
			func(f *fakeT) *cassette.Session { return cassette.Use(f, "sub/a.json", cassette.Dir(dir)) },
		} {
			f := newT(t, "TestUnwritable")
			s := use(f)
			chat(s.Context(t.Context()), answering("x").client(), provider, "hi")
			f.end().wantError(filepath.Join(dir, "sub", "a.json"), "not a directory")
		}
		wantFiles(t, dir, "sub")
	})
	t.Run("a folder in place of the file", func(t *testing.T) {
		dir := folder(t)
		if err := os.MkdirAll(filepath.Join(dir, "a.json", "b"), 0o777); err != nil {
			t.Fatal(err)
		}
		f := newT(t, "TestUnwritable")
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering("x").client(), "hi")
		f.end().wantError(filepath.Join(dir, "a.json"), "is a directory", "a.failed.json")
		wantFiles(t, dir, "a.failed.json")
	})
	t.Run("a folder that may not be written", func(t *testing.T) {
		if os.Getuid() == 0 || runtime.GOOS == "windows" {
			t.Skip("permissions do not bind")
		}
		dir := folder(t)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o777)
		f := newT(t, "TestUnwritable")
		s := cassette.Use(f, "a.json", cassette.Dir(dir))
		ask(t, s.Context(t.Context()), answering("x").client(), "hi")
		f.end().wantError("cannot be written", "permission denied", "check the folder's permissions")
	})
}

// No symlink leads out of the folder, neither for reading nor for writing.
func TestSymlinks(t *testing.T) {
	dir, outside := folder(t), t.TempDir()
	record(t, outside, "target.json", "hi")
	before := read(t, outside, "target.json")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	link(filepath.Join(outside, "target.json"), "a.json")
	link(outside, "sub")
	link(filepath.Join(outside, "new.json"), "dangling.json")
	for _, name := range []string{"a.json", "sub/target.json", "sub/new.json", "dangling.json"} {
		for _, mode := range []cassette.Mode{cassette.Auto, cassette.Record, cassette.Extend, cassette.Replay, cassette.Verify} {
			f := newT(t, fmt.Sprintf("TestSymlinks/%s/%v", name, mode))
			s := cassette.Use(f, name, cassette.Dir(dir), mode)
			chat(s.Context(t.Context()), answering("x").client(), provider, "hi")
			f.end()
			if !f.Failed() {
				t.Errorf("%s in %v passed", name, mode)
			}
		}
	}
	if read(t, outside, "target.json") != before {
		t.Error("the file outside changed")
	}
	wantFiles(t, outside, "target.json")
	t.Run("one that stays inside is followed", func(t *testing.T) {
		dir := folder(t)
		record(t, dir, "real.json", "hi")
		if err := os.Symlink("real.json", filepath.Join(dir, "alias.json")); err != nil {
			t.Skip(err)
		}
		f := newT(t, "TestSymlinks")
		s := cassette.Use(f, "alias.json", cassette.Dir(dir))
		ask(t, s.Context(t.Context()), unreachable(t).client(), "hi")
		f.end().wantPass()
	})
}

// A symlink that stays inside is written through, as it is read through.
func TestSymlinksAreWrittenThrough(t *testing.T) {
	for _, tt := range []struct {
		reason string
		links  [][2]string // target and name
		name   string
		other  bool // the name leads nowhere; it becomes a file of its own
	}{
		{"beside it", [][2]string{{"real.json", "a.json"}}, "a.json", false},
		{"a chain", [][2]string{{"real.json", "b.json"}, {"./b.json", "a.json"}}, "a.json", false},
		{"upwards", [][2]string{{"../real.json", "sub/a.json"}}, "sub/a.json", false},
		{"a folder", [][2]string{{".", "here"}}, "here/real.json", false},
		{"dangling", [][2]string{{"gone.json", "a.json"}}, "a.json", true},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			record(t, dir, "real.json", "old")
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, l := range tt.links {
				if err := os.Symlink(l[0], filepath.Join(dir, l[1])); err != nil {
					t.Skip(err)
				}
			}
			before := read(t, dir, "real.json")
			record(t, dir, tt.name, "new")
			if tt.other {
				wantFiles(t, dir, "real.json", tt.name)
				return
			}
			wantFiles(t, dir, "real.json")
			if after := read(t, dir, "real.json"); after == before || read(t, dir, tt.name) != after {
				t.Error("the file that the symlink leads to was not written")
			}
		})
	}
	t.Run("where the way is not the one of the names", func(t *testing.T) {
		dir := folder(t)
		record(t, dir, "deep/real.json", "old")
		record(t, dir, "real.json", "other")
		before := contents(t, dir)
		if err := os.Mkdir(filepath.Join(dir, "deep", "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		for target, name := range map[string]string{"deep/sub": "sub", "../real.json": "deep/sub/a.json"} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Skip(err)
			}
		}
		f := newT(t, "TestSymlinks")
		s := cassette.Use(f, "sub/a.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering("new answer").client(), "new")
		f.end().wantError("cannot be followed", "a.failed.json")
		wantFiles(t, dir, "deep/real.json", "real.json", "deep/sub/a.failed.json")
		for name, text := range before {
			if read(t, dir, name) != text {
				t.Errorf("%s changed", name)
			}
		}
	})
}

// A save removes what processes that were killed left behind long ago, and nothing else.
func TestOldTemporaryFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		".mixtape-old.tmp": 2 * time.Hour, ".mixtape-young.tmp": time.Minute, ".mixtape-ahead.tmp": -2 * time.Hour,
		"mixtape-old.tmp": 2 * time.Hour, ".mixtape-old.json": 2 * time.Hour, "sub/.mixtape-old.tmp": 2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
		if then := time.Now().Add(-age); os.Chtimes(path, then, then) != nil {
			t.Fatalf("the time of %s cannot be set", name)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".mixtape-folder.tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	record(t, dir, "a.json", "hi")
	wantFiles(t, dir, "a.json", ".mixtape-young.tmp", ".mixtape-ahead.tmp", "mixtape-old.tmp", ".mixtape-old.json", "sub/.mixtape-old.tmp")
}

// A run that called nothing says so where there is no cassette.
func TestNothingRecorded(t *testing.T) {
	dir := folder(t)
	f := newT(t, "TestNothing")
	cassette.Use(f, "a.json", cassette.Dir(dir))
	f.end().wantPass()
	wantText(t, f.logText(), "nothing was recorded", "core.Instrument")
	wantFiles(t, dir)
}

// A program that panics over its deferred Close does not replace a good cassette either.
func TestPanicOverClose(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "old")
	before := read(t, dir, "a.json")
	run := func() {
		defer func() { recover() }()
		s, err := cassette.Open(filepath.Join(dir, "a.json"), cassette.Record)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ask(t, s.Context(t.Context()), answering("new answer").client(), "new")
		panic("in call 2 of 3")
	}
	run()
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
	wantFiles(t, dir, "a.json", "a.failed.json")
}
