package cassette

import (
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// hide puts placeholders in the place of what r hides, in all that an interaction shows. It writes to in only: the
// bytes that in was made from, which the program may still hold, stay as they are.
func hide(r *redact.Redactor, in *Interaction) {
	in.Model = r.String(in.Model)
	if f := in.Failure; f != nil {
		chain := make([]core.ErrorLink, len(f.Chain))
		for i, l := range f.Chain {
			chain[i] = core.ErrorLink{Type: l.Type, Text: r.String(l.Text)}
		}
		in.Failure = &Failure{Text: r.String(f.Text), TimedOut: f.TimedOut, Chain: chain}
	}
	if f := in.Func; f != nil {
		f.Arguments, f.Result = r.JSON(f.Arguments), r.JSON(f.Result)
		return
	}
	h := in.HTTP
	h.URL = r.URL(h.URL)
	h.Request.Bytes = r.Body(h.RequestHeader.Get("Content-Type"), h.Request.Bytes)
	live := h.Response.Bytes
	h.Response.Bytes = r.Body(h.ResponseHeader.Get("Content-Type"), live)
	if len(h.Chunks) > 0 {
		h.Chunks = remapChunks(h.Chunks, live, h.Response.Bytes)
	}
	h.RequestHeader, h.ResponseHeader, h.Trailer = r.Header(h.RequestHeader), r.Header(h.ResponseHeader), r.Header(h.Trailer)
}

// know tells the redactor which placeholders stand in an interaction, so that live values take the same.
func (s *Session) know(in *Interaction) {
	texts := [][]byte{}
	if in.Func != nil {
		texts = append(texts, in.Func.Arguments, in.Func.Result)
	}
	if h := in.HTTP; h != nil {
		texts = append(texts, []byte(h.URL), h.Request.Bytes, h.Response.Bytes)
	}
	for _, t := range texts {
		for fp := range redact.Placeholders(string(t)) {
			s.redactor.Known(fp)
		}
	}
}
