package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
)

type order struct {
	ID   int
	Note string `json:",omitempty"`
}

func interceptTools(h *hearing, fn func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error), opts ...core.InterceptOption) {
	core.Intercept(h.bus, core.ToolInterceptor(fn), opts...)
}

// TestFault108LiveValues: the caller gets fn's own result and error.
func TestFault108LiveValues(t *testing.T) {
	for name, h := range map[string]*hearing{"nobody listens": {bus: bus.New()}, "somebody does": listen()} {
		secret := &order{1, "<secret>"}
		failed := errors.New("sold out")
		tool := core.Tool("buy", func(_ context.Context, fail bool) (*order, error) {
			if fail {
				return secret, failed
			}
			return secret, nil
		}, core.WithBus(h.bus))
		if got, err := tool(t.Context(), false); got != secret || err != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if got, err := tool(t.Context(), true); got != secret || err != failed {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if h.closed == nil {
			continue
		}
		ok, bad := h.tools[0], h.tools[1]
		if string(ok.Arguments) != "false" || string(ok.Result) != `{"ID":1,"Note":"<secret>"}` || ok.Ending != bus.EndingComplete || ok.Lossy != nil {
			t.Errorf("%+v", ok)
		}
		if bad.Result != nil || bad.Err != failed || bad.Ending != bus.EndingError || bad.Seq <= ok.Seq || bad.CallID == ok.CallID {
			t.Errorf("%+v", bad)
		}
	}
}

func TestToolIntercepted(t *testing.T) {
	type in = func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error)
	refused := errors.New("refused")
	for _, tt := range []struct {
		reason  string
		fn      in
		opts    []core.InterceptOption
		ran     int
		want    order
		err     string
		event   string // arguments and result
		flagged bool
	}{
		{"pass", func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
			return next(ctx, req)
		}, nil, 1, order{1, "ran"}, "", `{"ID":1} {"ID":1,"Note":"ran"}`, false},
		{"answer", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) {
			return json.RawMessage(`{"ID":7}`), nil
		}, nil, 0, order{ID: 7}, "", `{"ID":1} {"ID":7}`, true},
		{"innermost answers", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) {
			return json.RawMessage(`{"ID":7}`), nil
		}, []core.InterceptOption{core.Innermost()}, 0, order{ID: 7}, "", `{"ID":1} {"ID":7}`, false},
		{"refuse", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) { return nil, refused }, nil, 0, order{}, "refused", `{"ID":1} `, true},
		{"change the arguments", func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
			req.Arguments = json.RawMessage(`{"ID":2}`)
			return next(ctx, req)
		}, nil, 1, order{2, "ran"}, "", `{"ID":2} {"ID":2,"Note":"ran"}`, false},
		{"change the result", func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
			_, err := next(ctx, req)
			return json.RawMessage(`{"ID":9}`), err
		}, nil, 1, order{ID: 9}, "", `{"ID":1} {"ID":1,"Note":"ran"}`, false},
		{"arguments that do not fit", func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
			req.Arguments = json.RawMessage(`"x"`)
			return next(ctx, req)
		}, nil, 0, order{}, "do not fit core_test.order", `"x" `, false},
		{"a result that does not fit", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) {
			return json.RawMessage(`"x"`), nil
		}, nil, 0, order{}, "does not fit core_test.order", `{"ID":1} "x"`, true},
		{"neither result nor error", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) { return nil, nil }, nil, 0, order{}, "neither", `{"ID":1} `, true},
		{"innermost: neither result nor error", func(context.Context, *core.ToolRequest, core.ToolRun) (json.RawMessage, error) { return nil, nil }, []core.InterceptOption{core.Innermost()}, 0, order{}, "neither", `{"ID":1} `, false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := listen()
			interceptTools(h, tt.fn, tt.opts...)
			ran := 0
			got, err := core.Tool("buy", func(_ context.Context, o order) (order, error) {
				ran++
				return order{o.ID, "ran"}, nil
			}, core.WithBus(h.bus))(t.Context(), order{ID: 1})
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || ran != tt.ran {
				t.Errorf("%+v, %v, ran %d times", got, err, ran)
			}
			c := h.tools[0]
			if event := string(c.Arguments) + " " + string(c.Result); len(h.tools) != 1 || len(h.starts) != 1 || event != tt.event || c.Intercepted != tt.flagged {
				t.Errorf("heard %s, intercepted %t", event, c.Intercepted)
			}
		})
	}
}

