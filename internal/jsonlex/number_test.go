package jsonlex

import (
	"strings"
	"testing"
)

func TestAppendNumber(t *testing.T) {
	long := strings.Repeat("9", 40)
	for _, tc := range []struct{ in, want, reason string }{
		{"0", "0e0", "zero"},
		{"-0.000e-999999999999999999999", "0e0", "zero"},
		{"10", "1e1", "trailing zeros"},
		{"-12.50", "-125e-1", "a fraction"},
		{"0.00120", "12e-4", "leading zeros"},
		{"1e0005", "1e5", "zeros before an exponent"},
		{"1e-0", "1e0", "a signed exponent of 0"},
		{"1e999999999999999999", "1e999999999999999999", "18 digits"},
		{"10e999999999999999999", "1e1000000000000000000", "18 digits and one more"},
		{"0.1e1000000000000000000", "1e999999999999999999", "19 digits and one less"},
		{"1e1000000000000000000", "1e1000000000000000000", "19 digits and nothing more"},
		{"10e-1000000000000000000", "1e-999999999999999999", "19 digits below 0 and one less"},
		{"0.1e-" + long, "1e-1" + strings.Repeat("0", 40), "a carry through all digits"},
		{"100e" + long, "1e1" + strings.Repeat("0", 39) + "1", "a carry through all digits"},
		{"0.01e1" + strings.Repeat("0", 40), "1e" + strings.Repeat("9", 39) + "8", "a borrow through all digits"},
		{"1e+" + long, "1e" + long, "nothing to add"},
	} {
		if got := string(AppendNumber(nil, []byte(tc.in))); got != tc.want {
			t.Errorf("%s becomes %s, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

func TestAppendPlainNumber(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{"471147", "471147", "an integer as people write it"},
		{"471147.0", "471147", "the same"},
		{"4.71147e5", "471147", "the same"},
		{"-1200", "-1200", "zeros at the end"},
		{"-0", "0", "zero has no sign"},
		{"12.50", "125e-1", "a fraction"},
		{"1e20", "100000000000000000000", "the longest row of zeros"},
		{"1e21", "1e21", "no longer one"},
		{"1e400", "1e400", "nothing is expanded without bounds"},
		{"1e99999999999999999999", "1e99999999999999999999", "no int holds the exponent"},
	} {
		if got := string(AppendPlainNumber([]byte("x"), []byte(tc.in))); got != "x"+tc.want {
			t.Errorf("%s becomes %s, want x%s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}
