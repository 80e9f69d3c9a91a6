package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

var errDeclined = errors.New("the card was declined")

type order struct {
	ID     json.Number
	Amount float64
}

// twice runs fn in a session that records and in one that replays, and returns both tests.
func twice(t *testing.T, dir string, fn func(ctx context.Context, replay bool), opts ...cassette.Option) (recorded, replayed *fakeT) {
	t.Helper()
	opts = append(opts, cassette.Dir(dir))
	f := newT(t, "TestTwice")
	s := cassette.Use(f, "a.json", append(opts, cassette.Record)...)
	fn(s.Context(t.Context()), false)
	f.end()
	g := newT(t, "TestTwice")
	s = cassette.Use(g, "a.json", append(opts, cassette.Replay)...)
	fn(s.Context(t.Context()), true)
	return f, g.end()
}

func TestFault70ToolsReplay(t *testing.T) {
	ran := 0
	tool := core.Tool("refund", func(_ context.Context, o order) (map[string]json.Number, error) {
		ran++
		if o.Amount < 0 {
			return nil, fmt.Errorf("order %s: %w", o.ID, errDeclined)
		}
		return map[string]json.Number{"refunded": o.ID}, nil
	})
	dispatch := core.Dispatch(func(_ context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
		ran++
		if name == "broken" {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return json.RawMessage(fmt.Sprintf(`{"tool": %q, "got": %d}`, name, len(arguments))), nil
	})
	var outputs [2][]string
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		out := func(v any, err error) {
			i := 0
			if replay {
				i = 1
			}
			outputs[i] = append(outputs[i], fmt.Sprintf("%s %v", v, err))
		}
		out(tool(ctx, order{"9007199254740993", 1.5}))
		out(tool(ctx, order{"9007199254740992", 1.5}))
		_, err := tool(ctx, order{"7", -1})
		out("", err)
		if !errors.Is(err, errDeclined) || errors.Is(err, errors.New("the card was declined, or so")) {
			t.Errorf("replay %v: errors.Is does not know %v", replay, err)
		}
		var te *core.ToolError
		if errors.As(err, &te) != replay {
			t.Errorf("replay %v: the error is a %T", replay, err)
		}
		for _, arguments := range []string{`{"city": "Bern",  "n": 1.0}`, `{"a":`, ``, `not json`, "\xff\xfe", `null`, `"x"`} {
			out(dispatch(ctx, "weather", json.RawMessage(arguments)))
		}
		_, err = dispatch(ctx, "broken", json.RawMessage(`{}`))
		out("", err)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("replay %v: errors.Is does not know %v", replay, err)
		}
		out(core.Call(ctx, "retrieval", map[string]any{"query": "refunds", "k": 3}, func(context.Context) ([]string, error) {
			ran++
			return []string{"a", "b"}, nil
		}))
		out(core.Call(ctx, "nothing", nil, func(context.Context) (*order, error) { ran++; return nil, nil }))
	})
	f.wantPass()
	g.wantPass()
	if ran != 13 {
		t.Errorf("bodies ran %d times, want 13, all of them while recording", ran)
	}
	for i, live := range outputs[0] {
		if outputs[1][i] != live {
			t.Errorf("output %d: live %s, replayed %s", i, live, outputs[1][i])
		}
	}
}

// New arguments are a miss, and the body does not run.
func TestToolMiss(t *testing.T) {
	ran := 0
	tool := core.Tool("refund", func(_ context.Context, n int) (int, error) { ran++; return n, nil })
	_, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		if !replay {
			tool(ctx, 20)
			return
		}
		tool(ctx, 20)
		_, err := tool(ctx, 21)
		var miss *cassette.MissError
		if !errors.As(err, &miss) || miss.Call != "tool refund" || miss.Nearest != 1 {
			t.Errorf("the error is %v", err)
		}
		if _, err := core.Call(ctx, "refund", 20, func(context.Context) (int, error) { ran++; return 0, nil }); err == nil {
			t.Error("a call was answered with a tool's recording")
		}
	})
	if ran != 1 {
		t.Errorf("the body ran %d times", ran)
	}
	wantText(t, g.errorText(), "no recording for tool refund", "recorded: 20", "live:     21", "no recording for call refund")
}

