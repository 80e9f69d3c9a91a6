package cassette

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// maxStatus is the largest HTTP status: the standard has three digits, and a stand-in for a server may have more.
const maxStatus = 9999

// interaction writes one interaction. Times are in whole milliseconds.
func (p *printer) interaction(i *Interaction, refs *references) {
	p.open('{')
	p.name("kind")
	p.text(string(i.Kind))
	if f := i.Func; f != nil {
		p.function(i.Kind, f)
	}
	if h := i.HTTP; h != nil {
		p.sameLine(func() {
			p.textMember("provider", i.Provider)
			p.textMember("format", i.Format)
			p.textMember("operation", i.Operation)
			p.textMember("model", i.Model)
		})
		p.request(h, i.Format, refs)
		p.response(h)
	}
	if i.Failure != nil {
		p.failure(i.Failure)
	}
	p.textMember("ending", string(i.Ending))
	p.numberMember("attempt", int64(i.Attempt))
	p.numberMember("back", int64(i.Back))
	p.numberMember("within", int64(i.Within))
	if !p.timeless {
		p.name("start_ms")
		p.number(millis(i.Start))
		p.sameLine(func() {
			p.name("duration_ms")
			p.number(millis(i.Duration))
		})
	}
	p.textsMember("hidden", i.Hidden)
	p.unknown(i.unknown)
	p.close('}')
}

// inputName is the member that holds what a tool or a function was given.
func inputName(k bus.Kind) string {
	if k == bus.KindTool {
		return "arguments"
	}
	return requestName
}

// inputNames are the names of its members.
func inputNames(k bus.Kind) *valueNames {
	if k == bus.KindTool {
		return &argumentsNames
	}
	return &requestNames
}

func (p *printer) function(k bus.Kind, f *FuncInteraction) {
	p.textMember("name", f.Name)
	p.textMember("id", f.ID)
	if f.Arguments != nil {
		v, mentions := p.valueOf(f.Arguments)
		p.value(v, inputNames(k), mentions)
	}
	if f.Result != nil {
		v, mentions := p.valueOf(f.Result)
		p.value(v, &resultNames, mentions)
	}
}

func (p *printer) request(h *HTTPInteraction, format string, refs *references) {
	p.name("request")
	p.open('{')
	p.textMember("method", h.Method)
	p.textMember("url", h.URL)
	p.header("headers", h.RequestHeader)
	p.body(h.Request, format, refs)
	p.unknown(h.unknownRequest)
	p.close('}')
}

const defaultProto = "HTTP/1.1"

func (p *printer) response(h *HTTPInteraction) {
	if h.Status == 0 {
		return
	}
	p.name("response")
	p.open('{')
	p.name("status")
	p.number(int64(h.Status))
	if h.Proto != defaultProto {
		p.textMember("proto", h.Proto)
	}
	p.header("headers", h.ResponseHeader)
	if h.Streamed {
		p.stream(h.Response, h.Chunks)
	} else {
		p.body(h.Response, "", nil)
	}
	p.header("trailers", h.Trailer)
	p.unknown(h.unknownResponse)
	p.close('}')
}

// header writes a header, its names sorted: a name with one value as a string, any other as an array.
func (p *printer) header(name string, h http.Header) {
	if len(h) == 0 {
		return
	}
	p.name(name)
	open, close := p.open, p.close
	if len(h) == 1 {
		open, close = p.openLine, p.closeLine
	}
	open('{')
	for _, key := range slices.Sorted(maps.Keys(h)) {
		p.name(key)
		if values := h[key]; len(values) == 1 {
			p.text(values[0])
		} else {
			p.openLine('[')
			for _, v := range values {
				p.item()
				p.text(v)
			}
			p.closeLine(']')
		}
	}
	close('}')
}

func (p *printer) failure(f *Failure) {
	p.name("failure")
	p.open('{')
	p.name("text")
	p.text(f.Text)
	if f.TimedOut {
		p.name("timeout")
		p.buf = append(p.buf, "true"...)
	}
	if len(f.Chain) > 0 {
		p.name("chain")
		p.open('[')
		for _, link := range f.Chain {
			p.item()
			p.openLine('{')
			p.name("type")
			p.text(link.Type)
			p.name("text")
			p.text(link.Text)
			p.closeLine('}')
		}
		p.close(']')
	}
	p.unknown(f.unknown)
	p.close('}')
}

// record is an interaction as it stands in a file: all of it but for its bodies, which are decoded on use.
type record struct {
	Interaction
	exchange HTTPInteraction // what Interaction.HTTP is, if it is not nil
	called   FuncInteraction // what Interaction.Func is
	in, out  stored          // the bodies of request and answer; what a tool or a function was given, and its result
}

