package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/chunks"
)

// errClosedEarly is what a reader gets who reads on where the recording was closed by its reader.
var errClosedEarly = errors.New("the recording ends here: when it was made, the answer was closed at this point")

// errNoAnswer is what a caller gets who waits for an answer that had not come when the recording was closed.
var errNoAnswer = errors.New("the recording has no answer: when it was made, the session closed before one came")

// answer returns what an HTTP interaction came to, as the answer to req.
func (i *Interaction) answer(req *http.Request) (*http.Response, error) {
	h := i.HTTP
	if h.Status == 0 {
		if i.Failure == nil {
			return nil, errNoAnswer
		}
		return nil, i.Failure.err()
	}
	header := h.ResponseHeader.Clone()
	if header == nil {
		header = http.Header{}
	}
	body, end := h.Response.Bytes, i.bodyEnd()
	resp := &http.Response{
		Status: strconv.Itoa(h.Status) + " " + http.StatusText(h.Status), StatusCode: h.Status,
		Header: header, Request: req, ContentLength: -1, Uncompressed: h.Response.Encoding != "",
	}
	resp.Proto = h.Proto
	var ok bool
	if resp.ProtoMajor, resp.ProtoMinor, ok = http.ParseHTTPVersion(h.Proto); !ok {
		resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/1.1", 1, 1
	}
	switch {
	case h.bodiless(req.Method):
		resp.ContentLength = h.announced(req.Method)
	case end == nil && !h.Streamed && !resp.Uncompressed:
		resp.ContentLength = int64(len(body))
		header.Set("Content-Length", strconv.Itoa(len(body)))
	default:
		header.Del("Content-Length")
	}
	if len(body) == 0 && len(h.Trailer) == 0 && end == nil {
		resp.Body = http.NoBody
		return resp, nil
	}
	if len(h.Trailer) > 0 {
		resp.Trailer = make(http.Header, len(h.Trailer))
		for name := range h.Trailer {
			resp.Trailer[name] = nil
		}
	}
	resp.Body = &replayBody{
		ctx: req.Context(), r: chunks.NewReader(body, h.Chunks, end), announced: resp.Trailer, trailer: h.Trailer,
	}
	return resp, nil
}

// bodiless reports whether the answer to method is of a kind that has no body. The headers of such a one tell of the body that it
// stands for.
func (h *HTTPInteraction) bodiless(method string) bool {
	return method == http.MethodHead || h.Status == http.StatusNoContent || h.Status == http.StatusNotModified
}

// announced returns the ContentLength of a bodiless answer, as net/http has it: to HEAD that of the header, if any.
func (h *HTTPInteraction) announced(method string) int64 {
	if method != http.MethodHead {
		return 0
	}
	n, err := strconv.ParseUint(h.ResponseHeader.Get("Content-Length"), 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// failed reports whether an HTTP interaction came to what an SDK may retry.
func (i *Interaction) failed() bool {
	return i.HTTP.Status == 0 || i.HTTP.Status >= 400 || i.bodyEnd() != nil
}

// result returns what a tool or function came to.
func (i *Interaction) result() (json.RawMessage, error) {
	switch {
	case i.Failure != nil:
		return nil, &core.ToolError{Text: i.Failure.Text, Chain: i.Failure.Chain}
	case i.Func.Result == nil:
		return nil, errNoAnswer
	}
	return i.Func.Result, nil
}

// bodyEnd returns the error at the end of an answer's body; nil when it ended as it should.
func (i *Interaction) bodyEnd() error {
	switch {
	case i.Failure != nil:
		return i.Failure.err()
	case i.Ending == bus.EndingClosedEarly, i.Ending == bus.EndingCancelled:
		return errClosedEarly
	}
	return nil
}

// replayBody is a recorded body. It obeys the context of the call, as a body from the wire does, and the values of the
// trailers come at its end.
type replayBody struct {
	ctx                context.Context
	r                  io.Reader
	announced, trailer http.Header // as the client holds it, and as it was recorded
	closed             bool
}

func (b *replayBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.r.Read(p)
	if err == io.EOF {
		for name, values := range b.trailer {
			b.announced[name] = slices.Clone(values)
		}
	}
	return n, err
}

func (b *replayBody) Close() error {
	b.closed = true
	return nil
}
