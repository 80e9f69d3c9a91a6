package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
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
	header.Del("Content-Length")
	body := h.Response.Bytes
	resp := &http.Response{
		Status: strconv.Itoa(h.Status) + " " + http.StatusText(h.Status), StatusCode: h.Status,
		Header: header, Trailer: h.Trailer.Clone(), Request: req, ContentLength: -1,
		Uncompressed: h.Response.Encoding != "",
	}
	resp.Proto = h.Proto
	var ok bool
	if resp.ProtoMajor, resp.ProtoMinor, ok = http.ParseHTTPVersion(h.Proto); !ok {
		resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/1.1", 1, 1
	}
	end := i.bodyEnd()
	if len(body) == 0 && end == nil {
		resp.ContentLength, resp.Body = 0, http.NoBody
		return resp, nil
	}
	if !h.Streamed && end == nil {
		resp.ContentLength = int64(len(body))
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	resp.Body = &replayBody{ctx: req.Context(), r: chunks.NewReader(body, h.Chunks, end)}
	return resp, nil
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

// replayBody is a recorded body. It obeys the context of the call, as a body from the wire does.
type replayBody struct {
	ctx    context.Context
	r      io.Reader
	closed bool
}

func (b *replayBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.r.Read(p)
}

func (b *replayBody) Close() error {
	b.closed = true
	return nil
}
