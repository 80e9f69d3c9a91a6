package cassette_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// TestModes plays every cell of the modes' table: a call that the file knows, when there is one, and for Extend a call
// that it does not know.
func TestModes(t *testing.T) {
	const live, recorded = "from the wire", "answer 1"
	for _, tt := range []struct {
		reason string
		mode   cassette.Mode
		file   bool
		want   cassette.Mode
		answer string // empty: Use fails
		err    string
		writes bool
	}{
		{"auto records what is not there", cassette.Auto, false, cassette.Record, live, "", true},
		{"auto replays what is there", cassette.Auto, true, cassette.Replay, recorded, "", false},
		{"record", cassette.Record, false, cassette.Record, live, "", true},
		{"record anew", cassette.Record, true, cassette.Record, live, "", true},
		{"replay needs a file", cassette.Replay, false, cassette.Replay, "", "record it: CASSETTE_RERECORD=1", false},
		{"replay", cassette.Replay, true, cassette.Replay, recorded, "", false},
		{"extend records what is not there", cassette.Extend, false, cassette.Extend, live, "", true},
		{"extend replays what it knows", cassette.Extend, true, cassette.Extend, recorded, "", false},
		{"verify needs a file", cassette.Verify, false, cassette.Verify, "", "no such file or directory; verify compares with a recording", false},
		{"verify goes live and never writes", cassette.Verify, true, cassette.Verify, live, "", false},
		{"live needs no file", cassette.Live, false, cassette.Live, live, "", false},
		{"live reads no file", cassette.Live, true, cassette.Live, live, "", false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			before := ""
			if tt.file {
				record(t, dir, "a.json", "hi")
				before = read(t, dir, "a.json")
			}
			wire := answering(live)
			if tt.answer != live {
				wire = unreachable(t)
			}
			f := newT(t, "TestModes")
			s := cassette.Use(f, "a", cassette.Dir(dir), tt.mode)
			if s.Mode() != tt.want {
				t.Errorf("the mode is %v, want %v", s.Mode(), tt.want)
			}
			if tt.err != "" {
				f.wantError(tt.err, filepath.Join(dir, "a.json"))
				if _, err := chat(s.Context(t.Context()), wire.client(), provider, "hi"); err == nil {
					t.Error("a session that could not be opened lets its calls out")
				}
				f.end()
				wantFiles(t, dir)
				return
			}
			if got := ask(t, s.Context(t.Context()), wire.client(), "hi"); got != completion(tt.answer) {
				t.Errorf("the answer is %s, want %s", got, tt.answer)
			}
			f.end().wantPass()
			if _, err := os.Stat(filepath.Join(dir, "a.json")); (err == nil) != (tt.file || tt.writes) {
				t.Errorf("after the run the file: %v", err)
			}
			if tt.file || tt.writes {
				if after := read(t, dir, "a.json"); (after != before) != tt.writes {
					t.Errorf("the file was written: %v, want %v", after != before, tt.writes)
				}
			}
		})
	}
}

func TestModeFromEnvironment(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		env     map[string]string
		options []cassette.Option
		file    bool
		want    cassette.Mode
		err     string
	}{
		{"CASSETTE_MODE", map[string]string{"CASSETTE_MODE": "live"}, nil, true, cassette.Live, ""},
		{"the code wins", map[string]string{"CASSETTE_MODE": "live"}, []cassette.Option{cassette.Replay}, true, cassette.Replay, ""},
		{"rerecord", map[string]string{"CASSETTE_RERECORD": "1"}, nil, true, cassette.Record, ""},
		{"rerecord an explicit replay", map[string]string{"CASSETTE_RERECORD": "1"}, []cassette.Option{cassette.Replay}, true, cassette.Record, ""},
		{"not in CI", map[string]string{"CASSETTE_RERECORD": "1", "CI": "1"}, nil, true, cassette.Replay, ""},
		{"in CI auto replays", map[string]string{"CI": "true"}, nil, true, cassette.Replay, ""},
		{"CI=false is no CI", map[string]string{"CI": "false"}, nil, false, cassette.Record, ""},
		{"in CI nothing is recorded", map[string]string{"CI": "true"}, nil, false, 0, "nothing is recorded in CI"},
		{"Record left in the code", map[string]string{"CI": "true"}, []cassette.Option{cassette.Record}, true, 0, "CASSETTE_MODE=record"},
		{"Extend left in the code", map[string]string{"CI": "true"}, []cassette.Option{cassette.Extend}, true, 0, "CASSETTE_MODE=extend"},
		{"a job that means it", map[string]string{"CI": "true", "CASSETTE_MODE": "record"}, []cassette.Option{cassette.Record}, true, cassette.Record, ""},
		{"unknown", map[string]string{"CASSETTE_MODE": "Replay"}, nil, true, 0, "auto, record, replay, extend, verify, live"},
		{"unknown where the code would win", map[string]string{"CASSETTE_MODE": "rewind"}, []cassette.Option{cassette.Record}, true, 0, `"rewind"`},
		{"unknown rerecord", map[string]string{"CASSETTE_RERECORD": "please"}, nil, true, 0, "CASSETTE_RERECORD"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := folder(t)
			before := map[string]string{}
			if tt.file {
				record(t, dir, "a.json", "hi")
				before = contents(t, dir)
			}
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			f := newT(t, "TestModeFromEnvironment")
			s := cassette.Use(f, "a.json", append(tt.options, cassette.Dir(dir))...)
			if tt.err != "" {
				f.wantError(tt.err)
				if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "hi"); err == nil {
					t.Error("the call succeeded")
				}
				f.end()
				if after := contents(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("the folder changed: %v, before %v", after, before)
				}
				return
			}
			f.wantPass()
			if s.Mode() != tt.want {
				t.Errorf("the mode is %v, want %v", s.Mode(), tt.want)
			}
			f.fail() // no call is made, which would be a failure of its own
			f.end()
		})
	}
}

