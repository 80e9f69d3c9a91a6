package cassette

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/core/wire"
	"github.com/mixtape-go/mixtape/internal/contentcoding"
)

// recorderName says in a file who wrote it.
const recorderName = "mixtape"

// recorder subscribes to a session's bus and keeps what it hears, as it was live, until it is saved.
type recorder struct {
	session *Session
	start   time.Time

	mu    sync.Mutex
	calls []recording
}

// recording is one attempt that was heard. What it comes to is worked out when it is saved: a call does not wait for
// its recording.
type recording struct {
	seq            uint64
	callID, parent string
	make           func() *Interaction
	in             *Interaction // what make returned
	llm            *bus.LLMCall // nil for other kinds
	lossy          error        // why it cannot be replayed truly
}

func newRecorder(s *Session) *recorder { return &recorder{session: s, start: time.Now()} }

func (r *recorder) subscribe(b *bus.Bus) (stop []func()) {
	return []func(){
		bus.Subscribe(b, r.llm), bus.Subscribe(b, r.http), bus.Subscribe(b, r.tool), bus.Subscribe(b, r.function),
	}
}

func (r *recorder) llm(c *bus.LLMCall) {
	if !r.sendable(c.Err) || !r.session.wentOut(c.Seq) {
		return
	}
	r.keep(recording{seq: c.Seq, callID: c.CallID, parent: c.Parent, llm: c, make: func() *Interaction {
		return &Interaction{
			Kind: bus.KindLLM, Provider: c.Provider, Format: c.Format, Operation: c.Operation, Model: c.Model,
			Attempt: c.Attempt, Start: c.Start.Sub(r.start), Duration: c.Duration, Ending: c.Ending, Failure: newFailure(c.Err),
			HTTP: newHTTPInteraction(&c.Exchange, c.Status, c.Streamed),
		}
	}})
}

func (r *recorder) http(c *bus.HTTPCall) {
	if !r.sendable(c.Err) || !r.session.wentOut(c.Seq) {
		return
	}
	r.keep(recording{seq: c.Seq, callID: c.CallID, parent: c.Parent, make: func() *Interaction {
		return &Interaction{
			Kind: bus.KindHTTP, Attempt: c.Attempt,
			Start: c.Start.Sub(r.start), Duration: c.Duration, Ending: c.Ending, Failure: newFailure(c.Err),
			HTTP: newHTTPInteraction(&c.Exchange, c.Status, wire.IsStream(c.Exchange.ResponseHeader)),
		}
	}})
}

func (r *recorder) tool(c *bus.ToolCall) {
	if !r.session.wentOut(c.Seq) {
		return
	}
	r.keep(recording{seq: c.Seq, callID: c.CallID, parent: c.Parent, lossy: c.Lossy, make: func() *Interaction {
		return &Interaction{
			Kind:  bus.KindTool,
			Start: c.Start.Sub(r.start), Duration: c.Duration, Ending: c.Ending, Failure: newFailure(c.Err),
			Func: &FuncInteraction{Name: c.Name, ID: c.ID, Arguments: c.Arguments, Result: c.Result},
		}
	}})
}

func (r *recorder) function(c *bus.FuncCall) {
	if !r.session.wentOut(c.Seq) {
		return
	}
	r.keep(recording{seq: c.Seq, callID: c.CallID, parent: c.Parent, lossy: c.Lossy, make: func() *Interaction {
		return &Interaction{
			Kind:  bus.KindFunc,
			Start: c.Start.Sub(r.start), Duration: c.Duration, Ending: c.Ending, Failure: newFailure(c.Err),
			Func: &FuncInteraction{Name: c.Name, Arguments: c.Request, Result: c.Result},
		}
	}})
}

// sendable reports whether a call got as far as having a request; one that did not fails the recording.
func (r *recorder) sendable(err error) bool {
	var unread *core.RequestBodyError
	if errors.As(err, &unread) {
		r.session.fail(fmt.Errorf("cassette %s: not recorded: %w", r.session.store.path, err))
		return false
	}
	return true
}

func (r *recorder) keep(c recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls)
}

// recorded returns what was heard, in the order of starts, with retries tied to the attempts before them, and what tools
// did to the tools.
func (r *recorder) recorded() []recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.calls {
		if c := &r.calls[i]; c.in == nil {
			c.in, c.make = c.make(), nil
		}
	}
	calls := slices.Clone(r.calls)
	slices.SortFunc(calls, func(a, b recording) int { return cmp.Compare(a.seq, b.seq) })
	last := map[string]int{}
	for i := range calls {
		c := &calls[i]
		in := *c.in // another reader may have the same
		c.in = &in
		before, ok := last[c.callID]
		if ok && c.in.Attempt > 0 {
			c.in.Back = i - before
		} else {
			c.in.Attempt = 0
		}
		if around, ok := last[c.parent]; ok {
			c.in.Within = i - around
		}
		last[c.callID] = i
	}
	return calls
}

// newHTTPInteraction returns the HTTP side of a call, content encodings undone where they are known.
func newHTTPInteraction(x *bus.Exchange, status int, streamed bool) *HTTPInteraction {
	h := &HTTPInteraction{
		Method: x.Method, URL: withoutLoopbackPort(x.URL), RequestHeader: x.RequestHeader.Clone(),
		Status: status, Proto: x.Proto, ResponseHeader: x.ResponseHeader.Clone(), Trailer: x.Trailer.Clone(),
		Streamed: streamed, Chunks: x.Chunks,
	}
	h.RequestHeader.Del("Content-Length")
	if !h.bodiless(h.Method) {
		h.ResponseHeader.Del("Content-Length")
	}
	h.Request = newBody(h.RequestHeader, x.Request)
	h.Response = newBody(h.ResponseHeader, x.Response)
	if h.Response.Encoding != "" {
		h.Chunks = nil // they cut the encoded bytes
	}
	if x.Uncompressed {
		h.Response.Encoding = "gzip"
	}
	return h
}

