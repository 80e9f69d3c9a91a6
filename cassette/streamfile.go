package cassette

import (
	"bytes"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// framing is how a stream's events stand in its bytes. An event that does not fit the stream's framing is kept raw, so
// that nothing is repaired.
type framing struct {
	kind   string // framingSSE or framingNDJSON
	eol    string // of every line
	tight  bool   // SSE: no space after the colon of a field
	layout layout // of JSON data, always on one line
}

const (
	framingSSE    = "sse"
	framingNDJSON = "ndjson"
)

// lineEnds are the line ends with their names in the file. The first is not written down.
var lineEnds = []struct{ name, eol string }{{"lf", "\n"}, {"crlf", "\r\n"}, {"cr", "\r"}}

// event is one event of a stream: a line of NDJSON, or the fields of a block of SSE in the order of their lines.
// A raw event is its bytes.
type event []field

// field is a member of an event in the file. Its name is that of the SSE field, or
//
//	data      data that is JSON, laid out as the stream says
//	text      any other data; a line break in it starts another data line
//	comment   a line that begins with a colon
//	raw       an event as it stands in the stream
type field struct {
	name  string
	value []byte
}

// appendField appends one field as it stands in a stream.
func (f framing) appendField(dst []byte, fd field) []byte {
	switch {
	case fd.name == "raw":
		return append(dst, fd.value...)
	case f.kind == framingNDJSON:
		return append(f.layout.append(dst, fd.value), f.eol...)
	case fd.name == "data":
		return append(f.layout.append(f.appendName(dst, "data"), fd.value), f.eol...)
	case fd.name == "text":
		for line := range bytes.SplitSeq(fd.value, []byte{'\n'}) {
			dst = append(append(f.appendName(dst, "data"), line...), f.eol...)
		}
		return dst
	case fd.name == "comment":
		fd.name = ""
	}
	return append(append(f.appendName(dst, fd.name), fd.value...), f.eol...)
}

func (f framing) appendName(dst []byte, name string) []byte {
	dst = append(append(dst, name...), ':')
	if !f.tight {
		dst = append(dst, ' ')
	}
	return dst
}

// appendEvent appends one event as it stands in a stream.
func (f framing) appendEvent(dst []byte, e event) []byte {
	for _, fd := range e {
		dst = f.appendField(dst, fd)
	}
	if f.kind == framingSSE && len(e) > 0 && e[0].name != "raw" {
		dst = append(dst, f.eol...)
	}
	return dst
}

// split takes a stream apart. ok is false when it is no text, or when no event fits a framing.
func split(stream []byte) (f framing, events []event, ok bool) {
	if !utf8.Valid(stream) {
		return f, nil, false
	}
	f = framingOfSSE(stream)
	if events, ok = f.split(stream); ok {
		return f, events, true
	}
	if line, _ := cutLine(bytes.TrimLeft(stream, "\r\n")); fits(line) {
		f = framingOfNDJSON(stream)
		events, ok = f.split(stream)
	}
	return f, events, ok
}

func (f framing) split(stream []byte) (events []event, ok bool) {
	for len(stream) > 0 {
		n := f.eventLen(stream)
		e := f.parse(stream[:n])
		ok = ok || e[0].name != "raw"
		events = append(events, e)
		stream = stream[n:]
	}
	return events, ok
}

// framingOfSSE judges by the first lines of each kind.
func framingOfSSE(stream []byte) framing {
	f := framing{kind: framingSSE, eol: "\n", layout: compact}
	if _, eol := cutLine(stream); len(eol) > 0 {
		f.eol = string(eol)
	}
	spacingKnown := false
	for rest := stream; len(rest) > 0; {
		line, eol := cutLine(rest)
		rest = rest[len(line)+len(eol):]
		name, value, found := bytes.Cut(line, []byte{':'})
		if !found || len(name) == 0 {
			continue
		}
		value, hasSpace := bytes.CutPrefix(value, []byte{' '})
		if !spacingKnown {
			f.tight, spacingKnown = !hasSpace, true
		}
		if string(name) != "data" {
			continue
		}
		if l, text, ok := layoutOf(value); ok && l.indent == "" && len(text) < len(value) {
			f.layout = l
			break
		}
	}
	return f
}

func framingOfNDJSON(stream []byte) framing {
	f := framing{kind: framingNDJSON, eol: "\n", layout: compact}
	line, _, _ := bytes.Cut(stream, []byte{'\n'})
	if bytes.HasSuffix(line, []byte{'\r'}) {
		f.eol = "\r\n"
	}
	for line := range bytes.SplitSeq(stream, []byte(f.eol)) {
		if l, text, ok := layoutOf(line); ok && l.indent == "" && len(text) < len(line) {
			f.layout = l
			break
		}
	}
	return f
}

// eventLen returns the length of the event that b begins with: up to the end of a line, or of an empty line for SSE.
// Lines of SSE end as the WHATWG says, whatever the stream's own line end is.
func (f framing) eventLen(b []byte) int {
	n := 0
	for n < len(b) {
		if f.kind == framingNDJSON {
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				return i + 1
			}
			return len(b)
		}
		line, eol := cutLine(b[n:])
		n += len(line) + len(eol)
		if len(line) == 0 {
			break
		}
	}
	return n
}

