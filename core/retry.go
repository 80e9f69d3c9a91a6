package core

import (
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/mixtape-go/mixtape/bus"
)

// Marks by which SDKs tie the attempts of one call together.
const (
	stainlessRetryHeader = "X-Stainless-Retry-Count" // 0 for a first attempt
	amzInvocationHeader  = "Amz-Sdk-Invocation-Id"   // the same for all attempts
	amzRequestHeader     = "Amz-Sdk-Request"         // "attempt=2; max=3"
)

// identify finds out which call the request is an attempt of, by marks only: the per-call option's, net/http's own of a
// redirect, the SDK's. Two requests that merely look alike are two calls.
func (s *httpSeam) identify(req *http.Request, body []byte) {
	if s.call = s.via.logical; s.call != nil {
		return
	}
	if s.call = redirected(req); s.call != nil {
		return
	}
	s.mark, s.marked = markOf(s.bus, req, body)
	if s.marked && s.mark.attempt > 0 {
		s.call = retries.take(s.mark.previous())
	}
	if s.call == nil {
		s.call = newLogical()
	}
}

// redirected returns the call whose answer sent an http.Client to req; nil when none did.
func redirected(req *http.Request) *logical {
	if req.Response == nil || req.Response.Request == nil {
		return nil
	}
	if i := InfoFrom(req.Response.Request.Context()); i != nil {
		return i.call
	}
	return nil
}

// retryMark is what tells an attempt: with the next number, the one that follows it.
type retryMark struct {
	bus     weak.Pointer[bus.Bus]
	hash    uint64
	attempt int // 0, 1, …
}

func (m retryMark) previous() retryMark {
	m.attempt--
	return m
}

func markOf(b *bus.Bus, req *http.Request, body []byte) (m retryMark, ok bool) {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	if id := req.Header.Get(amzInvocationHeader); id != "" {
		h.WriteString(id)
		m.attempt = amzAttempt(req.Header.Get(amzRequestHeader)) - 1
	} else if count := req.Header.Get(stainlessRetryHeader); count != "" {
		h.WriteString(req.Method + " " + req.URL.String() + "\n")
		h.Write(body)
		m.attempt, _ = strconv.Atoi(count)
	} else {
		return retryMark{}, false
	}
	m.bus, m.hash, m.attempt = weak.Make(b), h.Sum64(), max(m.attempt, 0)
	return m, true
}

var hashSeed = maphash.MakeSeed()

// amzAttempt returns n of "attempt=n; max=m", 0 when it is not there.
func amzAttempt(header string) int {
	_, rest, _ := strings.Cut(header, "attempt=")
	digits, _, _ := strings.Cut(rest, ";")
	n, _ := strconv.Atoi(strings.TrimSpace(digits))
	return n
}

// retryTable remembers the latest failed attempts.
type retryTable struct {
	mu     sync.Mutex
	recent []retryEntry
}

type retryEntry struct {
	mark retryMark
	call *logical
}

// retryWindow bounds a retryTable: so many attempts may fail between one attempt and the next of its call.
const retryWindow = 1024

var retries retryTable

// put notes that an attempt of call with mark m failed, so that another one may follow.
func (t *retryTable) put(m retryMark, call *logical) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := retryEntry{m, call}
	if i := slices.Index(t.recent, e); i >= 0 { // an interceptor tried twice
		t.recent = slices.Delete(t.recent, i, i+1)
	}
	if len(t.recent) == retryWindow {
		t.recent = slices.Delete(t.recent, 0, 1)
	}
	t.recent = append(t.recent, e)
}

// take returns the call of the latest attempt with mark m, and forgets it: one attempt has one successor. It returns
// nil when there is none.
func (t *retryTable) take(m retryMark) *logical {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, e := range slices.Backward(t.recent) {
		if e.mark == m {
			t.recent = slices.Delete(t.recent, i, i+1)
			return e.call
		}
	}
	return nil
}
