package cassette_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
)

// changedLines returns the lines of the new text that a diff shows, by the interactions that they stand in, counted from
// 0. Both texts have as many interactions, whose lines are compared with those of the other's.
func changedLines(t *testing.T, name, before, after string) map[int][]string {
	t.Helper()
	cut := func(text string) [][]string {
		marker := "\n    {\n      \"kind\""
		if strings.HasSuffix(name, ".jsonl") {
			marker = "\n{\"kind\""
		}
		var all [][]string
		for _, part := range strings.Split(text, marker)[1:] {
			all = append(all, strings.Split(part, "\n"))
		}
		return all
	}
	a, b := cut(before), cut(after)
	if len(a) != len(b) {
		t.Fatalf("%d interactions became %d", len(a), len(b))
	}
	changed := map[int][]string{}
	for i := range b {
		for _, line := range b[i] {
			if !slices.Contains(a[i], line) {
				changed[i] = append(changed[i], strings.TrimSpace(line))
			}
		}
	}
	return changed
}

// TestReviewOfOneTurn records a conversation of six turns twice, with another answer to the third question.
func TestReviewOfOneTurn(t *testing.T) {
	for _, tc := range []struct {
		reason string
		echoed bool // the next turns send the answer back
		want   func(turn int, lines []string) bool
	}{
		{"an answer that is not sent back", false, func(turn int, lines []string) bool { return turn == 2 && len(lines) == 1 }},
		{"an answer that the next turns send back", true, func(turn int, lines []string) bool {
			switch turn {
			case 2:
				return len(lines) == 1
			case 3: // where it is sent back
				return len(lines) <= 2
			}
			return turn > 3 && len(lines) == 1 && strings.Contains(lines[0], `"hash"`)
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := folder(t)
			record := func(run, third string) string {
				f := newT(t, "TestRecord"+run)
				s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
				n := answering("one", "two", third, "four", "five", "six")
				messages := []string{`{"role":"system","content":"` + strings.Repeat("be kind, ", 80) + `"}`}
				for turn := range 6 {
					messages = append(messages, fmt.Sprintf(`{"role":"user","content":"question %d"}`, turn))
					post(t, s.Context(t.Context()), n.client(), provider+"/v1/chat/completions", `{"model":"m","messages":[`+strings.Join(messages, ",")+`]}`)
					said := []string{"one", "two", "three", "four", "five", "six"}[turn]
					if turn == 2 && tc.echoed {
						said = third
					}
					messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":%q}`, said))
				}
				f.end().wantPass()
				return read(t, dir, "a.json")
			}
			before, after := record("First", "three"), record("Second", "THREE")
			changed := changedLines(t, "a.json", before, after)
			if len(changed[2]) == 0 {
				t.Error("the turn did not change")
			}
			for turn, lines := range changed {
				lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "_ms\"") })
				if len(lines) > 0 && !tc.want(turn, lines) {
					t.Errorf("turn %d shows %q", turn, lines)
				}
			}
		})
	}
}
