package cassette

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mixtape-go/mixtape/cassette/internal/match"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/redact"
)

// interceptor is the session as it stands in the way of its calls.
type interceptor Session

func (i *interceptor) InterceptHTTP(req *http.Request, next core.RoundTrip) (*http.Response, error) {
	s := (*Session)(i)
	info := core.InfoFrom(req.Context())
	if err := s.refuses(); err != nil {
		info.Final()
		return nil, err
	}
	s.redactor.Credential(redact.CredentialsOf(req)...)
	if s.passes(req) || s.mode == Live {
		s.goesLive()
		return next(req)
	}
	if s.tape == nil {
		s.goesOut(info)
		return next(req)
	}
	at, key, out, err := s.find(liveRequest(req, info), info)
	switch {
	case out:
		return next(req)
	case err != nil:
		info.Final()
		return nil, err
	}
	in := s.file.answered(at)
	if seed := s.settings.recut; seed != nil {
		in.HTTP.Chunks = cutAnywhere(len(in.HTTP.Response.Bytes), *seed, uint64(at))
	}
	if in.failed() {
		info.Final() // what the SDK retried then is in the outcome
	} else {
		s.tape.settled(info.CallID, key)
	}
	if err := req.Context().Err(); err != nil && in.HTTP.Status != 0 {
		return nil, context.Cause(req.Context())
	}
	return in.answer(req)
}

// InterceptTool answers a tool, or what core.Call runs, from the cassette where the mode replays: its body then does not
// run, whether the cassette knows the call or not.
func (i *interceptor) InterceptTool(ctx context.Context, req *core.ToolRequest, next core.ToolRun) (json.RawMessage, error) {
	s := (*Session)(i)
	info := core.InfoFrom(ctx)
	if err := s.refuses(); err != nil {
		return nil, err
	}
	if s.mode == Live {
		s.goesLive()
		return next(ctx, req)
	}
	if s.tape == nil {
		s.goesOut(info)
		return next(ctx, req)
	}
	at, key, out, err := s.find(bareRequest{kind: req.Kind, operation: req.Name, contentType: jsonType, body: req.Arguments}, info)
	switch {
	case out:
		return next(ctx, req)
	case err != nil:
		return nil, err
	}
	s.tape.settled(info.CallID, key)
	return s.file.answered(at).result()
}

// find returns the interaction that answers a call, and the call's key; out says that there is none and the call goes out.
// A call that gets no answer fails the test.
func (s *Session) find(asked bareRequest, info *core.Info) (at int, key match.Hash, out bool, err error) {
	r, err := s.comparer.compared(asked)
	if err != nil {
		err = fmt.Errorf("cassette %s: %w", s.store.path, err)
		s.fail(err)
		return 0, key, false, err
	}
	key = s.comparer.matcher.Key(r)
	at, played, ok := s.tape.take(r, key, info.CallID)
	switch {
	case ok:
		info.Replayed()
		return at, key, false, nil
	case s.mode == Extend:
		s.goesOut(info)
		return 0, key, true, nil
	}
	return 0, key, false, s.miss(r, played)
}

// refuses returns why the session lets no call through: it could not be opened, or it has ended.
func (s *Session) refuses() error {
	if s.broken == nil && s.isClosed() {
		err := fmt.Errorf("cassette: a call was refused: %s", s.ended())
		s.refused(err)
		return err
	}
	return s.broken
}

// passes reports whether the session lets a request's host through.
func (s *Session) passes(req *http.Request) bool {
	return slices.ContainsFunc(s.settings.pass, func(host string) bool {
		return host == strings.ToLower(req.URL.Host) || host == strings.ToLower(req.URL.Hostname())
	})
}

// goesLive notes a call that goes out and is not recorded.
func (s *Session) goesLive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Live++
}

// goesOut notes a call that goes out and is recorded when it has ended.
func (s *Session) goesOut(info *core.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[info.Seq] = true
}

// wentOut reports whether goesOut was told of a call, and forgets it.
func (s *Session) wentOut(seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.out[seq]
	delete(s.out, seq)
	return out
}
