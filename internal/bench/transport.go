package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// memory is the base that everything is compared with: it reads a request and answers it from memory, in the order of
// its exchanges and again from the first.
type memory struct {
	list []exchange
	next int
}

func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	x := m.list[m.next]
	if m.next++; m.next == len(m.list) {
		m.next = 0
	}
	resp := &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {x.contentType}}, Request: req, ContentLength: -1,
	}
	if x.contentType == typeStream {
		resp.Body = &eventReader{left: x.answer}
		return resp, nil
	}
	resp.ContentLength = int64(len(x.answer))
	resp.Header["Content-Length"] = []string{strconv.Itoa(len(x.answer))}
	resp.Body = io.NopCloser(bytes.NewReader(x.answer))
	return resp, nil
}

// eventReader gives a stream an event at a time, as it comes from a model.
type eventReader struct{ left []byte }

func (r *eventReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := len(r.left)
	if end := bytes.Index(r.left, []byte("\n\n")); end >= 0 {
		n = end + 2
	}
	n = copy(p, r.left[:n])
	r.left = r.left[n:]
	return n, nil
}

func (r *eventReader) Close() error { return nil }

// unreachable is the network of a replay: nothing may get there.
type unreachable struct{}

func (unreachable) RoundTrip(req *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s %s went out", req.Method, req.URL)
}

// caller asks a transport and reads what it answers, with nothing around it that costs.
type caller struct {
	transport http.RoundTripper
	template  *http.Request
	answer    bytes.Buffer
}

func newCaller(rt http.RoundTripper) (*caller, error) {
	req, err := http.NewRequest(http.MethodPost, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", typeJSON)
	return &caller{transport: rt, template: req}, nil
}

// call makes the request of x and compares the answer with that of x.
func (c *caller) call(x exchange) error {
	req := c.template.WithContext(context.Background())
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(x.request)), int64(len(x.request))
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	c.answer.Reset()
	_, err = c.answer.ReadFrom(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Equal(c.answer.Bytes(), x.answer) {
		return fmt.Errorf("the answer, %s, is not the one that was recorded:\n%.200q\n%.200q", resp.Status, c.answer.Bytes(), x.answer)
	}
	return nil
}
