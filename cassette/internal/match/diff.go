package match

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Change says how a place differs.
type Change string

const (
	Changed   Change = "changed"   // both requests have it, with another value
	Added     Change = "added"     // only the live request has it
	Missing   Change = "missing"   // only the stored request has it
	Reordered Change = "reordered" // both have the same elements, or the same words, in another order
)

// Difference is one place in which two requests differ.
type Difference struct {
	// Path names the place: a path into the JSON body ("$.messages[2].content"), a part of the request ("model",
	// "stream", "query.api-version"), or a place in a body that is no JSON ("form.name", "body at byte 12"). It is cut where
	// a name in it is very long.
	Path   string
	Change Change
	// Live and Stored are the two values on one line, cut to what surrounds the first difference, their control
	// characters escaped; strings are quoted. One of them is empty when the place is Added or Missing.
	Live, Stored string
}

// Diff returns the first places, at most limit, in which a live request differs from a stored one, as the rules see
// them. It returns none exactly when the keys of the two are the same.
func (m *Matcher) Diff(live, stored *Request, limit int) []Difference {
	d := differ{matcher: m, limit: limit}
	seed := maphash.MakeSeed()
	a, b := m.view(live, seed), m.view(stored, seed)
	d.header(&a, &b)
	switch {
	case a.kind == jsonBody && b.kind == jsonBody:
		d.path = append(d.path, '$')
		d.value(&a.root, &b.root)
	case !bytes.Equal(a.body, b.body):
		d.other(&a, &b)
	}
	return d.found
}

// view is a request as the rules see it.
type view struct {
	*Request
	only bool   // the conversation only
	body []byte // the body's form
	kind byte   // jsonBody, or the first token of body
	root node   // of a JSON body; the zero node when all of it is left out
}

// jsonBody is the kind of all JSON bodies.
const jsonBody = 0

// view returns r as the rules of m see it. Trees of one seed can be compared.
func (m *Matcher) view(r *Request, seed maphash.Seed) view {
	e := new(encoder)
	from := m.encode(e, r, true)
	v := view{Request: r, only: e.only, body: e.dst[from:]}
	if len(v.body) == 0 {
		return v
	}
	switch v.body[0] {
	case tokenText, tokenBytes, tokenParts, tokenPairs:
		v.kind = v.body[0]
	default:
		v.root = (&reader{form: v.body, source: r.Body, seed: seed}).value()
	}
	return v
}

// differ collects differences, up to its limit.
type differ struct {
	matcher *Matcher
	limit   int
	path    []byte
	found   []Difference
}

func (d *differ) full() bool { return len(d.found) >= d.limit }

func (d *differ) add(path string, change Change, live, stored string) {
	if !d.full() {
		d.found = append(d.found, Difference{escape(shorten(path, shownPlace)), change, live, stored})
	}
}

// header compares the parts of the requests beside their bodies.
func (d *differ) header(a, b *view) {
	d.part("kind", a.Kind, b.Kind)
	d.part("provider", a.Provider, b.Provider)
	d.part("format", a.Format, b.Format)
	if x, y := a.root.member("model"), b.root.member("model"); x == nil || y == nil || x.sum == y.sum {
		d.part("model", a.Model, b.Model)
	}
	if a.Streamed != b.Streamed {
		asks := map[bool]string{true: "asks for a stream", false: "asks for a plain answer"}
		d.add("stream", Changed, asks[a.Streamed], asks[b.Streamed])
	}
	if a.only && b.only {
		return
	}
	d.part("operation", a.Operation, b.Operation)
	d.part("method", a.Method, b.Method)
	hostA, pathA := a.where()
	hostB, pathB := b.where()
	d.part("host", hostA, hostB)
	d.part("path", pathA, pathB)
	drop := d.matcher.rules.Credential
	d.pairs("query", appendPairs(nil, a.Query, drop), appendPairs(nil, b.Query, drop))
}

func (d *differ) part(name, a, b string) {
	if !d.same([]byte(a), []byte(b)) {
		live, stored := quoteBoth([]byte(a), []byte(b))
		d.add(name, Changed, live, stored)
	}
}

// same reports whether two texts are the same but for their placeholders' names.
func (d *differ) same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	fingerprint := d.matcher.rules.Fingerprint
	return fingerprint != nil && utf8.Valid(a) && utf8.Valid(b) && bytes.Equal(fingerprint(nil, a), fingerprint(nil, b))
}