// record reads what printer.interaction wrote.
func (r *reader) record() *record {
	rec := new(record)
	r.recordTo(rec)
	return rec
}

// recordTo is record, in memory that was used before.
func (r *reader) recordTo(rec *record) {
	*rec = record{Interaction: Interaction{Kind: r.kindAhead(), Ending: bus.EndingComplete}}
	rec.in.layout, rec.out.layout = compact, compact
	isHTTP := rec.Kind == bus.KindLLM || rec.Kind == bus.KindHTTP
	if isHTTP {
		rec.HTTP = &rec.exchange
	} else {
		rec.Func = &rec.called
	}
	input, what := inputNames(rec.Kind), string(rec.Kind)
	for name := range r.members("an interaction") {
		switch {
		case name == "kind":
			r.raw()
		case r.outcome(rec, name):
		case isHTTP && r.exchange(rec, name):
		case isHTTP:
			r.unknown(&rec.unknown)
		case name == "name":
			rec.Func.Name = r.text(name)
		case name == "id":
			rec.Func.ID = r.text(name)
		case r.value(&rec.in, input, what, name):
		case r.value(&rec.out, &resultNames, what, name):
		default:
			r.unknown(&rec.unknown)
		}
	}
	if isHTTP && rec.HTTP.RequestHeader == nil && !r.outlineOnly {
		rec.HTTP.RequestHeader = make(http.Header)
	}
}

// kindAhead looks for the kind of the interaction that comes next, which says what its other members mean. It stands
// first, unless somebody sorted the members.
func (r *reader) kindAhead() bus.Kind {
	if k := r.peek(); k != jsonlex.ObjectStart {
		r.fail("an interaction must be an object, not %s", kindWord(k))
		return ""
	}
	from := r.offset()
	s := jsonlex.New(r.data[from-r.base:])
	s.Next()
	for s.Depth() > 0 {
		if k := s.Next(); k == jsonlex.Invalid {
			return "" // r will find it too
		} else if k != jsonlex.Name || s.Depth() != 1 || string(s.Raw()) != `"kind"` {
			continue
		}
		kind := s.Next()
		start, _ := s.Span()
		switch kind {
		case jsonlex.Invalid:
			return ""
		case jsonlex.String:
			word := string(jsonlex.AppendUnquoted(nil, s.Raw()))
			switch k := bus.Kind(word); k {
			case bus.KindLLM, bus.KindHTTP, bus.KindTool, bus.KindFunc:
				return k
			}
			r.failAt(from+start, remedyNewer,
				fmt.Errorf("unknown interaction kind %s; known are llm, http, tool and func", brief(word)))
		}
		r.failAt(from+start, remedyEdit, errors.New("an interaction's kind must be a string"))
		return ""
	}
	r.fail("an interaction has no kind")
	return ""
}

// outcome reads a member if it is one that interactions of every kind have.
func (r *reader) outcome(rec *record, name string) bool {
	switch name {
	case "failure":
		rec.Failure = r.failure()
	case "ending":
		rec.Ending = r.ending()
	case "attempt":
		rec.Attempt = int(r.number(name, math.MaxInt32))
	case "back":
		rec.Back = int(r.number(name, math.MaxInt32))
	case "within":
		rec.Within = int(r.number(name, math.MaxInt32))
	case "start_ms":
		rec.Start = time.Duration(r.number(name, maxMillis)) * time.Millisecond
	case "duration_ms":
		rec.Duration = time.Duration(r.number(name, maxMillis)) * time.Millisecond
	case "hidden":
		rec.Hidden = r.texts(name)
	default:
		return false
	}
	return true
}

// exchange reads a member if it is one of an HTTP exchange.
func (r *reader) exchange(rec *record, name string) bool {
	switch name {
	case "provider":
		rec.Provider = r.text(name)
	case "format":
		rec.Format = r.text(name)
	case "operation":
		rec.Operation = r.text(name)
	case "model":
		rec.Model = r.text(name)
	case "request":
		r.peek()
		at := r.offset()
		if r.answerOnly {
			r.raw()
			return true
		}
		r.request(rec)
		_, end := r.s.Span()
		r.asked = span{at, r.base + end}
	case "response":
		r.response(rec)
	default:
		return false
	}
	return true
}

func (r *reader) request(rec *record) {
	h := rec.HTTP
	for name := range r.members("request") {
		switch name {
		case "method":
			h.Method = r.text("request.method")
		case "url":
			h.URL = r.text("request.url")
		case "headers":
			h.RequestHeader = r.header("request.headers")
		case "body":
			rec.in = r.body("request.body")
		default:
			r.unknown(&h.unknownRequest)
		}
	}
}

