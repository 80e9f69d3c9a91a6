package redact

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Redactor applies rules. It remembers what it hid, for [Redactor.Learned], so that its memory grows with the number of
// different values hidden. It is safe for concurrent use; placeholders depend on the order of calls only where values'
// fingerprints fall together.
type Redactor struct {
	names   []string
	shapes  [numShapes]*Rule
	members *Rule            // the rule for built-in names, nil if off
	fields  map[string]*Rule // by lower-case name
	// fieldStart tells the first bytes of their names, 0x20 set, and longestField the length of the longest.
	fieldStart   [256]bool
	longestField int
	hasFields    bool // there are names of the caller's
	patterns     []*Rule
	paths        [2]*jsonpath.Set // fingerprinted, opaque
	pathRule     [2]*Rule

	shapeless bool // no shape is looked for

	ledger *ledger
	memory *memory // nil where nothing is learned

	mu       sync.Mutex // serialises changes of what is below
	literals atomic.Pointer[literals]
	nameSet  atomic.Pointer[map[string]bool] // names that make a placeholder
	numbers  atomic.Pointer[[]string]        // fingerprints of the hidden numbers of a loaded file
}

// New returns a Redactor with exactly these rules: callers that want the built-in ones begin with [Default]. Of two
// rules for one thing the later holds. The error names the rule that is wrong.
func New(rules ...Rule) (*Redactor, error) {
	r := &Redactor{fields: make(map[string]*Rule), ledger: &ledger{}, memory: &memory{}}
	var values []literal
	named := make(map[string]bool)
	for _, name := range reservedNames {
		named[name] = true
	}
	var paths [2][]string
	rules = slices.Clone(rules)
	for i := range rules {
		rule := &rules[i]
		if err := rule.check(); err != nil {
			return nil, err
		}
		if !named[rule.name] {
			named[rule.name] = true
			r.names = append(r.names, rule.name)
		}
		switch rule.kind {
		case shapeRule:
			r.shapes[rule.shape] = rule
		case memberRule:
			r.members = rule
			for _, name := range memberNames {
				r.fields[name] = rule
			}
		case fieldRule:
			r.hasFields = true
			for _, name := range rule.texts {
				r.fields[string(appendLower(nil, []byte(name)))] = rule
			}
		case patternRule:
			r.patterns = append(r.patterns, rule)
		case pathRule:
			k := 0
			if rule.opaque {
				k = 1
			}
			paths[k] = append(paths[k], rule.texts...)
			r.pathRule[k] = rule
		case valueRule:
			for _, v := range rule.texts {
				values = append(values, literal{v, rule})
			}
		}
	}
	for name := range r.fields {
		r.fieldStart[name[0]|0x20] = true
		r.longestField = max(r.longestField, len(name))
	}
	for k := range paths {
		if len(paths[k]) == 0 {
			continue
		}
		set, err := jsonpath.NewSet(paths[k]...)
		if err != nil {
			return nil, err
		}
		r.paths[k] = set
	}
	r.literals.Store(newLiterals(values))
	r.nameSet.Store(&named)
	return r, nil
}

// Rules returns the names of the rules, for the header of a file.
func (r *Redactor) Rules() []string { return slices.Clone(r.names) }

// HasPaths reports whether a rule hides by path: then what is hidden in a part of a JSON text depends on where it stands.
func (r *Redactor) HasPaths() bool { return r.paths[0] != nil || r.paths[1] != nil }

// Names adds names that make a placeholder: those of the rules that were on when a loaded file was written.
func (r *Redactor) Names(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	set := maps.Clone(*r.nameSet.Load())
	for _, name := range names {
		if validName(name) {
			set[name] = true
		}
	}
	r.nameSet.Store(&set)
}

func (r *Redactor) named(name []byte) bool { return (*r.nameSet.Load())[string(name)] }

// Known adds the fingerprints of the placeholders that stand in a loaded file, as [Placeholders] yields them. A value
// takes the longest of these that its own whole fingerprint begins with.
func (r *Redactor) Known(fingerprints ...string) {
	for _, f := range fingerprints {
		r.ledger.know(f)
	}
}

// Credential adds ambient credentials, which are hidden as <credential> wherever they stand in a text. A value shorter
// than 16 bytes, without a letter or a digit, or with white space is left out: it might be a word.
func (r *Redactor) Credential(values ...string) {
	if known := r.literals.Load().all; !slices.ContainsFunc(values, func(v string) bool { return isNew(known, v) }) {
		return // as in most calls of a program
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.literals.Load().all
	all := slices.Clone(old)
	for _, v := range values {
		if isNew(all, v) {
			all = append(all, literal{v, &credentialRule})
		}
	}
	if len(all) > len(old) {
		r.literals.Store(newLiterals(all))
	}
}

// isNew reports whether v is a credential that is not among known.
func isNew(known []literal, v string) bool {
	return isCredential(v) && !slices.ContainsFunc(known, func(x literal) bool { return x.text == v })
}

// String returns plain text with its secrets hidden.
func (r *Redactor) String(s string) string {
	b := []byte(s)
	edits := r.textEdits(b, textForm)
	if len(edits) == 0 {
		return s
	}
	return string(apply(b, edits))
}

// Bytes is String for bytes. It returns b itself when nothing is hidden, and never writes to it.
func (r *Redactor) Bytes(b []byte) []byte { return edited(b, r.textEdits(b, textForm)) }

// edited returns b with the edits made, b itself if there are none.
func edited(b []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return b
	}
	return apply(b, edits)
}