// pairs compares sorted pairs by name; those of one name in their order.
func (d *differ) pairs(what string, a, b []pair) {
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		case a[0].raw != b[0].raw || !d.same([]byte(a[0].name), []byte(b[0].name)):
			order = cmp.Or(strings.Compare(a[0].name, b[0].name), -1)
		}
		switch {
		case order < 0:
			d.add(what+"."+a[0].name, Added, quote([]byte(a[0].value), 0), "")
			a = a[1:]
		case order > 0:
			d.add(what+"."+b[0].name, Missing, "", quote([]byte(b[0].value), 0))
			b = b[1:]
		default:
			d.part(what+"."+a[0].name, a[0].value, b[0].value)
			a, b = a[1:], b[1:]
		}
	}
}

// value compares two JSON values, in the place that d.path names.
func (d *differ) value(a, b *node) {
	if a.sum == b.sum {
		return
	}
	switch {
	case a.token == tokenObject && b.token == tokenObject:
		d.object(a, b)
	case a.token == tokenArray && b.token == tokenArray:
		d.array(a, b)
	case a.token == tokenString && b.token == tokenString:
		x, y := a.text(), b.text()
		change := Changed
		if sameWords(x, y) {
			change = Reordered
		}
		live, stored := quoteBoth(x, y)
		d.add(string(d.path), change, live, stored)
	default:
		d.add(string(d.path), Changed, a.show(), b.show())
	}
}

// object compares members by name; those of one name in their order.
func (d *differ) object(a, b *node) {
	above := len(d.path)
	for i, j := 0, 0; (i < len(a.inner) || j < len(b.inner)) && !d.full(); d.path = d.path[:above] {
		order := 0
		switch {
		case i == len(a.inner):
			order = 1
		case j == len(b.inner):
			order = -1
		default:
			order = bytes.Compare(a.names[i].key(), b.names[j].key())
		}
		switch {
		case order < 0:
			d.path = jsonpath.AppendName(d.path, a.names[i].text())
			d.add(string(d.path), Added, a.inner[i].show(), "")
			i++
		case order > 0:
			d.path = jsonpath.AppendName(d.path, b.names[j].text())
			d.add(string(d.path), Missing, "", b.inner[j].show())
			j++
		default:
			d.path = jsonpath.AppendName(d.path, a.names[i].text())
			d.value(&a.inner[i], &b.inner[j])
			i++
			j++
		}
	}
}

// array compares what is left when the elements that two arrays have in common at their begin and end are taken off.
func (d *differ) array(a, b *node) {
	if slices.Equal(sums(a.inner), sums(b.inner)) {
		live, stored := showBoth(a.compact(), b.compact())
		d.add(string(d.path), Reordered, live, stored)
		return
	}
	x, y := a.inner, b.inner
	for len(x) > 0 && len(y) > 0 && x[0].sum == y[0].sum {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1].sum == y[len(y)-1].sum {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	above := len(d.path)
	for i := 0; i < max(len(x), len(y)) && !d.full(); i++ {
		switch {
		case i >= len(y):
			d.path = jsonpath.AppendIndex(d.path, x[i].index)
			d.add(string(d.path), Added, x[i].show(), "")
		case i >= len(x):
			d.path = jsonpath.AppendIndex(d.path, y[i].index)
			d.add(string(d.path), Missing, "", y[i].show())
		default:
			d.path = jsonpath.AppendIndex(d.path, x[i].index)
			d.value(&x[i], &y[i])
		}
		d.path = d.path[:above]
	}
}

// other compares bodies that are not both JSON.
func (d *differ) other(a, b *view) {
	switch {
	case bytes.Equal(a.Body, b.Body): // but read in two ways
		live, stored := quoteBoth([]byte(a.ContentType), []byte(b.ContentType))
		d.add("content type", Changed, live, stored)
	case a.kind != b.kind:
		d.raw("body", a.Body, b.Body)
	case a.kind == tokenPairs:
		d.pairs("form", appendPairs(nil, string(a.Body), nil), appendPairs(nil, string(b.Body), nil))
	case a.kind == tokenParts:
		_, boundaryA := media(a.ContentType)
		_, boundaryB := media(b.ContentType)
		x, y := split(a.Body, boundaryA), split(b.Body, boundaryB)
		for i := range min(len(x), len(y)) {
			if !d.same(x[i], y[i]) {
				d.raw("body part "+strconv.Itoa(i), x[i], y[i])
			}
		}
		if len(x) != len(y) {
			d.add("body", Changed, strconv.Itoa(len(x))+" parts", strconv.Itoa(len(y))+" parts")
		}
	default:
		d.raw("body", a.Body, b.Body)
	}
}

// raw compares bytes.
func (d *differ) raw(what string, a, b []byte) {
	change := Changed
	if sameWords(a, b) {
		change = Reordered
	}
	live, stored := quoteBoth(a, b)
	d.add(what+" at byte "+strconv.Itoa(commonPrefix(a, b)), change, live, stored)
}
