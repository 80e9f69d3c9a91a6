package match

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/mixtape-go/mixtape/internal/jsonpath"
)

// Hash is a SHA-256.
type Hash [chainLen]byte

const chainLen = sha256.Size

// chainStart is the chain of a message list without messages.
var chainStart = Hash(sha256.Sum256([]byte("mixtape/1 messages")))

// Rules are how requests are compared. The zero Rules compare all.
type Rules struct {
	// Ignore are the full paths of what takes no part in a JSON body.
	Ignore []string
	// MessagesOnly compares, of calls in a known format, the provider, the format, the model, the message list with the
	// system prompt, and whether a stream is asked for. A request without a message list is compared in full.
	MessagesOnly bool
	// Fingerprint appends s with a token in the place of each redaction placeholder that has a fingerprint: 0xFF, the
	// fingerprint, 0xFF. Nil leaves texts alone.
	Fingerprint func(dst, s []byte) []byte
	// WholeFingerprint returns the whole fingerprint of a value, of which a placeholder holds the beginning; that of a
	// number is one of jsonlex.AppendPlainNumber. Only [Matcher.Relaxed] asks; nil has it take no text for a placeholder's.
	WholeFingerprint func(value []byte) string
	// Credential reports whether the parameter of a query holds a credential. Nil is none.
	Credential func(name string) bool
}

// Matcher tells whether requests are the same. It is safe for concurrent use.
type Matcher struct {
	rules    Rules
	ignore   *jsonpath.Set
	encoders sync.Pool
}

// New returns a Matcher with these rules. It fails on an Ignore path that does not parse.
func New(rules Rules) (*Matcher, error) {
	ignore, err := compile("ignored path", rules.Ignore)
	if err != nil {
		return nil, err
	}
	return &Matcher{rules: rules, ignore: ignore, encoders: sync.Pool{New: func() any { return new(encoder) }}}, nil
}

func compile(what string, paths []string) (*jsonpath.Set, error) {
	set, err := jsonpath.NewSet(paths...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return set, nil
}

// Key returns the request's key: two requests are the same exactly when their keys are.
func (m *Matcher) Key(r *Request) Hash {
	e := m.encoder(r, false)
	defer m.release(e)
	return sha256.Sum256(e.dst)
}

// Chain returns the request's key, and appends to chain, for each item of its message list, a hash of the list up to
// and with that item. Two lists that begin with the same n messages have the same first n hashes.
func (m *Matcher) Chain(r *Request, chain []Hash) (Hash, []Hash) {
	e := m.encoder(r, true)
	defer m.release(e)
	return sha256.Sum256(e.dst), append(chain, e.chain...)
}

// encoder returns an encoder that holds the form of a request, until it is released.
func (m *Matcher) encoder(r *Request, chained bool) *encoder {
	e := m.encoders.Get().(*encoder)
	e.chained = chained
	m.encode(e, r, false)
	return e
}

func (m *Matcher) release(e *encoder) {
	e.scan.Reset(nil) // lets go of the body
	m.encoders.Put(e)
}

// encode makes e.dst the form of a request, header first, and returns where its body begins.
func (m *Matcher) encode(e *encoder, r *Request, traced bool) (body int) {
	e.fingerprint = m.rules.Fingerprint
	e.layout = r.Layout
	e.traced = traced
	e.only = m.rules.MessagesOnly && r.Layout != nil
	e.root = place{ignored: m.ignore.Root()}
	if r.Layout != nil {
		e.root.ids = r.Layout.ids.Root()
	}
	for {
		e.dst = e.dst[:0]
		m.header(e, r)
		body = len(e.dst)
		e.body(r)
		if !e.only || e.listed {
			return body
		}
		e.only = false // without a list there is nothing to compare but all of it
	}
}

// header appends what is compared of a request beside its body.
func (m *Matcher) header(e *encoder, r *Request) {
	e.dst = append(e.dst, "mixtape/1 request"...)
	streamed := "plain"
	if r.Streamed {
		streamed = "stream"
	}
	for _, s := range [...]string{r.Kind, r.Provider, r.Format, r.Model, streamed} {
		e.part(s)
	}
	if e.only {
		return
	}
	host, path := r.where()
	for _, s := range [...]string{r.Operation, r.Method, host, path} {
		e.part(s)
	}
	e.query(r.Query, m.rules.Credential)
}
