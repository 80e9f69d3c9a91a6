package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func newDefault(t testing.TB, more ...Rule) *Redactor {
	t.Helper()
	r, err := New(append(Default(), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRuleErrors(t *testing.T) {
	re := regexp.MustCompile("x")
	for _, tc := range []struct {
		rule   Rule
		want   string
		reason string
	}{
		{Rule{}, "zero Rule", "a rule that hides nothing is a mistake"},
		{Pattern("", re), `rule name ""`, "no name"},
		{Pattern("Order", re), `rule name "Order"`, "upper case"},
		{Pattern("a>b", re), `rule name "a>b"`, "would end the placeholder"},
		{Pattern(strings.Repeat("a", 33), re), "rule name", "too long to be found again"},
		{Pattern("credential", re), "rule name", "kept for ambient credentials"},
		{Pattern("number", re), "rule name", "kept for hidden numbers"},
		{Pattern("signature", re), "rule name", "kept for signatures"},
		{Pattern("order", nil), "rule order", "no expression"},
		{Field("ok", ""), "rule field", "an empty name"},
		{Value(""), "rule value", "an empty value stands everywhere"},
		{Path("user.name"), "$.metadata.run_id", "the remedy of jsonpath"},
	} {
		if _, err := New(tc.rule); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want one with %q: %s", err, tc.want, tc.reason)
		}
	}
}

func TestRules(t *testing.T) {
	r := newDefault(t,
		Pattern("order", regexp.MustCompile(`ORD-(\d+)`)),
		Pattern("nothing", regexp.MustCompile(`q*`)),
		Value("hush"),
		Field("SSN"),
		Field("pin").Opaque(),
		Path("$.user.name", "$.rows[*]"),
	)
	r.Credential("key0123456789abcdef", "short1", "nodigitsinthisvalue", "with space 0123456789")
	for _, tc := range []struct{ in, want, reason string }{
		{`{"a":"ORD-12345 ok"}`, `{"a":"ORD-<order:..> ok"}`, "a pattern's group; a value of digits has a short fingerprint"},
		{`{"a":"say hush!"}`, `{"a":"say <value:....>!"}`, "a value anywhere"},
		{`{"ssn":"x","SsN":"y","ssn_2":"z"}`, `{"ssn":"<field:....>","SsN":"<field:....>","ssn_2":"z"}`, "a name as a whole, without case"},
		{`{"ssn":["x",{"b":"y"}],"n":{"ssn":7}}`, `{"ssn":["<field:....>",{"b":"y"}],"n":{"ssn":7}}`, "strings of an array; no objects, no numbers"},
		{`{"pin":"x"}`, `{"pin":"<field>"}`, "an opaque rule"},
		{`{"user":{"name":"x","id":"y"},"name":"z"}`, `{"user":{"name":"<path:....>","id":"y"},"name":"z"}`, "a full path"},
		{`{"rows":[{"a":"x"},"y"]}`, `{"rows":[{"a":"<path:....>"},"<path:....>"]}`, "all below a path"},
		{`{"a":"key0123456789abcdef"}`, `{"a":"<credential>"}`, "an ambient credential"},
		{`{"a":"short1 nodigitsinthisvalue"}`, `{"a":"short1 nodigitsinthisvalue"}`, "what may be a word is no credential"},
		{`{"a":"Bearer key0123456789abcdef"}`, `{"a":"Bearer <credential>"}`, "a credential before a shape"},
		{`{"u":"https://x.io/?a=key0123456789abcdef&b"}`, `{"u":"https://x.io/?a=redacted&b"}`, "a credential in a URL"},
	} {
		got := r.JSON([]byte(tc.in))
		pattern := regexp.MustCompile("^" + strings.NewReplacer(`:\.\.\.\.>`, ":[a-z2-7]{4}>", `:\.\.>`, ":[a-z2-7]{2}>").Replace(regexp.QuoteMeta(tc.want)) + "$")
		if !pattern.Match(got) {
			t.Errorf("%s became %s, want %s: %s", tc.in, got, tc.want, tc.reason)
		}
	}
}

func TestNothingHiddenIsTheSameSlice(t *testing.T) {
	r := newDefault(t)
	for _, b := range [][]byte{[]byte(`{"a":"b"}`), []byte("plain"), []byte("data: {}\n\n"), {0xFF, 0xFE, '@'}} {
		for name, f := range map[string]func([]byte) []byte{
			"Bytes": r.Bytes, "JSON": r.JSON, "Body": func(b []byte) []byte { return r.Body("", b) },
		} {
			if got := f(b); &got[0] != &b[0] || len(got) != len(b) {
				t.Errorf("%s(%q) is another slice", name, b)
			}
		}
	}
}

// TestFingerprintsAreOfTheFormat pins the fingerprints that stand in files.
func TestFingerprintsAreOfTheFormat(t *testing.T) {
	r := newDefault(t)
	for in, want := range map[string]string{
		"alice@corp.com":        "email-miak@redacted.invalid",
		"(415) 555-2671":        "<phone:3w>",
		"sk-ABCDEFGH12345678":   "<openai_key:mbkx>",
		"https://x.io/?token=a": "https://x.io/?token=redacted-" + WholeFingerprint([]byte("a"))[:4],
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestOneValueOnePlaceholder(t *testing.T) {
	r := newDefault(t)
	seen := make(map[string]string)
	var all []string
	for i := range 100_000 {
		value := fmt.Sprintf("user%d@corp.com", i)
		if i%10 == 0 {
			value = fmt.Sprintf("+49 30 %07d", i)
		}
		p := r.String(value)
		if other, ok := seen[p]; ok {
			t.Fatalf("%s and %s both became %s", value, other, p)
		}
		seen[p] = value
		all = append(all, p)
	}
	for _, p := range all[:1000] {
		if again := r.String(seen[p]); again != p {
			t.Fatalf("%s became %s, then %s", seen[p], p, again)
		}
	}

	// A Redactor that has read the file gives every value the placeholder that stands there, in any order.
	other := newDefault(t)
	other.Known(slices.Collect(Placeholders(strings.Join(all, "\n")))...)
	for _, p := range slices.Backward(all[len(all)-10_000:]) {
		if got := other.String(seen[p]); got != p {
			t.Fatalf("%s became %s, in the file it is %s", seen[p], got, p)
		}
	}
}

func TestKnownIgnoresNonsense(t *testing.T) {
	r := newDefault(t)
	want := newDefault(t).String("alice@corp.com")
	r.Known("", "a", "MIAK", "0189", strings.Repeat("a", 53))
	if got := r.String("alice@corp.com"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConcurrentUse(t *testing.T) {
	r := newDefault(t)
	want := newDefault(t).String("alice@corp.com +49 30 1234567")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 100 {
				if got := r.String("alice@corp.com +49 30 1234567"); len(got) < len(want) {
					t.Errorf("got %s, want %s", got, want)
				}
				r.JSON(fmt.Appendf(nil, `{"a":"user%d@corp.com"}`, k))
				r.Credential(fmt.Sprintf("credential-number-%d-%d", i, k))
				r.Names("mine")
				r.Known("abcd")
				r.AppendFingerprinted(nil, []byte("<mine:abcd>"))
			}
		})
	}
	wg.Wait()
}

func TestAppendFingerprinted(t *testing.T) {
	r := newDefault(t)
	r.Names("order", "Bad name")
	for _, tc := range []struct{ in, want, reason string }{
		{"a <email:q7ka> b", "a \xffq7ka\xff b", "in angle brackets"},
		{"a <order:q7ka> b", "a \xffq7ka\xff b", "a name from a file"},
		{"a <other:q7ka> b", "a <other:q7ka> b", "an unknown name is text"},
		{"<email:q>", "<email:q>", "too short for a fingerprint"},
		{"<email:Q7KA>", "<email:Q7KA>", "no fingerprint"},
		{"<credential> <email>", "<credential> <email>", "no fingerprint to tell"},
		{"email-q7ka@redacted.invalid.", "\xffq7ka\xff.", "an e-mail address"},
		{"?a=redacted-q7ka&b=redacted", "?a=\xffq7ka\xff&b=redacted", "in a URL"},
		{"unredacted-abcd redacted-abc1", "unredacted-abcd redacted-abc1", "words of prose"},
		{"%40redacted-q7ka%20", "%40\xffq7ka\xff%20", "between percent escapes"},
		{"<<email:ab>>", "<\xffab\xff>", "brackets around"},
	} {
		if got := string(r.AppendFingerprinted(nil, []byte(tc.in))); got != tc.want {
			t.Errorf("%q gave %q, want %q: %s", tc.in, got, tc.want, tc.reason)
		}
	}
	if got := slices.Collect(Placeholders("<any:abcd> redacted-efgh email-ij@redacted.invalid <email>")); !slices.Equal(got, []string{"abcd", "efgh", "ij"}) {
		t.Errorf("Placeholders gave %q", got)
	}
}

func TestInputIsNeverWritten(t *testing.T) {
	r := newDefault(t)
	b := []byte(`{"password":"a","n":"x\u00e9 alice@corp.com"}`)
	before := bytes.Clone(b)
	r.JSON(b)
	r.Bytes(b)
	r.Body("", b)
	if !bytes.Equal(b, before) {
		t.Errorf("the input became %s", b)
	}
}

func Example() {
	r, err := New(append(Default(), Field("ssn"))...)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(r.JSON([]byte(`{"ssn":"078-05-1120","text":"write to alice@corp.com","max_tokens":64}`))))
	fmt.Println(r.URL("postgres://bob:hunter2@db.corp.com/shop"))
	// Output:
	// {"ssn":"<field:ck>","text":"write to email-miak@redacted.invalid","max_tokens":64}
	// postgres://bob:redacted-pl35@db.corp.com/shop
}
