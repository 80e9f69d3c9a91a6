package main

import (
	"strings"
	"testing"
)

func TestBars(t *testing.T) {
	for _, tt := range []struct {
		bar         bar
		ours, base  float64
		ratio, text string
		verdict     string
		reason      string
	}{
		{atMost(12e3), 12e3, 1e3, "12.0×", "≤ 12.0 µs", "yes", "a limit may be reached"},
		{atMost(12e3), 12.1e3, 1e3, "12.1×", "≤ 12.0 µs", "no", "the base does not matter"},
		{atLeast(10), 9, 1, "9.00×", "≥ 10.0 ns", "no", "more would be better"},
		{atMostMore(200), 250, 100, "+150 ns", "≤ +200 ns", "yes", "what counts is the difference"},
		{atMostMore(200), 90, 100, "−10.0 ns", "≤ +200 ns", "yes", "less than the base"},
		{atMostX(1.25), 130, 100, "1.30×", "≤ 1.25×", "no", "what counts is the ratio"},
		{timesFewer(100), 1, 320, "320× less", "≥ 100× less", "yes", "the base may be the slow one"},
		{timesFewer(100), 4, 320, "80.0× less", "≥ 100× less", "no", "less, but not enough"},
		{timesFewer(100), 640, 320, "2.00×", "≥ 100× less", "no", "more"},
		{bar{}, 1, 4, "4.00× less", "", "", "nothing is asked for"},
		{bar{}, 4, 1, "4.00×", "", "", "nothing is asked for, and it is more"},
	} {
		if got := tt.bar.ratio(duration, tt.ours, tt.base); got != tt.ratio {
			t.Errorf("%s: the ratio is %q, want %q", tt.reason, got, tt.ratio)
		}
		if got := tt.bar.text(duration); got != tt.text {
			t.Errorf("%s: the bar is %q, want %q", tt.reason, got, tt.text)
		}
		if got := tt.bar.verdict(tt.ours, tt.base); got != tt.verdict {
			t.Errorf("%s: the verdict is %q, want %q", tt.reason, got, tt.verdict)
		}
	}
}

func TestTable(t *testing.T) {
	tab := table{[]string{"work", "ratio"}, [][]string{{"replay", "2×"}, {"a", "10×"}}}
	for _, tt := range []struct {
		name  string
		print func(*strings.Builder) error
		want  string
	}{
		{"text", func(b *strings.Builder) error { return tab.text(b) }, "work     ratio\nreplay   2×\na        10×\n"},
		{"Markdown", func(b *strings.Builder) error { return tab.markdown(b) }, "| work | ratio |\n| --- | --- |\n| replay | 2× |\n| a | 10× |\n"},
	} {
		var b strings.Builder
		if err := tt.print(&b); err != nil || b.String() != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, b.String(), tt.want)
		}
	}
}
