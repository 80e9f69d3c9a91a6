package match

import (
	"bytes"
	"encoding/binary"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// body appends the form of a request's body: that of its JSON, of the parts of a multipart body, of the fields of a
// posted form, else its exact bytes.
func (e *encoder) body(r *Request) {
	if e.json(r.Body) {
		return
	}
	if len(r.Body) == 0 {
		e.opaque(nil)
		return
	}
	switch form, boundary := media(r.ContentType); {
	case boundary != "":
		e.dst = append(e.dst, tokenParts)
		for _, part := range split(r.Body, boundary) {
			e.opaque(part)
		}
		e.dst = append(e.dst, endArray)
	case form:
		e.query(string(r.Body), nil)
	default:
		e.opaque(r.Body)
	}
}

// media reports whether a content type is that of a posted form, and the boundary of a multipart type.
func media(contentType string) (form bool, boundary string) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err == nil && strings.HasPrefix(kind, "multipart/") {
		boundary = params["boundary"]
	}
	return kind == "application/x-www-form-urlencoded", boundary
}

// split returns what stands between the boundaries of a multipart body. The boundaries take no part: clients make them
// up anew for each request.
func split(body []byte, boundary string) [][]byte {
	return bytes.Split(body, []byte("--"+boundary))
}

// opaque appends bytes whose inside is not known.
func (e *encoder) opaque(b []byte) {
	if utf8.Valid(b) {
		e.sized(tokenText, b)
		return
	}
	e.dst = binary.AppendUvarint(append(e.dst, tokenBytes), uint64(len(b)))
	e.dst = append(e.dst, b...)
}

// part appends the form of a part of a request that is a string.
func (e *encoder) part(s string) {
	e.text = append(e.text[:0], s...)
	e.opaque(e.text)
}

// pair is a parameter of a query or a field of a form. raw says that it is escaped wrongly, and stands in name as it is.
type pair struct {
	name, value string
	raw         bool
}

// query appends the pairs of a query or a posted form, sorted by name; those of one name keep their order. drop, when
// not nil, tells the names to leave out.
func (e *encoder) query(query string, drop func(name string) bool) {
	e.pairs = appendPairs(e.pairs[:0], query, drop)
	e.dst = append(e.dst, tokenPairs)
	for _, p := range e.pairs {
		e.part(p.name)
		if p.raw {
			e.dst = append(e.dst, tokenNull)
		} else {
			e.part(p.value)
		}
	}
	e.dst = append(e.dst, endObject)
}

func appendPairs(pairs []pair, query string, drop func(name string) bool) []pair {
	for piece := range strings.SplitSeq(query, "&") {
		if piece == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(piece, "=")
		name, err := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		p := pair{name: name, value: value}
		if err != nil || err2 != nil {
			p, name = pair{name: piece, raw: true}, rawName
		}
		if drop == nil || !drop(name) {
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	return pairs
}
