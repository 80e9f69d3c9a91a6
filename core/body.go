package core

import (
	"bytes"
	"io"
	"net/http"
)

// heldBody is a request body that is held in memory.
type heldBody struct {
	bytes []byte
	r     bytes.Reader
}

func (h *heldBody) Read(p []byte) (int, error) { return h.r.Read(p) }
func (h *heldBody) Close() error               { return nil }

// hold returns a shallow copy of req whose body is held in memory and not read yet, and the body's bytes. It reads and
// closes req's body, unless that is held already. The error is a [*RequestBodyError].
//
// GetBody is not asked, since some SDKs' versions of it rewind the one shared reader, but for a body that was read to
// its end before: there are SDKs that send one again, and net/http mends that so. The length that req announces, and
// its GetBody, are mended: an interceptor may have put another body in and left them standing.
func hold(req *http.Request) (*http.Request, []byte, error) {
	held := req.WithContext(req.Context()) // a RoundTripper must not write to the request that it is given
	if req.Body == nil || req.Body == http.NoBody {
		return held, nil, nil
	}
	var b []byte
	if h, ok := req.Body.(*heldBody); ok {
		b = h.bytes
	} else {
		var err error
		b, err = readAnnounced(req.Body, req.ContentLength)
		if closed := req.Body.Close(); err == nil {
			err = closed
		}
		if err == nil && len(b) == 0 && req.ContentLength > 0 && req.GetBody != nil {
			b, err = readAgain(req.GetBody)
		}
		if err != nil {
			return req, nil, &RequestBodyError{nameOf(req), err}
		}
		if req.GetBody != nil {
			held.GetBody = func() (io.ReadCloser, error) { return inMemory(b), nil }
		}
		if req.ContentLength > 0 {
			held.ContentLength = int64(len(b))
		}
	}
	h := &heldBody{bytes: b}
	h.r.Reset(b)
	held.Body = h
	return held, b, nil
}

// readAnnounced reads a body whose length is announced, as far as that is small, without growing memory on the way.
func readAnnounced(r io.Reader, length int64) ([]byte, error) {
	const most = 1 << 20 // what was announced need not come
	var b bytes.Buffer
	if 0 < length && length <= most {
		b.Grow(int(length) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

func readAgain(getBody func() (io.ReadCloser, error)) ([]byte, error) {
	body, err := getBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// release is hold for what goes to the wire: the body is of a type that net/http knows to be in memory, so that it
// sends head and body together.
func release(req *http.Request) (*http.Request, error) {
	req, b, err := hold(req)
	if b != nil {
		req.Body = inMemory(b)
	}
	return req, err
}

func inMemory(b []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(b)) }
