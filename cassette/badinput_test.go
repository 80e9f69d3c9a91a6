package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// badFiles are cassettes that cannot be read, with what the error must say.
func badFiles(good string) []struct{ reason, text, want, remedy string } {
	line := strings.Index(good, "\n    {") // where the first interaction begins
	return []struct{ reason, text, want, remedy string }{
		{"empty", "", "the file is empty", "record again"},
		{"white space only", " \r\n", "the file is empty", "record again"},
		{"cut", good[:len(good)/2], "", "record again"},
		{"cut at the end", strings.TrimRight(good, "}\n"), "cut short", "record again"},
		{"an empty array", "[]", "an array, not a cassette", "record again"},
		{"another version", strings.Replace(good, "mixtape/1", "mixtape/7", 1), `"mixtape/7"`, "update the module"},
		{"another tool's file", `{"version": 2, "interactions": []}`, `"format": "mixtape/1"`, "record again"},
		{"conflict markers", good[:line] + "\n<<<<<<< HEAD" + good[line:] + "=======\n>>>>>>> theirs\n", "merge conflict in", "take one side whole"},
		{"an unknown kind", strings.Replace(good, `"kind": "llm"`, `"kind": "dream"`, 1), "unknown interaction kind", "update the module"},
		{"a kind that is no string", strings.Replace(good, `"kind": "llm"`, `"kind": 7`, 1), "kind must be a string", "mend it"},
		{"text", "hello", "", "record again"},
		{"a string", `"hello"`, "must be an object", "record again"},
		{"nothing recorded", `{"format": "mixtape/1"}`, "no interactions", "record again"},
		{"a bad URL", strings.Replace(good, "https://api.openai.com", "https://api openai.com:x", 1), "interaction 1", "mend it"},
	}
}

func TestFault116BadFiles(t *testing.T) {
	origin := folder(t)
	record(t, origin, "a.json", "hi", "again")
	for _, tt := range badFiles(read(t, origin, "a.json")) {
		for _, mode := range []cassette.Mode{cassette.Auto, cassette.Replay, cassette.Extend, cassette.Verify, cassette.Record} {
			t.Run(fmt.Sprint(tt.reason, " ", mode), func(t *testing.T) {
				dir := folder(t)
				path := filepath.Join(dir, "a.json")
				if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
					t.Fatal(err)
				}
				if mode == cassette.Verify && tt.reason == "a bad URL" {
					t.Skip("Verify looks at a request's address in Drift only")
				}
				f := newT(t, "TestBadFiles")
				s := cassette.Use(f, "a.json", cassette.Dir(dir), mode)
				if mode == cassette.Record {
					ask(t, s.Context(t.Context()), answering("new").client(), "hi")
					f.end().wantPass()
					wantText(t, read(t, path), "new")
					return
				}
				if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "hi"); err == nil {
					t.Error("the call was answered")
				}
				f.end().wantError("cassette "+path, tt.want, tt.remedy)
				if read(t, path) != tt.text {
					t.Error("the file changed")
				}
				wantFiles(t, dir, "a.json")

				_, err := cassette.Open(path, mode)
				var fe *cassette.FileError
				if !errors.As(err, &fe) || fe.Path != path || fe.Remedy == "" {
					t.Errorf("Open returns %v", err)
				}
			})
		}
	}
}

// brokenBody is a request body that breaks off.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestUnreadableRequestBody(t *testing.T) {
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay, cassette.Extend} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := folder(t)
			record(t, dir, "a.json", "hi")
			before := read(t, dir, "a.json")
			f := newT(t, "TestUnreadable/"+mode.String())
			s := cassette.Use(f, "a.json", cassette.Dir(dir), mode)
			wire := answering("answer 1")
			ask(t, s.Context(t.Context()), wire.client(), "hi")
			sent := wire.requests()
			req, err := http.NewRequestWithContext(s.Context(t.Context()), http.MethodPost, provider+"/v1/chat/completions", io.MultiReader(strings.NewReader(`{"model":`), brokenBody{}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = wire.client().Do(req)
			var unreadable *core.RequestBodyError
			if !errors.As(err, &unreadable) {
				t.Errorf("the error is %v", err)
			}
			wantText(t, fmt.Sprint(err), "POST https://api.openai.com/v1/chat/completions", "the disk is gone", "nothing was sent")
			if wire.requests() != sent {
				t.Error("something was sent")
			}
			f.end()
			if mode != cassette.Replay {
				f.wantError("a.json: not recorded", "the disk is gone")
			}
			if read(t, dir, "a.json") != before {
				t.Error("the cassette changed")
			}
		})
	}
}

func TestBadRules(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	before := read(t, dir, "a.json")
	for _, tt := range []struct {
		reason string
		option cassette.Option
		want   string
	}{
		{"a pattern without an expression", cassette.Redact(redact.Pattern("order", nil)), "order"},
		{"a name that no placeholder can have", cassette.Redact(redact.Pattern("a b", regexp.MustCompile("x"))), "a b"},
		{"a path that is none", cassette.Redact(redact.Path("messages[")), "messages["},
		{"an empty value", cassette.Redact(redact.Value("")), "empty"},
		{"a zero rule", cassette.Redact(redact.Rule{}), "Rule"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
				f := newT(t, "TestBadRules")
				s := cassette.Use(f, "a.json", cassette.Dir(dir), mode, tt.option)
				if _, err := chat(s.Context(t.Context()), unreachable(t).client(), provider, "hi"); err == nil {
					t.Error("the call was answered")
				}
				f.end().wantError("cassette "+filepath.Join(dir, "a.json"), tt.want)
			}
		})
	}
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
	wantFiles(t, dir, "a.json")
}

// A session that could not be opened refuses tools too, and a test that has a FailNow ends at once.
func TestBrokenSession(t *testing.T) {
	f := newT(t, "TestBroken")
	s := cassette.Use(f, "a.json", cassette.Dir(folder(t)), cassette.Replay)
	ran := false
	tool := core.Tool("t", func(context.Context, int) (int, error) { ran = true; return 1, nil })
	for _, ctx := range []context.Context{s.Context(t.Context()), t.Context()} {
		if _, err := tool(ctx, 1); err == nil || ran {
			t.Errorf("the tool ran: %v, %v", ran, err)
		}
		if _, err := chat(ctx, unreachable(t).client(), "http://127.0.0.1:1", "hi"); err == nil {
			t.Error("a call was answered")
		}
	}
	if s.Path() == "" || s.Report() != (cassette.Report{}) || s.Bus() == nil {
		t.Errorf("the session has path %q, report %+v, bus %v", s.Path(), s.Report(), s.Bus())
	}
	if drifts, err := s.Drift(); drifts != nil || err != nil {
		t.Errorf("Drift returns %v, %v", drifts, err)
	}
	f.end().wantError("no such file")
}