func TestFault87CINeverRecords(t *testing.T) {
	t.Setenv("CI", "true")
	dir := folder(t)
	f := newT(t, "TestInCI")
	s := cassette.Use(f, "a.json", cassette.Dir(dir))
	_, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "hi")
	if err == nil {
		t.Error("a call went out in CI")
	}
	f.wantError("nothing is recorded in CI", "commit it", "go test -count=1 -run '^TestInCI$'")
	f.end()
	wantFiles(t, dir)
}

func TestFault88UnknownModeIsAnError(t *testing.T) {
	t.Setenv("CASSETTE_MODE", "Replay")
	dir := folder(t)
	f := newT(t, "TestFault88")
	if !stops(func() { cassette.Use(stoppingT{f}, "a.json", cassette.Dir(dir)) }) {
		t.Error("a test with a FailNow goes on")
	}
	f.wantError(`unknown mode "Replay"`, "auto, record, replay")
	f.end()
	wantFiles(t, dir)
}

func TestOptionsThatContradict(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	for _, tt := range []struct {
		reason  string
		name    string
		options []cassette.Option
		want    string
	}{
		{"two modes", "a.json", []cassette.Option{cassette.Record, cassette.Replay}, "two modes, record and replay"},
		{"two modes, one of them auto", "a.json", []cassette.Option{cassette.Auto, cassette.Record}, "two modes, auto and record"},
		{"a mode that is none", "a.json", []cassette.Option{cassette.Mode(17)}, "Mode(17)"},
		{"a nil option", "a.json", []cassette.Option{nil}, "option 2 is nil"},
		{"two folders", "a.json", []cassette.Option{cassette.Dir("x")}, "two folders"},
		{"two buses", "a.json", []cassette.Option{cassette.OnBus(bus.New()), cassette.OnBus(bus.New())}, "two buses"},
		{"no bus", "a.json", []cassette.Option{cassette.OnBus(nil)}, "OnBus needs a bus"},
		{"no normaliser", "a.json", []cassette.Option{cassette.Normalize(nil)}, "Normalize needs a function"},
		{"a path that is none", "a.json", []cassette.Option{cassette.Ignore("metadata.run_id")}, "metadata.run_id"},
		{"a host that is a URL", "a.json", []cassette.Option{cassette.Pass("http://x/")}, "Pass takes hosts"},
		{"a name that leads out", "../a.json", nil, `".."`},
		{"an absolute name", "/tmp/a.json", nil, "is absolute"},
		{"another extension", "a.yaml", nil, ".json"},
		{"a name of a file beside a cassette", "a.failed.json", nil, "beside a cassette"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			f := newT(t, "TestOptions")
			s := cassette.Use(f, tt.name, append([]cassette.Option{cassette.Dir(dir)}, tt.options...)...)
			if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "hi"); err == nil {
				t.Error("the call of a session that could not be opened succeeded")
			}
			f.wantError(tt.want, "cassette")
			if err := s.Close(); err != nil {
				t.Errorf("Close says it again: %v", err)
			}
			f.end()
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
		})
	}
	wantFiles(t, dir, "a.json")
}

