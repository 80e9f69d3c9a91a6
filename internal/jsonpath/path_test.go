package jsonpath

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{`$`, `$`, "the whole value"},
		{`$.metadata.run_id`, `$.metadata.run_id`, "names"},
		{`$.messages[3].content[0].text`, `$.messages[3].content[0].text`, "indices"},
		{`$.messages[*].*`, `$.messages[*].*`, "wildcards"},
		{`$['a b']["c"]`, `$['a b'].c`, "quoted names; an identifier needs no quotes"},
		{`$.x-api-key`, `$['x-api-key']`, "a bare name may be what people write, not only an identifier"},
		{`$['it\'s']`, `$['it\'s']`, "an escaped quote"},
		{`$["it's \"q\" \\ \n"]`, `$['it\'s "q" \\ \n']`, "JSON's escapes in double quotes"},
		{`$['*']`, `$['*']`, "a quoted star is a name"},
		{`$['']`, `$['']`, "an empty name"},
		{`$['\u00e9']`, `$.é`, "a Unicode escape"},
		{`$['\ud83d']`, `$['\ud83d']`, "a lone surrogate, which JSON names may hold"},
		{`$.größe`, `$.größe`, "letters of every script"},
	} {
		p, err := Parse(tc.in)
		if err != nil {
			t.Errorf("Parse(%s): %v; %s", tc.in, err, tc.reason)
			continue
		}
		if got := p.String(); got != tc.want {
			t.Errorf("Parse(%s) = %s, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ in, want, reason string }{
		{``, "begins with $", "empty"},
		{`metadata.run_id`, "$.metadata.run_id", "no $"},
		{`$..run_id`, `no ".."`, "recursive descent"},
		{`$.`, "name is missing", "nothing after a dot"},
		{`$.a b`, "a dot or a bracket is missing", "a space in a bare name"},
		{`$x`, "a dot or a bracket is missing", "no dot"},
		{`$[]`, "no index", "an empty index"},
		{`$[-1]`, "no index", "a negative index"},
		{`$[01]`, "no index", "a leading zero"},
		{`$[+1]`, "no index", "a sign"},
		{`$[1`, "no index", "an open bracket"},
		{`$[99999999999999999999]`, "no index", "beyond an int"},
		{`$[1:2]`, "no index", "a slice"},
		{`$['a`, "does not end", "an open quote"},
		{`$['a'`, "does not end", "an open bracket after a name"},
		{`$['\x']`, "does not end", "an unknown escape"},
		{`$['a\`, "does not end", "a cut escape"},
	} {
		_, err := Parse(tc.in)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "path ") {
			t.Errorf("Parse(%s): error %v, want one with %q: %s", tc.in, err, tc.want, tc.reason)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`$.a[0]['x y'].*[*]`, `$["\ud83d\""]`, `$['\\\'']`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		if strings.ContainsAny(p.String(), "\n\r") {
			t.Fatalf("%q is rendered on several lines: %q", s, p)
		}
		again, err := Parse(p.String())
		if err != nil {
			t.Fatalf("%q is rendered as %q: %v", s, p, err)
		}
		if utf8.ValidString(s) && again.String() != p.String() {
			t.Fatalf("%q, read again, is %q", p, again)
		}
	})
}