func (r *reader) response(rec *record) {
	h := rec.HTTP
	h.Proto, h.ResponseHeader = defaultProto, nil
	r.peek()
	at := r.offset()
	body := false
	for name := range r.members("response") {
		switch name {
		case "status":
			h.Status = int(r.number("response.status", maxStatus))
		case "proto":
			h.Proto = r.text("response.proto")
		case "headers":
			h.ResponseHeader = r.header("response.headers")
		case "body":
			rec.out = r.body("response.body")
			body = true
			if rec.out.extends != nil {
				r.failAt(rec.out.extends.at, remedyEdit, errors.New("only the body of a request can extend another"))
			}
		case "stream":
			rec.out = r.stream("response.stream")
			h.Streamed = true
		case "trailers":
			h.Trailer = r.header("response.trailers")
		default:
			r.unknown(&h.unknownResponse)
		}
	}
	if h.ResponseHeader == nil && !r.outlineOnly {
		h.ResponseHeader = make(http.Header)
	}
	switch {
	case h.Status < 1:
		r.failAt(at, remedyEdit, errors.New("response.status must be a number from 1 to 9999"))
	case body && h.Streamed:
		r.failAt(at, remedyEdit, errors.New("a response has both a body and a stream"))
	}
}

func (r *reader) header(what string) http.Header {
	var h http.Header
	for name := range r.members(what) {
		var values []string
		if r.peek() == jsonlex.ArrayStart {
			values = r.texts(what)
		} else if text := r.text(what); r.keeps(name) {
			values = []string{text}
		}
		if !r.keeps(name) {
			continue
		}
		if h == nil {
			h = make(http.Header)
		}
		h[name] = values
	}
	return h
}

// keeps reports whether a header of that name is wanted.
func (r *reader) keeps(name string) bool { return !r.outlineOnly || name == "Content-Type" }

func (r *reader) failure() *Failure {
	f := &Failure{}
	for name := range r.members("failure") {
		switch name {
		case "text":
			f.Text = r.text("failure.text")
		case "timeout":
			f.TimedOut = r.bool("failure.timeout")
		case "chain":
			for range r.items("failure.chain") {
				if link := r.failureLink(); !r.outlineOnly {
					f.Chain = append(f.Chain, link)
				}
			}
		default:
			r.unknown(&f.unknown)
		}
	}
	return f
}

func (r *reader) failureLink() (link core.ErrorLink) {
	for name := range r.members("an error of failure.chain") {
		switch name {
		case "type":
			link.Type = r.text("type")
		case "text":
			link.Text = r.text("text")
		default:
			r.failNewer("an error of failure.chain has an unknown member %s", brief(name))
		}
	}
	return link
}

func (r *reader) ending() bus.Ending {
	e := bus.Ending(r.text("ending"))
	switch e {
	case bus.EndingComplete, bus.EndingClosedAfterTerminal, bus.EndingClosedEarly, bus.EndingCancelled,
		bus.EndingUpstreamAborted, bus.EndingError:
	default:
		r.failAt(r.offset(), remedyNewer, fmt.Errorf("unknown ending %s", brief(string(e))))
	}
	return e
}

// outline returns the outline of the interaction, whose bodies were not filled in yet.
func (rec *record) outline() outline {
	r := requestOf(&rec.Interaction)
	switch rec.in.form {
	case formJSON:
		r.body = rec.in.raw
	case formBlob:
		r.body = rec.in.beside[rec.in.blobs[0]]
	default:
		r.body = rec.in.mentioning(nil)
	}
	return outline{request: r, attempt: rec.Attempt, back: rec.Back, within: rec.Within, hidden: rec.Hidden}
}

// decode fills in the bodies. shared is what the request's message list begins with.
func (rec *record) decode(shared []byte) *Interaction {
	i := &rec.Interaction
	if h := i.HTTP; h != nil {
		h.Request = rec.in.body(shared)
		h.Response = rec.out.body(nil)
		if h.Streamed {
			h.Chunks = rec.out.chunks(h.Response.Bytes)
		}
		return i
	}
	if rec.in.form != formNone {
		i.Func.Arguments = rec.in.decode(nil)
	}
	if rec.out.form != formNone {
		i.Func.Result = rec.out.decode(nil)
	}
	return i
}

func (s *stored) body(shared []byte) Body {
	return Body{Bytes: s.decode(shared), Encoding: s.encoding, WireLength: s.length, unknown: s.unknown}
}
