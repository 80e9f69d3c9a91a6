package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette/internal/match"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
	"github.com/mixtape-go/mixtape/core/wire"
	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// comparer makes requests comparable: it hides what the file hides, applies the user's rules, and computes the key.
// It is safe for concurrent use.
type comparer struct {
	redactor  *redact.Redactor
	matcher   *match.Matcher
	normalize []func(*Request)
	anyModel  bool     // the model is ignored
	layouts   sync.Map // *match.Layout by format
}

func newComparer(s *settings, r *redact.Redactor) (*comparer, error) {
	m, err := match.New(match.Rules{
		Ignore: s.ignore, MessagesOnly: s.messagesOnly,
		Fingerprint: r.AppendFingerprinted, WholeFingerprint: redact.WholeFingerprint, Credential: redact.CredentialQuery,
	})
	if err != nil {
		return nil, fmt.Errorf("Ignore: %w", err)
	}
	ignored, err := jsonpath.NewSet(s.ignore...)
	if err != nil {
		return nil, fmt.Errorf("Ignore: %w", err)
	}
	body := ignored.Root()
	return &comparer{
		redactor: r, matcher: m, normalize: s.normalize,
		anyModel: body.Matched() || body.Member([]byte("model")).Matched(),
	}, nil
}

// liveRequest returns the request of an HTTP call under way.
func liveRequest(req *http.Request, info *core.Info) bareRequest {
	h := bareRequest{
		kind: info.Kind, provider: info.Provider, operation: info.Operation,
		method: req.Method, url: req.URL.String(), contentType: req.Header.Get("Content-Type"), body: info.Body,
	}
	if info.Format != nil {
		h.format = info.Format.Name()
		h.detected = &wire.Detected{Model: info.Model, Streamed: info.Streamed}
	}
	if req.Header.Get("Content-Encoding") != "" { // a file holds bodies with their content encoding undone
		h.body = newBody(req.Header.Clone(), info.Body).Bytes
	}
	return h
}

// requestOf returns the request of an interaction.
func requestOf(i *Interaction) bareRequest {
	if f := i.Func; f != nil {
		return bareRequest{kind: i.Kind, operation: f.Name, contentType: jsonType, body: f.Arguments, numbers: i.hiddenIn(inputName(i.Kind))}
	}
	h := i.HTTP
	return bareRequest{
		kind: i.Kind, provider: i.Provider, format: i.Format, operation: i.Operation,
		method: h.Method, url: h.URL, contentType: h.RequestHeader.Get("Content-Type"), body: h.Request.Bytes,
		numbers: i.hiddenIn(requestName),
	}
}

// bareRequest is a live or a recorded request before anything in it is hidden.
type bareRequest struct {
	kind                        bus.Kind
	provider, format, operation string
	method, url, contentType    string
	body                        []byte
	numbers                     []string       // places of those in body that are hidden
	detected                    *wire.Detected // what url and body say about themselves; nil when that is not known
}

// compared returns a request as it is compared.
func (c *comparer) compared(h bareRequest) (*match.Request, error) {
	m := redact.Message{ContentType: h.contentType, Body: h.body, Numbers: h.numbers, ShowNumbers: true}
	c.redactor.Message(&m)
	m.Body = extractBlobs(m.Body, func(string, []byte) {}) // as a file does
	if h.kind == bus.KindTool || h.kind == bus.KindFunc {
		r := &match.Request{Kind: string(h.kind), Operation: h.operation, Body: m.Body}
		return r, c.apply(r)
	}
	hidden := c.redactor.URL(h.url)
	u, err := url.Parse(hidden)
	if err != nil {
		return nil, fmt.Errorf("the URL of a request cannot be read: %s", brief(hidden))
	}
	r := &match.Request{
		Kind: string(h.kind), Provider: h.provider, Format: h.format, Operation: h.operation,
		Method: h.method, Host: u.Host, Path: u.EscapedPath(), Query: u.RawQuery,
		ContentType: h.contentType, Body: m.Body,
	}
	if h.format != "" {
		// What was detected before something was hidden may hold what is hidden now.
		if d := h.detected; d != nil && hidden == h.url && isSame(r.Body, h.body) {
			r.Model, r.Streamed = d.Model, d.Streamed
		} else if d, ok := wire.Detect(h.method, u, r.Body); ok {
			r.Model, r.Streamed = d.Model, d.Streamed
		}
	}
	if r.Layout, err = c.layout(h.format); err != nil {
		return nil, err
	}
	if err := c.apply(r); err != nil {
		return nil, err
	}
	if h.format != "" && len(c.normalize) > 0 {
		detectAgain(r, u)
	}
	if c.anyModel {
		r.Model = ""
	}
	return r, nil
}

