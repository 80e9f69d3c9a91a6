package cassette_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

func TestDrift(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "same", "changed", "gone", "same")
	before := read(t, dir, "a.json")
	wire := &network{answer: func(_ *http.Request, body string) (*http.Response, error) {
		text := "another answer"
		if strings.Contains(body, "same") {
			text = "answer 1"
		}
		// Ids, usage and times take no part.
		return response(200, "application/json", strings.Replace(completion(text), "chatcmpl-1", "chatcmpl-2", 1)), nil
	}}
	f := newT(t, "TestDrift")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Verify)
	client := wire.client()
	for _, prompt := range []string{"same", "changed", "new, for " + canaries[2], "same"} {
		ask(t, s.Context(t.Context()), client, prompt)
	}
	if r := s.Report(); wire.requests() != 4 || r != (cassette.Report{Live: 4}) {
		t.Errorf("%d requests went out; the report is %+v", wire.requests(), r)
	}
	for range 2 { // asking changes nothing
		drifts, err := s.Drift()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range drifts {
			side := func(i *cassette.Interaction) string {
				if i == nil {
					return "-"
				}
				checkText(t, string(i.HTTP.Request.Bytes))
				_, text, _ := strings.Cut(string(i.HTTP.Response.Bytes), `"content":"`)
				text, _, _ = strings.Cut(text, `"`)
				return text
			}
			got = append(got, fmt.Sprintf("%s: %s, %s", d.Call, side(d.Recorded), side(d.Live)))
		}
		want := []string{
			"openai chat with model gpt-5: answer 2, another answer", // changed
			"openai chat with model gpt-5: -, another answer",        // new
			"openai chat with model gpt-5: answer 4, answer 1",       // same, the second time
			"openai chat with model gpt-5: answer 3, -",              // gone
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the drifts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f.end().wantPass()
	if read(t, dir, "a.json") != before {
		t.Error("the cassette changed")
	}
	wantFiles(t, dir, "a.json")
}

func TestDriftOfOtherModes(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "hi")
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay, cassette.Extend, cassette.Live} {
		f := newT(t, "TestDrift/"+mode.String())
		s := cassette.Use(f, "a.json", cassette.Dir(dir), mode)
		ask(t, s.Context(t.Context()), answering("x").client(), "hi")
		if drifts, err := s.Drift(); drifts != nil || err != nil {
			t.Errorf("in %v Drift returns %v, %v", mode, drifts, err)
		}
		f.fail()
		f.end()
	}
}

func TestReportCounts(t *testing.T) {
	dir := folder(t)
	record(t, dir, "a.json", "one", "two", "three")
	f := newT(t, "TestReport")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Pass("pass.example.com"))
	client := answering("live").client()
	ask(t, s.Context(t.Context()), client, "two")
	chat(s.Context(t.Context()), client, provider, "four")
	chat(s.Context(t.Context()), client, "https://pass.example.com", "five")
	core.Tool("t", func(context.Context, int) (int, error) { return 1, nil })(s.Context(t.Context()), 1)
	g := newT(t, "TestOther")
	cassette.Use(g, "b.json", cassette.Dir(dir))
	chat(t.Context(), client, provider, "one")
	want := cassette.Report{Served: 1, Unused: 2, Missed: 2, Refused: 1, Live: 1}
	if got := s.Report(); got != want {
		t.Errorf("the report is %+v, want %+v", got, want)
	}
	g.end()
	f.end()
	if got := s.Report(); got != want {
		t.Errorf("after the end it is %+v, want %+v", got, want)
	}
}

// patient asks again after the wait that a 429 asks for, as SDKs do.
func patient(ctx context.Context, client *http.Client, sleep func(time.Duration)) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, provider+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[]}`))
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusTooManyRequests {
			return nil
		}
		wait, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
		if err != nil {
			return err
		}
		sleep(wait)
	}
}

// In a bubble a recorded wait of an hour costs nothing.
func TestBubble(t *testing.T) {
	dir := folder(t)
	attempts := 0
	wire := &network{answer: func(*http.Request, string) (*http.Response, error) {
		attempts++
		resp := response(200, "application/json", completion("x"))
		if attempts == 1 {
			resp = response(429, "application/json", `{"error":{"message":"slow down"}}`)
			resp.Header.Set("Retry-After", "3600")
		}
		return resp, nil
	}}
	var modes []cassette.Mode
	bubble := func(t *testing.T, client *http.Client) {
		cassette.Bubble(t, "a.json", func(t *testing.T, s *cassette.Session) {
			modes = append(modes, s.Mode())
			sleep := time.Sleep
			if s.Mode() == cassette.Record {
				sleep = func(time.Duration) {}
			}
			heard := 0
			defer bus.Subscribe(s.Bus(), func(*bus.LLMCall) { heard++ })()
			began := time.Now()
			if err := patient(s.Context(t.Context()), client, sleep); err != nil {
				t.Error(err)
			}
			if waited := time.Since(began); s.Mode() == cassette.Replay && waited != time.Hour {
				t.Errorf("it waited %v of the bubble's time", waited)
			}
			if heard != 2 {
				t.Errorf("%d calls were heard", heard)
			}
		}, cassette.Dir(dir))
	}
	t.Run("same", func(t *testing.T) { bubble(t, wire.client()) })
	t.Run("same", func(t *testing.T) { bubble(t, unreachable(t).client()) })
	if fmt.Sprint(modes) != "[record replay]" {
		t.Errorf("the modes were %v", modes)
	}
}
