package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Rule says what a secret looks like. It is an immutable value; a mistake in it is reported by [New].
type Rule struct {
	name   string
	kind   ruleKind
	shape  shape          // of a shapeRule
	re     *regexp.Regexp // of a patternRule
	texts  []string       // names, paths or values
	opaque bool
}

type ruleKind byte

const (
	noRule ruleKind = iota // the zero Rule, an error
	shapeRule
	memberRule // the built-in names of members
	patternRule
	fieldRule
	pathRule
	valueRule
)

// Pattern hides each match of re in every text: its first group if it has one that matched, else the whole match. The
// name stands in the placeholder: lower-case letters, digits and underscores.
func Pattern(name string, re *regexp.Regexp) Rule {
	return Rule{name: name, kind: patternRule, re: re}
}

// Field hides the strings that are values of JSON members, form fields and query parameters with one of these names,
// compared as a whole and without regard to ASCII case. The strings of an array under such a member are hidden too;
// objects are left alone. [Redactor.Message] hides numbers there as well.
func Field(names ...string) Rule {
	return Rule{name: "field", kind: fieldRule, texts: slices.Clone(names)}
}

// Path hides the JSON strings at these full paths ("$.user.name", "$.rows[*].note") and below them, and
// [Redactor.Message] the numbers.
func Path(paths ...string) Rule {
	return Rule{name: "path", kind: pathRule, texts: slices.Clone(paths)}
}

// Value hides these very values wherever they stand in a text.
func Value(values ...string) Rule {
	return Rule{name: "value", kind: valueRule, texts: slices.Clone(values)}
}

// Opaque returns a rule that hides the same without a fingerprint: its values cannot be told apart afterwards.
func (r Rule) Opaque() Rule {
	r.opaque = true
	return r
}

// Name returns the rule's name, as it stands in placeholders.
func (r Rule) Name() string { return r.name }

// Default returns the built-in rules: the shapes of keys, tokens and personal data, and the names of members that hold
// secrets.
func Default() []Rule {
	rules := make([]Rule, 0, numShapes+1)
	for s := range shape(numShapes) {
		rules = append(rules, Rule{name: s.String(), kind: shapeRule, shape: s})
	}
	return append(rules, Rule{name: "field", kind: memberRule})
}

// reservedNames stand in placeholders that no rule of a caller's makes.
var reservedNames = []string{credentialName, signatureName, numberName}

// check returns what is wrong with the rule.
func (r Rule) check() error {
	if r.kind == noRule {
		return fmt.Errorf("redact: the zero Rule hides nothing: use Pattern, Field, Path, Value or Default")
	}
	if !validName(r.name) || slices.Contains(reservedNames, r.name) {
		return fmt.Errorf("redact: rule name %q: a name is a lower-case letter and up to 31 lower-case letters, digits and underscores, and none of %q",
			r.name, reservedNames)
	}
	switch r.kind {
	case patternRule:
		if r.re == nil {
			return fmt.Errorf("redact: rule %s: the regular expression is nil", r.name)
		}
	case fieldRule, valueRule:
		if slices.Contains(r.texts, "") {
			return fmt.Errorf("redact: rule %s: one of its texts is empty", r.name)
		}
	case pathRule:
		if _, err := jsonpath.NewSet(r.texts...); err != nil {
			return fmt.Errorf("redact: rule %s: %w", r.name, err)
		}
	}
	return nil
}

// validName reports whether name can stand in a placeholder.
func validName(name string) bool {
	if name == "" || len(name) > 32 || !is(name[0], lower) {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 || !is(byte(r), lower|digit) && r != '_' }) < 0
}
