package wire

import (
	"encoding/json"
	"testing"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

func TestParseObject(t *testing.T) {
	tests := []struct {
		reason, text string
		names        []string
		ok           bool
	}{
		{"whole", ` {"a":1,"b":[{"c":{}}]} `, []string{"a", "b"}, true},
		{"empty", `{}`, nil, true},
		{"cut inside a value: the members before it stand", `{"a":1,"b":[1,`, []string{"a"}, false},
		{"cut inside a name", `{"a":1,"b`, []string{"a"}, false},
		{"text after it", `{"a":1}{`, []string{"a"}, false},
		{"escaped names", `{"\u0061":1}`, []string{"a"}, true},
		{"an array", `[]`, nil, false},
		{"nothing", ``, nil, false},
		{"bad value", `{"a":tru}`, nil, false},
		{"a number that may be cut", `{"a":1,"b":12`, []string{"a"}, false},
		{"a number that is whole", `{"a":1,"b":12 `, []string{"a", "b"}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			o, err := parseObject([]byte(test.text))
			if (err == nil) != test.ok {
				t.Errorf("error %v", err)
			}
			var names []string
			for _, m := range o {
				names = append(names, string(m.name))
				if !jsonlex.Valid(m.value) {
					t.Errorf("member %s is %q", m.name, m.value)
				}
			}
			if len(names) != len(test.names) {
				t.Fatalf("got members %q, want %q", names, test.names)
			}
			for i := range names {
				if names[i] != test.names[i] {
					t.Fatalf("got members %q, want %q", names, test.names)
				}
			}
		})
	}
	if _, err := parseArray([]byte(`{}`)); err == nil {
		t.Error("an object was read as an array")
	}
	if list, err := parseArray([]byte(`[1,[2],`)); err == nil || len(list) != 2 {
		t.Errorf("a cut array gave %q, %v", list, err)
	}
}

func TestObjectReads(t *testing.T) {
	o, err := parseObject([]byte(`{"a":"1","a":"2","null":null,"n":12,"f":3.0,"e":1.5,"big":1e300,"lone":"\ud83d!"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.text("a"); got != "2" {
		t.Errorf("of duplicates %q counts", got)
	}
	if o.get("null") != nil || o.get("none") != nil {
		t.Error("null and absent are not the same")
	}
	if got := o.text("lone"); got != "\ufffd!" {
		t.Errorf("a lone surrogate became %q", got)
	}
	if n, ok := o.count("n"); n != 12 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if n, ok := o.count("f"); n != 3 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	for _, name := range []string{"e", "big", "a", "none"} {
		if n, ok := o.count(name); ok {
			t.Errorf("%s counts %d", name, n)
		}
	}
}

func TestJoinPieces(t *testing.T) {
	tests := []struct {
		reason string
		pieces []string
		want   string
	}{
		{"one", []string{`1.0`}, `1.0`},
		{"strings", []string{`"a"`, `"\n"`, `""`}, `"a\n"`},
		{"arrays", []string{`[1]`, `[]`, `[ 2 , "a" ]`}, `[1,2,"a"]`},
		{"objects: arrays grow, the last string stands", []string{`{"a":[1],"b":"x"}`, `{"a":[2],"b":"y","c":null}`}, `{"a":[1,2],"b":"y"}`},
		{"numbers", []string{`1`, `2`}, `2`},
		{"a mixture", []string{`"a"`, `[1]`}, `[1]`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var pieces []json.RawMessage
			for _, p := range test.pieces {
				pieces = append(pieces, json.RawMessage(p))
			}
			if got := joinPieces(pieces); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
