package cassette

import (
	"fmt"
	"strings"
	"sync"

	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
	"github.com/mixtape-go/mixtape/core/wire"
)

// hider puts placeholders in the place of secrets in all that a session writes and says. It is safe for concurrent use.
type hider struct {
	*redact.Redactor
	deltas sync.Map // *redact.Deltas by format
}

// text hides the secrets of a message, those too that were hidden somewhere else.
func (h *hider) text(s string) string {
	s = h.String(s)
	if learned := h.Learned(); learned != nil {
		s = learned.String(s)
	}
	return s
}

// hideAll hides in all interactions what is a secret in one of them. It writes to the interactions only: the bytes that
// they were made from, which the program may still hold, stay as they are. It returns which of them had to be broken.
func (h *hider) hideAll(list []*Interaction) (broken []error) {
	pass := func(r *redact.Redactor) {
		for i, in := range list {
			if name := h.hide(r, in); name != "" {
				broken = append(broken, fmt.Errorf("interaction %d: its %s is no text, and holds a value that is hidden: it was overwritten there, so the bytes are no longer what they were; keep the value out of it, or the call out of the recording (cassette.Pass, cassette.Unrecorded)", i+1, name))
			}
		}
	}
	pass(h.Redactor)
	if learned := h.Learned(); learned != nil {
		pass(learned)
	}
	return broken
}

// hide hides what r hides in all that an interaction shows. It returns the name of a body that is no text and was broken.
func (h *hider) hide(r *redact.Redactor, in *Interaction) (broken string) {
	hideBody := func(name string, m redact.Message) []byte {
		m.Numbers = in.hiddenIn(name)
		known := len(m.Numbers)
		r.Message(&m)
		for _, place := range m.Numbers[known:] {
			in.Hidden = append(in.Hidden, name+" "+place)
		}
		if m.Masked {
			broken = name
		}
		return m.Body
	}
	in.Model = r.String(in.Model)
	if f := in.Failure; f != nil {
		chain := make([]core.ErrorLink, len(f.Chain))
		for i, l := range f.Chain {
			chain[i] = core.ErrorLink{Type: l.Type, Text: r.String(l.Text)}
		}
		in.Failure = &Failure{Text: r.String(f.Text), TimedOut: f.TimedOut, Chain: chain, unknown: f.unknown}
	}
	if f := in.Func; f != nil {
		f.Arguments = hideBody(inputName(in.Kind), redact.Message{ContentType: jsonType, Body: f.Arguments})
		f.Result = hideBody(resultName, redact.Message{ContentType: jsonType, Body: f.Result})
		return broken
	}
	x := in.HTTP
	x.URL = r.URL(x.URL)
	x.Request.Bytes = hideBody(requestName, redact.Message{ContentType: x.RequestHeader.Get("Content-Type"), Body: x.Request.Bytes})
	live := x.Response.Bytes
	x.Response.Bytes = hideBody(responseName, redact.Message{
		ContentType: x.ResponseHeader.Get("Content-Type"), Body: live, Deltas: h.deltasOf(in.Format),
	})
	if len(x.Chunks) > 0 {
		x.Chunks = remapChunks(x.Chunks, live, x.Response.Bytes)
	}
	x.RequestHeader, x.ResponseHeader, x.Trailer = r.Header(x.RequestHeader), r.Header(x.ResponseHeader), r.Header(x.Trailer)
	return broken
}

// jsonType is the content type of what tools and functions take and return.
const jsonType = "application/json"

// The bodies of an interaction, as the places in [Interaction.Hidden] name them; inputName is another.
const (
	requestName  = "request"
	responseName = "response"
	resultName   = "result"
)

// hiddenIn returns the places of the numbers that are hidden in a body of the interaction.
func (i *Interaction) hiddenIn(name string) (places []string) {
	for _, hidden := range i.Hidden {
		if place, ok := strings.CutPrefix(hidden, name+" "); ok {
			places = append(places, place)
		}
	}
	return places
}

// deltasOf returns where the events of a format's streams hold pieces of texts; nil for a format that is not known.
func (h *hider) deltasOf(format string) *redact.Deltas {
	if d, ok := h.deltas.Load(format); ok {
		return d.(*redact.Deltas)
	}
	var d *redact.Deltas
	if f, ok := wire.ByName(format); ok {
		var err error
		if d, err = redact.NewDeltas(f.Layout().Deltas...); err != nil {
			d = nil // unreachable: a test compiles the paths of every format
		}
	}
	h.deltas.Store(format, d)
	return d
}