// cutLine returns the first line of b and what ends it: LF, CR, CRLF, or nothing.
func cutLine(b []byte) (line, eol []byte) {
	i := bytes.IndexAny(b, "\r\n")
	switch {
	case i < 0:
		return b, nil
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return b[:i], b[i : i+2]
	}
	return b[:i], b[i : i+1]
}

// parse takes one event apart, or keeps it raw when putting it together would give other bytes.
func (f framing) parse(b []byte) event {
	var e event
	if f.kind == framingNDJSON {
		e = event{{name: "data", value: bytes.TrimSuffix(b, []byte(f.eol))}}
		if !fits(e[0].value) {
			e = nil
		}
	} else {
		e = f.parseBlock(b)
	}
	if e == nil || !bytes.Equal(f.appendEvent(nil, e), b) {
		return event{{name: "raw", value: b}}
	}
	return e
}

// parseBlock takes a block of SSE apart as far as it can; parse checks what comes out.
func (f framing) parseBlock(b []byte) event {
	var e event
	var data [][]byte // the lines of the one run of data
	for len(b) > 0 {
		line, eol := cutLine(b)
		b = b[len(line)+len(eol):]
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if !f.tight {
			value = bytes.TrimPrefix(value, []byte{' '})
		}
		fd := field{name: string(name), value: value}
		switch fd.name {
		case "data":
			data = append(data, value)
			if len(data) > 1 && e[len(e)-1].name == "text" {
				continue
			}
			fd.name = "text"
		case "":
			fd.name = "comment"
		case "event", "id", "retry":
		default:
			return nil
		}
		if e.field(fd.name) != nil {
			return nil
		}
		e = append(e, fd)
	}
	text := e.field("text")
	switch {
	case text == nil:
	case len(data) > 1:
		text.value = bytes.Join(data, []byte{'\n'})
	case fits(text.value) && bytes.Equal(f.layout.append(nil, text.value), text.value):
		text.name = "data"
	}
	return e
}

// field returns the field of that name, nil when there is none.
func (e event) field(name string) *field {
	for i := range e {
		if e[i].name == name {
			return &e[i]
		}
	}
	return nil
}

// fits reports whether text is JSON that a cassette can hold as JSON.
func fits(text []byte) bool {
	s := jsonlex.New(text)
	for {
		switch s.Next() {
		case jsonlex.Invalid:
			return false
		case jsonlex.End:
			return true
		}
		if s.Depth() > maxBodyDepth {
			return false
		}
	}
}

// stream writes the member "stream" of an answer.
func (p *printer) stream(b Body, chunks []bus.Chunk) {
	p.name("stream")
	p.open('{')
	text, mentions := b.Bytes, []string(nil)
	if p.beside != nil {
		text, mentions = p.beside.extract(text)
	}
	if f, events, ok := split(text); ok {
		p.framing(f)
		p.name("events")
		p.open('[')
		for _, e := range events {
			p.item()
			p.event(e)
		}
		p.close(']')
		p.textsMember(bodyNames.blobs, mentions)
	} else {
		v, mentions := p.valueOf(b.Bytes)
		p.value(v, &bodyNames, mentions)
	}
	if !p.timeless {
		p.chunks(chunks)
	}
	p.encoding(b)
	p.close('}')
}

func (p *printer) framing(f framing) {
	p.textMember("framing", f.kind)
	for _, e := range lineEnds[1:] {
		if e.eol == f.eol {
			p.textMember("eol", e.name)
		}
	}
	if f.tight {
		p.name("tight")
		p.buf = append(p.buf, "true"...)
	}
	if f.layout != compact {
		p.textMember("layout", f.layout.String())
	}
}

func (p *printer) event(e event) {
	p.openLine('{')
	for _, fd := range e {
		p.name(fd.name)
		if fd.name == "data" {
			p.json(fd.value)
		} else {
			p.text(string(fd.value))
		}
	}
	p.closeLine('}')
}

func (p *printer) chunks(chunks []bus.Chunk) {
	if len(chunks) == 0 {
		return
	}
	p.name("times")
	p.openLine('[')
	for _, c := range chunks {
		p.item()
		p.number(millis(c.At))
	}
	p.closeLine(']')
	p.name("cuts")
	p.openLine('[')
	for _, c := range chunks {
		p.item()
		p.number(int64(max(c.Len, 0)))
	}
	p.closeLine(']')
}

// maxMillis is the longest time that a time.Duration holds.
const maxMillis = math.MaxInt64 / int64(time.Millisecond)

func millis(d time.Duration) int64 { return max(d.Milliseconds(), 0) }