func TestMissingFile(t *testing.T) {
	t.Run("the command is exact", func(t *testing.T) {
		f := newT(t, "TestA/it's_[odd]+(b)/c")
		cassette.Use(f, "", cassette.Dir(folder(t)), cassette.Replay)
		f.wantError(`CASSETTE_RERECORD=1 go test -count=1 -run '^TestA$/^it'\''s_\[odd\]\+\(b\)$/^c$' github.com/mixtape-go/mixtape/cassette`)
		f.end()
	})
	t.Run("without a test", func(t *testing.T) {
		_, err := cassette.Open(filepath.Join(folder(t), "a.json"), cassette.Replay)
		if err == nil || !strings.Contains(err.Error(), "record it first") {
			t.Errorf("the error is %v", err)
		}
	})
}

// A cassette whose test was renamed is missing; the one that nobody opens any more is likely it.
func TestFault95MissingFileListsOrphans(t *testing.T) {
	dir := folder(t)
	record(t, dir, "sub/used.json", "hi")
	for _, name := range []string{"orphan.json", "lines.jsonl", "orphan.failed.json", "orphan.conflict.json", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, "sub", name), []byte("{}"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := newT(t, "TestFault95")
	cassette.Use(f, "sub/gone.json", cassette.Dir(dir), cassette.Replay)
	f.wantError("lines.jsonl and orphan.json", "no test has opened")
	for _, name := range []string{"used.json", "failed", "conflict", "notes"} {
		if strings.Contains(f.errorText(), name) {
			t.Errorf("the error names %s: %s", name, f.errorText())
		}
	}
	f.end()
}

func TestNames(t *testing.T) {
	dir := folder(t)
	t.Run("from the test", func(t *testing.T) {
		f := newT(t, "TestA/b c")
		s := cassette.Use(f, "", cassette.Dir(dir))
		if want := filepath.Join(dir, "_test_a", "b~20c.json"); s.Path() != want {
			t.Errorf("the path is %s, want %s", s.Path(), want)
		}
		f.end()
	})
	t.Run("CASSETTE_DIR", func(t *testing.T) {
		t.Setenv("CASSETTE_DIR", dir)
		f := newT(t, "TestA")
		s := cassette.Use(f, "x/a")
		if want := filepath.Join(dir, "github.com/mixtape-go/mixtape/cassette/x/a.json"); s.Path() != want {
			t.Errorf("the path is %s, want %s", s.Path(), want)
		}
		f.end()
		g := newT(t, "TestA")
		s = cassette.Use(g, "a", cassette.Dir(filepath.Join(dir, "other")))
		if want := filepath.Join(dir, "other", "a.json"); s.Path() != want {
			t.Errorf("with Dir the path is %s, want %s", s.Path(), want)
		}
		g.end()
	})
	t.Run("the default", func(t *testing.T) {
		f := newT(t, "TestA")
		s := cassette.Use(f, "a")
		if want := filepath.Join("testdata", "cassettes", "a.json"); s.Path() != want {
			t.Errorf("the path is %s, want %s", s.Path(), want)
		}
		f.end()
	})
	t.Run("Open", func(t *testing.T) {
		for _, tt := range []struct {
			path    string
			options []cassette.Option
			want    string
		}{
			{filepath.Join(dir, "o.json"), nil, filepath.Join(dir, "o.json")},
			{"sub/o.json", []cassette.Option{cassette.Dir(dir)}, filepath.Join(dir, "sub/o.json")},
			{filepath.Join(dir, "o.json"), []cassette.Option{cassette.Dir("elsewhere")}, filepath.Join(dir, "o.json")},
		} {
			s, err := cassette.Open(tt.path, tt.options...)
			if err != nil {
				t.Fatal(err)
			}
			if s.Path() != tt.want {
				t.Errorf("the path is %s, want %s", s.Path(), tt.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("Open refuses what is no file", func(t *testing.T) {
		for _, path := range []string{"", ".", "..", "/", dir} {
			if s, err := cassette.Open(path); err == nil {
				t.Errorf("%q was opened in %v", path, s.Mode())
				s.Close()
			} else if !strings.Contains(err.Error(), "cassette") {
				t.Errorf("the error of %q is %v", path, err)
			}
		}
	})
}

func TestFault94NamesFromTests(t *testing.T) {
	dir := folder(t)
	paths := map[string]string{}
	for _, name := range []string{
		"TestX/a/b", "TestX/a-b", "TestX/../x", "TestX/CON", "TestX/" + strings.Repeat("x", 300), "TestX/" + strings.Repeat("x", 301),
		"TestX/A", "TestX/a", "TestX/[:?", "TestX/a_b", "TestX/",
	} {
		f := newT(t, name)
		s := cassette.Use(f, "", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), answering("x").client(), "hi")
		f.end().wantPass()
		key := strings.ToLower(s.Path())
		if other, ok := paths[key]; ok {
			t.Errorf("%q and %q share %s", name, other, s.Path())
		}
		paths[key] = name
		rel, err := filepath.Rel(dir, s.Path())
		if err != nil || !filepath.IsLocal(rel) {
			t.Errorf("%q leads to %s", name, s.Path())
		}
		if strings.ContainsAny(rel, `:?*<>|"\[`) {
			t.Errorf("%q gives %s, which not every system can hold", name, rel)
		}
		read(t, s.Path())
	}
}

// The second pass of -count replays what the first recorded.
func TestCount(t *testing.T) {
	dir := folder(t)
	wire := answering("first", "second")
	pass := func(name string) (cassette.Mode, string) {
		f := newT(t, name)
		s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
		answer := ask(t, s.Context(t.Context()), wire.client(), "hi")
		f.end().wantPass()
		return s.Mode(), answer
	}
	if mode, answer := pass("TestCount/a"); mode != cassette.Record || answer != completion("first") {
		t.Errorf("pass 1: %v, %s", mode, answer)
	}
	if mode, answer := pass("TestCount/a"); mode != cassette.Replay || answer != completion("first") {
		t.Errorf("pass 2: %v, %s", mode, answer)
	}
	if mode, answer := pass("TestCount/b"); mode != cassette.Record || answer != completion("second") {
		t.Errorf("another test: %v, %s", mode, answer)
	}
	t.Run("a failed pass does not count", func(t *testing.T) {
		f := newT(t, "TestCount/c")
		s := cassette.Use(f, "c.json", cassette.Dir(dir), cassette.Record)
		ask(t, s.Context(t.Context()), wire.client(), "hi")
		f.fail()
		f.end()
		g := newT(t, "TestCount/c")
		if s := cassette.Use(g, "c.json", cassette.Dir(dir), cassette.Record); s.Mode() != cassette.Record {
			t.Errorf("pass 2 is %v", s.Mode())
		}
		g.end()
	})
	t.Run("Open records each time", func(t *testing.T) {
		for range 2 {
			s, err := cassette.Open(filepath.Join(dir, "open.json"), cassette.Record)
			if err != nil {
				t.Fatal(err)
			}
			if s.Mode() != cassette.Record {
				t.Errorf("the mode is %v", s.Mode())
			}
			ask(t, s.Context(t.Context()), wire.client(), "hi")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// In a benchmark nothing is recorded, and a recording is served as often as it is asked for.
func TestBenchmarks(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi", "unused")
	client := unreachable(t).client()
	result := testing.Benchmark(func(b *testing.B) {
		s := cassette.Use(b, "a.json", cassette.Dir(dir))
		for b.Loop() {
			if _, err := chat(s.Context(b.Context()), client, provider, "hi"); err != nil {
				b.Fatal(err)
			}
		}
	})
	if result.N == 0 {
		t.Error("the benchmark failed")
	}
}

func TestTwoSessionsOnOnePath(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	for _, tt := range []struct {
		reason string
		a, b   cassette.Mode
		ok     bool
	}{
		{"both replay", cassette.Replay, cassette.Replay, true},
		{"the second writes", cassette.Replay, cassette.Record, false},
		{"the first writes", cassette.Record, cassette.Replay, false},
		{"both write", cassette.Extend, cassette.Extend, false},
		{"verify only reads", cassette.Verify, cassette.Replay, true},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			f, g := newT(t, "TestFirst"), newT(t, "TestSecond")
			a := cassette.Use(f, "a.json", cassette.Dir(dir), tt.a)
			b := cassette.Use(g, "a.json", cassette.Dir(dir), tt.b)
			if tt.ok {
				client := answering("answer 1").client()
				ask(t, a.Context(t.Context()), client, "hi")
				ask(t, b.Context(t.Context()), client, "hi")
				f.end().wantPass()
				g.end().wantPass()
				return
			}
			g.wantError("a.json is open already, in TestFirst", "a cassette of its own")
			g.end()
			f.fail()
			f.end()
		})
	}
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
}

// In Replay nothing is dialled: neither the transport below the seam nor a listener sees anything, known call or not.
func TestReplayDialsNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.Errorf("%s was dialled", c.LocalAddr())
			c.Close()
		}
	}()
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	f := newT(t, "TestReplay")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Replay)
	address := "http://" + listener.Addr().String()
	for _, client := range []*http.Client{core.Instrument(&http.Client{}), unreachable(t).client()} {
		for _, prompt := range []string{"hi", "something else"} {
			chat(s.Context(t.Context()), client, address, prompt)
		}
		resp, err := client.Do(get(s.Context(t.Context()), address+"/health"))
		if err == nil {
			resp.Body.Close()
			t.Error("a call that the file does not know was answered")
		}
	}
	f.end()
	if r := s.Report(); r.Served != 1 || r.Missed != 5 || r.Live != 0 {
		t.Errorf("the report is %+v", r)
	}
	listener.Close()
	<-seen
}
