package cassette

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/mixtape-go/mixtape/core/redact"
)

// Exposed returns the places in the file that show what the built-in rules or these would hide, as a recording hides:
// with streams put together, and with what one place gives away looked for in all. It is for a test that keeps secrets
// out of a repository. Ambient credentials are known to the process that records only, and are not looked for. The error
// is of a rule that is wrong.
func (f *File) Exposed(rules ...redact.Rule) (places []string, err error) {
	r, err := redact.New(append(redact.Default(), rules...)...)
	if err != nil {
		return nil, err
	}
	r.Names(f.Rules...)
	var shown, hidden []*Interaction
	for _, in := range f.Interactions() {
		shown = append(shown, in)
		hidden = append(hidden, in.copy())
	}
	h := &hider{Redactor: r}
	h.hideAll(hidden)
	for i, in := range shown {
		for _, part := range in.differences(hidden[i]) {
			places = append(places, fmt.Sprintf("interaction %d: %s", i+1, part))
		}
	}
	return places, nil
}

// differences names the parts of two interactions that differ, of those that redaction changes.
func (i *Interaction) differences(o *Interaction) (parts []string) {
	note := func(name string, same bool) {
		if !same {
			parts = append(parts, name)
		}
	}
	note("model", i.Model == o.Model)
	if a, b := i.Failure, o.Failure; a != nil {
		note("failure", a.Text == b.Text && slices.Equal(a.Chain, b.Chain))
	}
	if a, b := i.Func, o.Func; a != nil {
		note(inputName(i.Kind), bytes.Equal(a.Arguments, b.Arguments))
		note(resultName, bytes.Equal(a.Result, b.Result))
		return parts
	}
	a, b := i.HTTP, o.HTTP
	same := func(a, b http.Header) bool { return maps.EqualFunc(a, b, slices.Equal[[]string]) }
	note("URL", a.URL == b.URL)
	note("headers of the request", same(a.RequestHeader, b.RequestHeader))
	note(requestName, bytes.Equal(a.Request.Bytes, b.Request.Bytes))
	note("headers of the response", same(a.ResponseHeader, b.ResponseHeader))
	note(responseName, bytes.Equal(a.Response.Bytes, b.Response.Bytes))
	if len(a.Trailer) > 0 {
		note("trailers", same(a.Trailer, b.Trailer))
	}
	return parts
}