// stream reads what printer.stream wrote.
func (r *reader) stream(what string) (s stored) {
	s.layout = compact
	s.framing = framing{kind: framingSSE, eol: "\n"}
	at := r.offset()
	for name := range r.members(what) {
		switch {
		case r.value(&s, &bodyNames, what, name):
		case r.encoding(&s, what, name):
		case name == "events":
			r.setForm(&s, what, formEvents)
			r.peek()
			s.at = r.offset()
			s.raw = r.raw()
		case name == "framing":
			s.framing.kind = r.text(what + ".framing")
			if s.framing.kind != framingSSE && s.framing.kind != framingNDJSON {
				r.failAt(r.offset(), remedyNewer, fmt.Errorf("%s.framing is none that this version knows: %s", what, brief(s.framing.kind)))
			}
		case name == "eol":
			word := r.text(what + ".eol")
			s.framing.eol = ""
			for _, e := range lineEnds {
				if e.name == word {
					s.framing.eol = e.eol
				}
			}
			if s.framing.eol == "" {
				r.fail("%s.eol must be lf, crlf or cr, not %s", what, brief(word))
			}
		case name == "tight":
			s.framing.tight = r.bool(what + ".tight")
		case name == "times":
			s.times = r.numbers(what+".times", maxMillis)
		case name == "cuts":
			s.cuts = r.numbers(what+".cuts", math.MaxInt32)
		default:
			r.unknown(&s.unknown)
		}
	}
	s.framing.layout = s.layout
	switch {
	case s.form == formNone:
		r.failAt(at, remedyNewer, fmt.Errorf("%s holds nothing that this version can read", what))
	case s.form == formEvents && (s.layout.indent != "" || s.layout.newline):
		r.failAt(at, remedyEdit, fmt.Errorf("%s.layout must be one of a single line, not %s", what, s.layout))
	case s.form == formEvents:
		inner := newReader(s.raw, s.at)
		s.framing.check(inner)
		if inner.flaw != nil && r.flaw == nil {
			r.flaw = inner.flaw
		}
	}
	return s
}

// append reads a list of events and appends the stream that they make.
func (f framing) append(dst []byte, r *reader) []byte {
	var e event
	for range r.items("events") {
		e = f.readEvent(r, e[:0])
		dst = f.appendEvent(dst, e)
	}
	return dst
}

// check reads a list of events.
func (f framing) check(r *reader) {
	var e event
	for range r.items("events") {
		e = f.readEvent(r, e[:0])
	}
}

// readEvent appends the fields of one event to e, which is empty. Members that are not known are refused here, since the
// bytes of the stream are made from them.
func (f framing) readEvent(r *reader, e event) event {
	data := 0
	for name := range r.members("an event") {
		fd := field{name: name}
		switch name {
		case "data":
			data++
			fd.value = r.raw()
		case "text":
			data++
			fd.value = r.string("an event's text")
			if bytes.ContainsAny(fd.value, "\r") {
				r.fail("an event's text holds a carriage return, which would end the line")
			}
		case "raw":
			fd.value = r.string("a raw event")
		case "event", "id", "retry", "comment":
			fd.value = r.string("an event's " + name)
			if bytes.ContainsAny(fd.value, "\r\n") {
				r.fail("an event's %s holds a line break", name)
			}
		default:
			r.failNewer("an event has an unknown member %s", brief(name))
			return nil
		}
		if f.kind == framingNDJSON && name != "data" && name != "raw" {
			r.fail("an event of a stream of JSON lines has a member %s", brief(name))
		}
		e = append(e, fd)
	}
	switch {
	case len(e) > 1 && (e[0].name == "raw" || e[len(e)-1].name == "raw"):
		r.fail("a raw event has no other members")
	case data > 1:
		r.fail("an event has both data and text")
	case len(e) == 0:
		r.fail("an event has no members")
	}
	return e
}

// chunks returns the reads that the stream came in. body is what decode returned.
func (s *stored) chunks(body []byte) []bus.Chunk {
	if len(s.times) == len(s.cuts) {
		list := make([]bus.Chunk, 0, len(s.cuts))
		rest := int64(len(body))
		for i, n := range s.cuts {
			list = append(list, bus.Chunk{At: time.Duration(s.times[i]) * time.Millisecond, Len: int(n)})
			rest -= n
		}
		if rest == 0 {
			return list
		}
	}
	return s.framing.cutAtEvents(body, s.times)
}

// cutAtEvents makes each event a chunk. The times, in milliseconds, are dealt out in order, the last to all that are
// left.
func (f framing) cutAtEvents(body []byte, times []int64) []bus.Chunk {
	var list []bus.Chunk
	for len(body) > 0 {
		n := f.eventLen(body)
		c := bus.Chunk{Len: n}
		if len(times) > 0 {
			c.At = time.Duration(times[min(len(list), len(times)-1)]) * time.Millisecond
		}
		list = append(list, c)
		body = body[n:]
	}
	return list
}