// withoutLoopbackPort takes the port out of the URL of a server on this machine: it is another one in each run, and
// takes no part in matching.
func withoutLoopbackPort(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Port() == "" || !isLoopback(u) {
		return raw
	}
	u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	return u.String()
}

// newBody undoes a body's content encoding and takes it out of the header. A body that it cannot decode stays as it is,
// and so does an empty one, whose header may tell of the body that it stands for.
func newBody(header http.Header, wire []byte) Body {
	decoded, encoding, err := contentcoding.Decode(header, wire)
	if err != nil || encoding == "" || len(wire) == 0 {
		return Body{Bytes: wire}
	}
	header.Del("Content-Encoding")
	return Body{Bytes: decoded, Encoding: encoding, WireLength: len(wire)}
}

// save writes what was recorded: over the old file when the run was good, beside it when it failed. It returns what the
// test has to know.
func (r *recorder) save(failed bool) []error {
	s := r.session
	calls := r.recorded()
	if len(calls) == 0 {
		if s.t != nil && s.loaded == nil && s.Report().Refused == 0 {
			s.t.Logf("cassette %s: nothing was recorded, so nothing is written: no call passed an instrumented client (core.Instrument) or tool (core.Tool)", s.store.path)
		}
		return nil
	}
	problems := r.untrue(calls)
	f, broken := r.file(calls)
	problems = append(problems, broken...)
	failed = failed || len(problems) > 0
	if status := lastStatus(calls); !failed && !s.settings.allowErrors && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		failed = true
		problems = append(problems, fmt.Errorf("cassette %s: the last call was answered with status %d, so this is no good recording; mend the key, or keep such a recording with cassette.AllowErrors()", s.store.path, status))
	}
	data, beside := f.encodeApart(s.store.name)
	if failed {
		name, err := s.store.saveFailed(data, beside)
		if err != nil {
			return append(problems, err)
		}
		kept := "is left as it was"
		if s.loaded == nil {
			kept = "is not written"
		}
		return append(problems, s.tell(fmt.Sprintf("cassette %s %s, since the run failed; what was recorded is in %s", s.store.path, kept, name))...)
	}
	if s.t != nil {
		passes.note(s.store.key(), s.name)
	}
	if s.mode == Record && s.file != nil && equalButForTimes(s.file, f) {
		return problems
	}
	if err := s.store.save(data, beside, s.loaded); err != nil {
		return append(problems, err)
	}
	if s.t != nil {
		s.t.Logf("cassette %s: recorded %d interactions", s.store.path, len(calls))
	}
	return problems
}

// untrue returns why the recording cannot be replayed truly: values of tools and functions that JSON does not hold. What
// is inside of another tool or function does not matter, since nobody asks for it in a replay.
func (r *recorder) untrue(calls []recording) (problems []error) {
	for _, c := range calls {
		if c.lossy != nil && c.in.Within == 0 {
			problems = append(problems, fmt.Errorf("cassette %s: cannot be replayed truly: %w; let it take and return values that JSON can hold", r.session.store.path, c.lossy))
		}
	}
	return problems
}

// tell logs a message through the test; a session without one returns it as an error.
func (s *Session) tell(message string) []error {
	if s.t == nil {
		return []error{errors.New(message)}
	}
	s.t.Logf("%s", message)
	return nil
}

// lastStatus returns the HTTP status of the last call that has one.
func lastStatus(calls []recording) int {
	for _, c := range slices.Backward(calls) {
		if c.in.HTTP != nil {
			return c.in.HTTP.Status
		}
	}
	return 0
}

// file returns the file to be written: what was recorded, hidden, after what stays of the old file. It returns too which
// interactions had to be broken for it.
func (r *recorder) file(calls []recording) (f *File, broken []error) {
	s := r.session
	f = &File{}
	var all []*Interaction
	if s.mode == Extend && s.file != nil {
		old := *s.file // a call under way may still be answered from it
		old.entries = nil
		f = &old
		for _, in := range s.file.Interactions() {
			all = append(all, in) // what somebody wrote into the file by hand has not passed the redactor
		}
	}
	f.Recorder = recorderName
	for _, name := range s.redactor.Rules() { // those of the old file stay, since its placeholders do
		if !slices.Contains(f.Rules, name) {
			f.Rules = append(slices.Clip(f.Rules), name)
		}
	}
	for _, c := range calls {
		all = append(all, c.in)
	}
	for _, err := range s.redactor.hideAll(all) {
		broken = append(broken, fmt.Errorf("cassette %s: %w", s.store.path, err))
	}
	for _, in := range all {
		f.Append(in)
	}
	for _, c := range calls {
		f.Summary.add(c)
	}
	return f, broken
}

// add counts one more interaction.
func (sum *Summary) add(c recording) {
	if sum.Models == nil {
		sum.Models = map[string]int{}
	}
	if sum.Tools == nil {
		sum.Tools = map[string]int{}
	}
	switch c.in.Kind {
	case bus.KindLLM:
		if c.in.Attempt > 0 {
			return
		}
		sum.Calls++
		if c.in.Model != "" {
			sum.Models[strings.ToValidUTF8(c.in.Model, "\uFFFD")]++
		}
		usage, _ := c.llm.Usage()
		sum.Input += usage.Input
		sum.Output += usage.Output
	case bus.KindTool:
		sum.Tools[strings.ToValidUTF8(c.in.Func.Name, "\uFFFD")]++
	}
}
