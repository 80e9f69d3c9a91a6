package cassette

import (
	"bytes"
	"slices"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/wire"
)

// Drift is one difference between a recording and a [Verify] run.
type Drift struct {
	// Call names the call.
	Call string
	// Recorded is what the file holds; nil for a call that it does not know.
	Recorded *Interaction
	// Live is what the run saw, redacted as a file would be; nil for a recorded call that was not made.
	Live *Interaction
}

// Drift compares the calls of a [Verify] session so far with the file: calls whose outcome differs, that the file does
// not know, and that were recorded and not made, in the order of their starts. Times, headers and the cuts of streams
// take no part; of an answer in a known format the text and the tool calls do, of any other the bytes. In another mode
// it returns nothing.
func (s *Session) Drift() ([]Drift, error) {
	if s.mode != Verify {
		return nil, nil
	}
	recorded, err := newTape(s.file, s.file.outlines(), s.comparer, false)
	if err != nil {
		return nil, err
	}
	var drifts []Drift
	calls := s.recorder.recorded()
	for i, c := range calls {
		if retried(calls[i+1:], c) {
			continue
		}
		live := c.in.copy()
		s.redactor.hideAll([]*Interaction{live})
		r, err := s.comparer.compared(requestOf(live))
		if err != nil {
			return nil, err
		}
		d := Drift{Call: describe(r), Live: live}
		if i, _, ok := recorded.take(r, s.comparer.matcher.Key(r), c.callID); ok {
			d.Recorded = s.file.Interaction(i)
			if sameOutcome(d.Recorded, live) {
				continue
			}
		}
		drifts = append(drifts, d)
	}
	for _, i := range recorded.unused() {
		drifts = append(drifts, Drift{Call: describe(recorded.outlines[i]), Recorded: s.file.Interaction(i)})
	}
	return drifts, nil
}

// retried reports whether a later attempt of c's call stands for it.
func retried(later []recording, c recording) bool {
	return slices.ContainsFunc(later, func(l recording) bool { return l.callID == c.callID })
}

// sameOutcome reports whether two interactions came to the same.
func sameOutcome(a, b *Interaction) bool {
	if (a.Failure == nil) != (b.Failure == nil) || a.Failure != nil && a.Failure.Text != b.Failure.Text {
		return false
	}
	if a.Func != nil {
		return bytes.Equal(a.Func.Result, b.Func.Result)
	}
	x, y := a.HTTP, b.HTTP
	if x.Status != y.Status {
		return false
	}
	f, ok := wire.ByName(a.Format)
	if !ok || x.Status >= 400 {
		return bytes.Equal(x.Response.Bytes, y.Response.Bytes)
	}
	m, _ := f.DecodeResponse(x.Response.Bytes, x.Status, x.Streamed)
	n, _ := f.DecodeResponse(y.Response.Bytes, y.Status, y.Streamed)
	return slices.EqualFunc(m.Messages, n.Messages, sameMessage)
}

// sameMessage reports whether two messages say the same and ask for the same tools.
func sameMessage(a, b bus.Message) bool {
	calls := func(m bus.Message) (list []bus.ToolCallPart) {
		for _, p := range m.Parts {
			if c, ok := p.(bus.ToolCallPart); ok {
				list = append(list, c)
			}
		}
		return list
	}
	return a.Text() == b.Text() && slices.EqualFunc(calls(a), calls(b), func(x, y bus.ToolCallPart) bool {
		return x.Name == y.Name && bytes.Equal(x.Arguments, y.Arguments)
	})
}

// copy returns a copy whose fields may be set without changing i.
func (i *Interaction) copy() *Interaction {
	c := *i
	if i.HTTP != nil {
		h := *i.HTTP
		c.HTTP = &h
	}
	if i.Func != nil {
		f := *i.Func
		c.Func = &f
	}
	return &c
}
