package core

import (
	"io"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/chunks"
)

// teeBody is an answer's body as the client holds it. Nothing that an attempt points at points at its teeBody, so that
// the collector finds one that was let go of.
type teeBody struct {
	attempt *attempt
	resp    *http.Response // that the client holds
}

// Read is not under the attempt's lock while it waits: another goroutine may close the body to end it.
func (b *teeBody) Read(p []byte) (int, error) {
	upstream := b.attempt.upstream
	n, err := upstream.Body.Read(p)
	b.attempt.observe(p[:n])
	if err == io.EOF {
		b.attempt.trailer(upstream.Trailer)
		b.resp.Trailer = upstream.Trailer // which net/http may have made only now
	}
	if err != nil {
		ended := b.attempt.timedOut(err)
		b.attempt.finish(func() (bus.Ending, error) { return b.attempt.endingOfRead(ended) })
	}
	runtime.KeepAlive(b) // or the collector may take a body to be abandoned that is being read
	return n, err
}

func (b *teeBody) Close() error {
	b.attempt.finish(b.attempt.endingOfClose)
	return b.attempt.upstream.Body.Close()
}

// observe notes what one read gave.
func (a *attempt) observe(p []byte) {
	if len(p) == 0 {
		return
	}
	at := time.Since(a.start)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	x := &a.exchange
	if len(x.Chunks) == 0 {
		a.firstByte = at
	}
	x.Response = append(doubled(x.Response, len(p)), p...)
	x.Chunks = append(doubled(x.Chunks, 1), bus.Chunk{At: at, Len: len(p)})
}

// doubled returns s with room for n more. It doubles the room, where append adds a quarter to a long slice: a stream is
// a long slice that grows by little.
func doubled[E any](s []E, n int) []E {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, len(s), 32))
}

// trailer notes what followed the body.
func (a *attempt) trailer(t http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.exchange.Trailer = t.Clone()
}

// readAll reads the body of an error status at once, since some SDKs drop it unread, and returns a body that gives the
// same bytes in the same reads, and the same error at their end.
func readAll(body *teeBody) io.ReadCloser {
	defer body.Close()
	var data []byte
	var reads []bus.Chunk
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		data, reads = append(data, buf[:n]...), append(reads, bus.Chunk{Len: n})
		if err != nil {
			return io.NopCloser(chunks.NewReader(data, reads, err))
		}
	}
}