func TestToolTwice(t *testing.T) {
	h := listen()
	interceptTools(h, func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = next(ctx, req) })
		result, err := next(ctx, req)
		wg.Wait()
		return result, err
	})
	ch := make(chan int) // a result that JSON would lose comes back all the same
	got, err := core.Tool("t", func(context.Context, int) (struct{ c chan int }, error) {
		return struct{ c chan int }{ch}, nil
	}, core.WithBus(h.bus))(t.Context(), 1)
	if got.c != ch || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if len(h.tools) != 2 || len(h.starts) != 2 || h.tools[0].CallID == h.tools[1].CallID || h.tools[0].Lossy == nil {
		t.Errorf("%+v", h.tools)
	}
}

func TestToolErrorSwallowed(t *testing.T) {
	h := listen()
	interceptTools(h, func(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
		_, _ = next(ctx, req)
		return nil, nil
	})
	got, err := core.Tool("t", func(context.Context, int) (int, error) { return 7, errSoldOut }, core.WithBus(h.bus))(t.Context(), 1)
	if got != 0 || err == nil {
		t.Errorf("%d, %v: the interceptor gave no result", got, err)
	}
}

// uncomparable is an error that == cannot compare.
type uncomparable []string

func (uncomparable) Error() string { return "uncomparable" }

func TestToolUncomparableError(t *testing.T) {
	h := listen()
	_, err := core.Tool("t", func(context.Context, int) (int, error) { return 0, uncomparable{"a"} }, core.WithBus(h.bus))(t.Context(), 1)
	if u, ok := err.(uncomparable); !ok || u[0] != "a" {
		t.Errorf("%v", err)
	}
}

func TestToolThatDoesNotReturn(t *testing.T) {
	for reason, body := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		h := listen()
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if v := recover(); reason == "panic" && v != "boom" {
					t.Errorf("recovered %v", v)
				}
			}()
			_, _ = core.Tool("t", func(context.Context, int) (int, error) { body(); return 0, nil }, core.WithBus(h.bus))(t.Context(), 1)
		})
		wg.Wait()
		if len(h.tools) != 1 || h.tools[0].Err == nil || h.tools[0].Ending != bus.EndingError {
			t.Errorf("%s: %+v", reason, h.tools)
		}
	}
}

func TestToolInsideTool(t *testing.T) {
	h := listen()
	inner := core.Tool("inner", func(ctx context.Context, n int) (int, error) {
		mustSend(t, bound(h, plainly), chat(ctx))
		return n, nil
	}, core.WithBus(h.bus))
	outer := core.Tool("outer", inner, core.WithBus(h.bus))
	if _, err := outer(core.WithToolCallID(t.Context(), "call_7"), 1); err != nil {
		t.Fatal(err)
	}
	names := []string{h.starts[0].Name, h.starts[1].Name, string(h.starts[2].Kind)}
	parents := []string{h.starts[0].Parent, h.starts[1].Parent, h.starts[2].Parent}
	if !slices.Equal(names, []string{"outer", "inner", "llm"}) || !slices.Equal(parents, []string{"", h.starts[0].CallID, h.starts[1].CallID}) {
		t.Errorf("%v in %v", names, parents)
	}
	if h.tools[0].Name != "inner" || h.tools[0].ID != "" || h.tools[1].ID != "call_7" {
		t.Errorf("ids %q, %q", h.tools[0].ID, h.tools[1].ID)
	}
}

func TestToolEndings(t *testing.T) {
	for err, want := range map[error]bus.Ending{
		fmt.Errorf("a: %w", context.Canceled): bus.EndingCancelled, context.DeadlineExceeded: bus.EndingError,
	} {
		h := listen()
		_, _ = core.Call(t.Context(), "k", 1, func(context.Context) (int, error) { return 0, err }, core.WithBus(h.bus))
		if h.funcs[0].Ending != want || h.funcs[0].Err != err {
			t.Errorf("%v: %+v", err, h.funcs[0])
		}
	}
}

func TestDispatch(t *testing.T) {
	h := listen()
	args := json.RawMessage(`{"a": 1}`)
	out := json.RawMessage(`not JSON`)
	got, err := core.Dispatch(func(_ context.Context, name string, a json.RawMessage) (json.RawMessage, error) {
		if name != "t" || string(a) != `{"a": 1}` {
			t.Errorf("%s(%s)", name, a)
		}
		return out, nil
	}, core.WithBus(h.bus))(t.Context(), "t", args)
	if &got[0] != &out[0] || err != nil {
		t.Errorf("%s %v", got, err)
	}
	copy(args, "XXXX")
	copy(out, "XXXX")
	if c := h.tools[0]; string(c.Arguments) != `{"a": 1}` || string(c.Result) != "not JSON" || c.Lossy == nil || !strings.Contains(c.Lossy.Error(), "tool t") {
		t.Errorf("%s %s %v", c.Arguments, c.Result, c.Lossy)
	}
}