// What does not survive JSON fails the recording by its type's name, and the cassette that was there stays.
func TestLossyValues(t *testing.T) {
	type secretive struct {
		Public string
		hidden int
	}
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	for _, tt := range []struct {
		reason string
		run    func(ctx context.Context) error
		want   []string
	}{
		{"an unexported field of the result", func(ctx context.Context) error {
			_, err := core.Tool("peek", func(context.Context, int) (secretive, error) { return secretive{"a", 1}, nil })(ctx, 1)
			return err
		}, []string{"tool peek", "its result", "cassette_test.secretive", ".hidden"}},
		{"a channel", func(ctx context.Context) error {
			_, err := core.Tool("open", func(context.Context, int) (chan int, error) { return make(chan int), nil })(ctx, 1)
			return err
		}, []string{"tool open", "chan int"}},
		{"an argument", func(ctx context.Context) error {
			_, err := core.Tool("call", func(context.Context, func()) (int, error) { return 1, nil })(ctx, func() {})
			return err
		}, []string{"tool call", "its argument", "func()"}},
		{"what Call returns", func(ctx context.Context) error {
			_, err := core.Call(ctx, "memory", 1, func(context.Context) (secretive, error) { return secretive{"a", 1}, nil })
			return err
		}, []string{"call memory", "secretive"}},
		{"a dispatcher's result", func(ctx context.Context) error {
			_, err := core.Dispatch(func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{`), nil
			})(ctx, "cut", json.RawMessage(`{}`))
			return err
		}, []string{"tool cut", "no valid JSON"}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			f := newT(t, "TestLossy/"+tt.reason)
			s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
			if err := tt.run(s.Context(t.Context())); err != nil {
				t.Errorf("live it fails: %v", err)
			}
			f.end().wantError(append(tt.want, "a.json")...)
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
			if !strings.Contains(f.logText(), "a.failed.json") {
				t.Errorf("the log does not name the failed recording: %s", f.logText())
			}
		})
	}
}

// While recording, an agent gets what its tool returned; the file gets the placeholder.
func TestFault108LiveValuesPassUnchanged(t *testing.T) {
	tool := core.Tool("login", func(_ context.Context, user string) (map[string]string, error) {
		return map[string]string{"password": canaries[3], "mail": user}, nil
	})
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		got, err := tool(ctx, canaries[2])
		if err != nil {
			t.Error(err)
		}
		if !replay && (got["password"] != canaries[3] || got["mail"] != canaries[2]) {
			t.Errorf("recording changed what the tool returned: %v", got)
		}
		if replay && (strings.Contains(got["password"], "hunter2") || !strings.Contains(got["mail"], "@redacted.invalid")) {
			t.Errorf("the replay gives %v", got)
		}
	})
	f.wantPass()
	g.wantPass()
}

// What a tool does inside, calling a model or another tool, is recorded, and not waited for in a replay that serves the
// tool. An equal call outside of it gets its own answer.
func TestCallsInsideATool(t *testing.T) {
	type value struct{ hidden int } // does not survive JSON, which is no matter inside
	look := core.Tool("look", func(_ context.Context, n int) (value, error) { return value{n}, nil })
	f, g := twice(t, folder(t), func(ctx context.Context, replay bool) {
		client := answering("from the model").client()
		if replay {
			client = unreachable(t).client()
		}
		agent := core.Tool("agent", func(ctx context.Context, prompt string) (string, error) {
			v, err := look(ctx, 7)
			return fmt.Sprint(ask(t, ctx, client, prompt), v.hidden, err), nil
		})
		got, err := agent(ctx, "inner")
		if err != nil || got != completion("from the model")+"7 <nil>" {
			t.Errorf("replay %v: %s, %v", replay, got, err)
		}
		ask(t, ctx, client, "outer")
	})
	f.wantPass()
	g.wantPass()
}

// TestFault101ToolOutputApart records a tool that runs a command: what it printed where, and how it ended, stay apart.
func TestFault101ToolOutputApart(t *testing.T) {
	type output struct {
		Stdout, Stderr string
		ExitCode       int
	}
	twice(t, folder(t), func(ctx context.Context, replay bool) {
		run := core.Tool("run", func(context.Context, string) (output, error) {
			return output{"{\"a\":1}\n", "warn: x\n", 3}, nil
		})
		if got, err := run(ctx, "ls"); err != nil || got != (output{"{\"a\":1}\n", "warn: x\n", 3}) {
			t.Errorf("replayed %v: %+v, %v", replay, got, err)
		}
	})
}