// detectAgain finds out what a request says about itself once normalisers have changed it. Where they left nothing that
// says so, it stands.
func detectAgain(r *match.Request, u *url.URL) {
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		return
	}
	u.Path, u.RawPath = path, r.Path
	if d, ok := wire.Detect(r.Method, u, r.Body); ok {
		r.Model, r.Streamed = d.Model, d.Streamed
	}
}

// isSame reports whether a and b are the same bytes in memory.
func isSame(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// hidden returns r with all that the redactor knows of hidden, for a message.
func (c *comparer) hidden(r *match.Request) *match.Request {
	h := *r
	hide := func(by *redact.Redactor) {
		h.Operation, h.Model = by.String(h.Operation), by.String(h.Model)
		h.Host, h.Path = by.String(h.Host), by.URL(h.Path)
		h.Query = strings.TrimPrefix(by.URL("?"+h.Query), "?")
		h.Body = by.Body(h.ContentType, h.Body)
		if !utf8.Valid(h.Body) { // bytes that are no text stay as they are, but in a message
			h.Body = by.Bytes(h.Body)
		}
	}
	hide(c.redactor)
	if learned := c.redactor.Learned(); learned != nil {
		hide(learned)
	}
	return &h
}

// layout returns where a format's bodies keep what matching treats specially; nil for a format that is not known.
func (c *comparer) layout(format string) (*match.Layout, error) {
	if l, ok := c.layouts.Load(format); ok {
		return l.(*match.Layout), nil
	}
	f, ok := wire.ByName(format)
	if !ok {
		return nil, nil
	}
	l, err := match.NewLayout(f.Layout().Messages, f.Layout().IDs...)
	if err != nil {
		return nil, err
	}
	c.layouts.Store(format, l)
	return l, nil
}

// needsAll reports whether an outline's request, whose message list may go on from another's, does not tell how the whole
// request is compared.
func (c *comparer) needsAll(r bareRequest, goesOn bool) bool {
	if len(c.normalize) > 0 { // which see a body as it was
		return true
	}
	if !goesOn {
		return false
	}
	layout, err := c.layout(r.format)
	return err != nil || !layout.Continues() || c.redactor.HasPaths() || len(r.numbers) > 0
}

var errNormalize = errors.New("the function given to Normalize panicked")

// apply lets the user's normalisers change what is compared of r.
func (c *comparer) apply(r *match.Request) (err error) {
	if len(c.normalize) == 0 {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w on %s: %s", errNormalize, c.redactor.String(describe(r)), c.redactor.String(printable(fmt.Sprint(v))))
		}
	}()
	n := &Request{Provider: r.Provider, Operation: r.Operation, Method: r.Method, Path: r.Path, Body: bytes.Clone(r.Body)}
	for _, fn := range c.normalize {
		fn(n)
	}
	r.Provider, r.Operation, r.Method, r.Path, r.Body = n.Provider, n.Operation, n.Method, n.Path, n.Body
	return nil
}

// describe names a request in messages; it hides nothing.
func describe(r *match.Request) string {
	const most = 300 // bytes: a URL may be of any length
	name := nameOf(r)
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return printable(name)
}

func nameOf(r *match.Request) string {
	switch bus.Kind(r.Kind) {
	case bus.KindTool:
		return "tool " + r.Operation
	case bus.KindFunc:
		return "call " + r.Operation
	case bus.KindLLM:
		s := r.Provider + " " + r.Operation
		if r.Model != "" {
			s += " with model " + r.Model
		}
		return s
	}
	return r.Method + " " + r.Host + r.Path
}