type closedBox struct {
	N    int
	note string
}

type pointerMarshaler struct{ n int }

func (p *pointerMarshaler) MarshalJSON() ([]byte, error) { return json.Marshal(p.n) }
func (p *pointerMarshaler) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.n) }

type writeOnly struct{ n int }

func (w writeOnly) MarshalText() ([]byte, error) { return []byte("w"), nil }

type panicky struct{ N int }

func (panicky) MarshalJSON() ([]byte, error) { panic("no JSON here") }

type node struct {
	Next *node
	Tags []string
}

type embedded struct {
	order
	When time.Time
}

// lossy returns what the event of a call that returns v says.
func lossy[T any](v T) error {
	h := listen()
	_, _ = core.Call(context.Background(), "k", nil, func(context.Context) (T, error) { return v, nil }, core.WithBus(h.bus))
	return h.funcs[0].Lossy
}

func TestLossy(t *testing.T) {
	cycle := &node{}
	cycle.Next = cycle
	nan := 0.0
	nan /= nan
	for _, tt := range []struct {
		reason string
		err    error
		want   string // "" for a value that survives
	}{
		{"a channel", lossy(make(chan int)), "chan int"},
		{"a function", lossy(func() {}), "func()"},
		{"a channel in a struct", lossy(struct{ C chan int }{}), "chan int"},
		{"an unexported field", lossy(closedBox{1, "x"}), "core_test.closedBox does not survive JSON: .note"},
		{"an unexported field that is zero", lossy(closedBox{N: 1}), ""},
		{"deep inside", lossy(map[string][]closedBox{"k": {{}, {1, "x"}}}), "[k][1].note"},
		{"a field that is not encoded", lossy(struct {
			A int `json:"-"`
		}{1}), ".A"},
		{"NaN", lossy(nan), "float64"},
		{"a cycle", lossy(cycle), "*core_test.node"},
		{"a string that is no UTF-8", lossy("a\xff"), "string"},
		{"an integer that a float64 cannot hold, behind any", lossy(map[string]any{"n": int64(1)<<53 + 1}), "[n]"},
		{"written and never read", lossy(writeOnly{1}), "core_test.writeOnly"},
		{"a method that panics", lossy(panicky{}), "core_test.panicky does not survive JSON: encoding it panicked"},
		{"an interface that cannot be decoded", lossy[fmt.Stringer](time.Second), "fmt.Stringer"},

		{"nil", lossy[any](nil), ""},
		{"an error that is none", lossy[error](nil), ""},
		{"a time", lossy(time.Now()), ""},
		{"a nil slice", lossy(node{}), ""},
		{"an empty slice", lossy(node{Tags: []string{}}), ""},
		{"pointers", lossy(&node{Next: &node{Tags: []string{"<&>"}}}), ""},
		{"ints behind any", lossy(map[string]any{"n": 1, "s": []any{int64(2), uint8(3)}}), ""},
		{"a struct behind any", lossy[any](struct{ B, A int }{1, 2}), ""},
		{"raw JSON", lossy(json.RawMessage(`{"a": 1.0}`)), ""},
		{"embedded", lossy(embedded{order{1, "n"}, time.Now()}), ""},
		{"bytes", lossy([]byte{0, 255}), ""},
		{"an array", lossy([2]int{1, 2}), ""},
		{"keys of another type", lossy(map[int]bool{3: true}), ""},
		{"methods of the pointer", lossy(pointerMarshaler{3}), ""},
		{"methods of the pointer, inside", lossy(struct{ P pointerMarshaler }{pointerMarshaler{3}}), ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			if (tt.err == nil) != (tt.want == "") || tt.err != nil && !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("%v, want %q", tt.err, tt.want)
			}
		})
	}
}

func TestLossyArgument(t *testing.T) {
	h := listen()
	_, _ = core.Call(t.Context(), "k", closedBox{1, "x"}, func(context.Context) (int, error) { return 1, nil }, core.WithBus(h.bus))
	if err := h.funcs[0].Lossy; err == nil || !strings.Contains(err.Error(), "call k: its argument of type core_test.closedBox") {
		t.Errorf("%v", err)
	}
}
