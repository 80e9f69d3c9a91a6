package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mixtape-go/mixtape/core/wire"
)

// formatName is the version of the file format, the first member of every file.
const formatName = "mixtape/1"

// File is a cassette as it stands on disk. The zero File has no interactions.
//
// A File that was loaded keeps the text of the file and decodes an interaction each time it is asked for one. It may
// be read from several goroutines at once, and must not be while it is changed.
type File struct {
	// Recorder says who recorded, in free words.
	Recorder string
	// Rules are the names of the redaction rules that were on.
	Rules   []string
	Summary Summary

	path    string
	data    []byte
	entries []entry
	beside  blobs         // what stands beside the file
	visit   func(outline) // called while the file is read
	source  blobSource    // asked while the file is read
	scratch *record       // of the interaction that is read, while the file is
	unknown []rawMember
}

// outline is what a tape has to know of an interaction at once.
type outline struct {
	// request is the interaction's; JSON in its body is laid out as in the file, and a message list that goes on from
	// another's holds its own elements only. The body is the file's, and must not be changed.
	request               bareRequest
	attempt, back, within int
	hidden                []string // the interaction's
}

// Summary is what a reviewer wants to know first.
type Summary struct {
	Calls         int            // interactions of kind "llm" that are no retries
	Models        map[string]int // calls by model
	Input, Output int64          // tokens, as far as providers said
	Tools         map[string]int // tool calls by name

	unknown, unknownTokens []rawMember
}

// entry is one interaction: a part of the file's data, or a value that was appended.
type entry struct {
	span     span
	shared   int   // how many elements of list are another's
	list     *list // nil when it has none, or nobody asked yet
	request  span  // the member "request", or what a tool or a function was given
	answer   span  // the JSON of the answer's body, or the events of its stream
	appended *Interaction
}

// Load reads the cassette at path. Every part of it is checked, so that nothing fails later. Any error is a
// [*FileError].
func Load(path string) (*File, error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	s := store{base: dir, name: name, path: path}
	data, err := s.read()
	if err != nil {
		return nil, readError(path, err)
	}
	return readFile(path, data, s.blob, nil)
}

// decodeFile reads a cassette that stands alone.
func decodeFile(path string, data []byte) (*File, error) {
	return readFile(path, data, func(string) ([]byte, error) { return nil, fs.ErrNotExist }, nil)
}

// readFile reads a cassette from data, which it keeps, and the blobs that it names from source. The path is for errors,
// and its extension says which form the file is in. Visit, unless it is nil, gets the outline of each interaction.
func readFile(path string, data []byte, source blobSource, visit func(outline)) (*File, error) {
	f := &File{path: path, data: data, beside: blobs{}, source: source, visit: visit, scratch: new(record)}
	var flaw *flaw
	if isLines(path) {
		flaw = f.readLines()
	} else {
		flaw = f.readJSON()
	}
	f.visit, f.source, f.scratch = nil, nil, nil
	if flaw == nil {
		return f, nil
	}
	return nil, flaw.locate(path, data)
}

func isLines(path string) bool { return strings.HasSuffix(path, ".jsonl") }

var byteOrderMark = []byte("\xEF\xBB\xBF")

func (f *File) begin() (text []byte, at int, fl *flaw) {
	text = bytes.TrimPrefix(f.data, byteOrderMark)
	at = len(f.data) - len(text)
	rest := bytes.TrimLeft(text, " \t\r\n")
	switch {
	case len(rest) == 0:
		return nil, 0, &flaw{remedy: remedyRestore, err: errors.New("the file is empty")}
	case rest[0] == '[':
		return nil, 0, &flaw{at: len(f.data) - len(rest), remedy: remedyRestore, err: errors.New("the file is an array, not a cassette")}
	}
	return text, at, nil
}

func (f *File) readJSON() *flaw {
	text, at, fl := f.begin()
	if fl != nil {
		return fl
	}
	r := newReader(text, at)
	found := false
	r.interned = map[string]string{}
	f.header(r, func(name string) bool {
		if name != "interactions" {
			return false
		}
		found = true
		for range r.items(name) {
			f.readEntry(r)
		}
		return true
	})
	r.end()
	if r.flaw == nil && !found {
		r.failAt(at, remedyRestore, errors.New("the file has no interactions; an empty list is written []"))
	}
	return r.flaw
}

func (f *File) readLines() *flaw {
	text, at, fl := f.begin()
	if fl != nil {
		return fl
	}
	want := -1
	header := true
	r := newReader(nil, 0)
	r.interned = map[string]string{}
	for len(text) > 0 {
		line := text
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			line = text[:n+1]
		}
		if len(bytes.TrimSpace(line)) > 0 {
			r.reset(line, at)
			if header {
				f.header(r, func(name string) bool {
					if name == "interactions" {
						want = int(r.number(name, math.MaxInt32))
					}
					return name == "interactions"
				})
			} else {
				f.readEntry(r)
			}
			r.end()
			if header && r.flaw != nil && len(line) < len(text) && r.flaw.at >= at+len(bytes.TrimSpace(line)) {
				r.flaw.remedy = "each line must hold one JSON value; a file of one JSON value must be named .json"
			}
			header = false
			if r.flaw != nil {
				return r.flaw
			}
		}
		text = text[len(line):]
		at += len(line)
	}
	if want >= 0 && want != len(f.entries) {
		return &flaw{at: at, remedy: "restore the file, or mend the number in its first line if the change is meant",
			err: fmt.Errorf("the file has %d interactions and its first line says %d", len(f.entries), want)}
	}
	return nil
}

// header reads the members of a file; those that interactions takes are its own.
func (f *File) header(r *reader, interactions func(name string) bool) {
	r.peek()
	at := r.offset()
	version := false
	for name := range r.members("a cassette") {
		switch {
		case name == "format":
			version = true
			if word := r.text("format"); word != formatName {
				r.failAt(r.offset(), remedyNewer, fmt.Errorf("the format is %s; this version reads %q", brief(word), formatName))
			}
		case interactions(name):
		case name == "recorder":
			f.Recorder = r.text(name)
		case name == "redaction":
			f.Rules = r.texts(name)
		case name == "summary":
			f.Summary = r.summary()
		default:
			r.unknown(&f.unknown)
		}
	}
	if !version {
		r.failAt(at, remedyRestore, fmt.Errorf("the file does not say \"format\": %q", formatName))
	}
}

func (r *reader) summary() (s Summary) {
	for name := range r.members("summary") {
		switch name {
		case "calls":
			s.Calls = int(r.number("summary.calls", math.MaxInt32))
		case "models":
			s.Models = r.counts("summary.models")
		case "tools":
			s.Tools = r.counts("summary.tools")
		case "tokens":
			for name := range r.members("summary.tokens") {
				switch name {
				case "input":
					s.Input = r.number("summary.tokens.input", math.MaxInt64)
				case "output":
					s.Output = r.number("summary.tokens.output", math.MaxInt64)
				default:
					r.unknown(&s.unknownTokens)
				}
			}
		default:
			r.unknown(&s.unknown)
		}
	}
	return s
}

func (r *reader) counts(what string) map[string]int {
	m := make(map[string]int)
	for name := range r.members(what) {
		m[name] = int(r.number(what, math.MaxInt32))
	}
	return m
}

// readEntry reads one interaction and notes where it stands.
func (f *File) readEntry(r *reader) {
	r.peek()
	index := len(f.entries)
	f.entries = append(f.entries, entry{span: span{from: r.offset()}})
	r.asked = span{}
	r.outlineOnly = true
	rec := f.scratch
	r.recordTo(rec)
	r.outlineOnly = false
	_, end := r.s.Span()
	e := &f.entries[index]
	e.span.to = r.base + end
	e.request, e.answer = r.asked, span{rec.out.at, rec.out.at + len(rec.out.raw)}
	if rec.Back > index {
		r.failAt(e.span.from, remedyEdit, fmt.Errorf("back is %d, and only %d interactions stand before", rec.Back, index))
	}
	if rec.Within > index {
		r.failAt(e.span.from, remedyEdit, fmt.Errorf("within is %d, and only %d interactions stand before", rec.Within, index))
	}
	if rec.in.extends != nil && r.flaw == nil {
		f.resolve(r, index, rec)
	}
	f.checkSpacing(r, e, rec)
	f.findBlobs(r, rec)
	rec.in.beside = f.beside
	if r.flaw != nil {
		r.flaw.interaction = index + 1
	} else if f.visit != nil {
		f.visit(rec.outline())
	}
}

// resolve checks what an extending message list goes on from.
func (f *File) resolve(r *reader, index int, rec *record) {
	ext := rec.in.extends
	if ext.back > index {
		r.failAt(ext.at, remedyEdit, fmt.Errorf("extends goes %d interactions back, and only %d stand before", ext.back, index))
		return
	}
	other := index - ext.back
	from := f.list(other, ext.member)
	array, ok := arrayIn(rec.in.raw, ext.member)
	var hash chainHash
	if from != nil && ext.items <= from.len() {
		hash = from.hash(f.data, ext.items)
	}
	switch {
	case from == nil:
		r.failAt(ext.at, remedyEdit, fmt.Errorf("it extends interaction %d, which has no list %s", other+1, brief(ext.member)))
	case !ok:
		r.failAt(ext.at, remedyEdit, fmt.Errorf("it extends interaction %d and has itself no list %s", other+1, brief(ext.member)))
	case from.len() < ext.items:
		r.failAt(ext.at, remedyEdit, fmt.Errorf("it extends the first %d elements of interaction %d, which has %d",
			ext.items, other+1, from.len()))
	case hash.String() != ext.hash:
		r.failAt(ext.at, fmt.Sprintf("if interaction %d was edited on purpose write %q here, else restore it",
			other+1, hash),
			fmt.Errorf("interaction %d extends interaction %d, whose first %d elements have changed: their hash was %s",
				index+1, other+1, ext.items, brief(ext.hash)))
	default:
		f.entries[index].shared = ext.items
		f.entries[index].list = newList(index, ext.member, from, ext.items, hash, f.data, array.shift(rec.in.at))
	}
}

// checkSpacing sees to it that the layouts of bodies do not make much of little: an element that is deep inside takes a
// line that is many times as long.
func (f *File) checkSpacing(r *reader, e *entry, rec *record) {
	for _, s := range []*stored{&rec.in, &rec.out} {
		bytes, depths := len(s.raw), s.depths
		if s.extends != nil && e.list != nil {
			bytes += e.list.before.bytes
			depths += e.list.before.depths
		}
		if space := depths * len(s.layout.indent); space > 4*maxSpace && space > 4*maxSpacing*bytes {
			r.failAt(s.at, remedyEdit, fmt.Errorf("the layout %s makes %d bytes of spaces from a body of %d", s.layout, space, bytes))
		}
	}
}

// list returns the message list of an interaction that was read; nil when it has none in that member.
func (f *File) list(index int, member string) *list {
	e := &f.entries[index]
	if e.list == nil {
		rec := f.read(e)
		if rec.in.form != formJSON || rec.HTTP == nil {
			return nil
		}
		array, ok := arrayIn(rec.in.raw, member)
		if !ok {
			return nil
		}
		e.list = newList(index, member, nil, 0, chainHash{}, f.data, array.shift(rec.in.at))
	}
	if e.list.member != member {
		return nil
	}
	return e.list
}

// shift makes offsets in a text that stands at the offset by of another into offsets in that.
func (s span) shift(by int) span { return span{s.from + by, s.to + by} }

// outlines returns the outlines of all interactions.
func (f *File) outlines() []outline {
	list := make([]outline, len(f.entries))
	for i := range f.entries {
		list[i] = f.read(&f.entries[i]).outline()
	}
	return list
}

// read reads an interaction, whose bodies are not decoded yet.
func (f *File) read(e *entry) *record {
	rec := f.reader(e).record()
	rec.in.beside, rec.out.beside = f.beside, f.beside
	return rec
}

// reader returns a reader of an interaction that knows what was read before.
func (f *File) reader(e *entry) *reader {
	r := newReader(e.span.of(f.data), e.span.from)
	r.known = []span{e.request, e.answer}
	return r
}

// elsewhere returns the elements of an interaction's message list that stand in another; nil when there are none.
func (f *File) elsewhere(e *entry) []byte {
	if e.shared == 0 {
		return nil
	}
	return e.list.append(nil, f.data, e.shared)
}

// Len returns the number of interactions.
func (f *File) Len() int { return len(f.entries) }

// Interaction returns interaction i, counted from 0. It is decoded anew each time and is the caller's, unless it was
// appended: then it is that very value.
func (f *File) Interaction(i int) *Interaction {
	e := &f.entries[i]
	if e.appended != nil {
		return e.appended
	}
	return f.read(e).decode(f.elsewhere(e))
}

// asked returns interaction i with what was asked, but without its answer.
func (f *File) asked(i int) *Interaction {
	e := &f.entries[i]
	if e.appended != nil {
		return e.appended
	}
	rec := f.read(e)
	rec.out = stored{}
	return rec.decode(f.elsewhere(e))
}

// answered returns interaction i with its answer, but without what was asked.
func (f *File) answered(i int) *Interaction {
	e := &f.entries[i]
	if e.appended != nil {
		return e.appended
	}
	r := f.reader(e)
	r.answerOnly = true
	rec := r.record()
	rec.in, rec.out.beside = stored{}, f.beside
	return rec.decode(nil)
}

// Interactions yields all interactions in order, counted from 0, as Interaction returns them.
func (f *File) Interactions() iter.Seq2[int, *Interaction] {
	return func(yield func(int, *Interaction) bool) {
		for i := range f.entries {
			if !yield(i, f.Interaction(i)) {
				return
			}
		}
	}
}

// Append adds an interaction at the end. It must not be changed afterwards.
func (f *File) Append(i *Interaction) { f.entries = append(f.entries, entry{appended: i}) }

// Encode returns the text of the file that path is to hold: JSON Lines when path ends in ".jsonl", else JSON. Equal
// files have equal texts. All bytes stand in the text, those too that a session would put beside the file.
func (f *File) Encode(path string) []byte {
	p := &printer{pretty: !isLines(path)}
	f.encode(p)
	return p.buf
}

// encodeApart is Encode with large bytes put beside the file.
func (f *File) encodeApart(path string) (text []byte, beside blobs) {
	p := &printer{pretty: !isLines(path), beside: blobs{}}
	f.encode(p)
	return p.buf, p.beside
}

func (f *File) encode(p *printer) {
	p.open('{')
	p.name("format")
	p.text(formatName)
	if !p.timeless {
		p.textMember("recorder", f.Recorder)
	}
	p.textsMember("redaction", f.Rules)
	p.summary(f.Summary)
	p.unknown(f.unknown)
	refs := &references{member: messageMember, seen: make(map[listKey]holder)}
	p.name("interactions")
	if p.pretty {
		p.open('[')
	} else {
		p.number(int64(len(f.entries)))
		p.close('}')
		p.buf = append(p.buf, '\n')
	}
	for i, interaction := range f.Interactions() {
		refs.index = i
		if p.pretty {
			p.item()
		}
		p.interaction(interaction, refs)
		if !p.pretty {
			p.buf = append(p.buf, '\n')
		}
	}
	if p.pretty {
		p.close(']')
		p.close('}')
		p.buf = append(p.buf, '\n')
	}
}

func (p *printer) summary(s Summary) {
	p.name("summary")
	p.openLine('{')
	p.name("calls")
	p.number(int64(s.Calls))
	p.counts("models", s.Models)
	if s.Input > 0 || s.Output > 0 || s.unknownTokens != nil {
		p.name("tokens")
		p.open('{')
		p.name("input")
		p.number(s.Input)
		p.name("output")
		p.number(s.Output)
		p.unknown(s.unknownTokens)
		p.close('}')
	}
	p.counts("tools", s.Tools)
	p.unknown(s.unknown)
	p.closeLine('}')
}

func (p *printer) counts(name string, m map[string]int) {
	if len(m) == 0 {
		return
	}
	p.name(name)
	p.open('{')
	for _, key := range slices.Sorted(maps.Keys(m)) {
		p.name(key)
		p.number(int64(m[key]))
	}
	p.close('}')
}

// messageMember names the member of a request body that holds the message list in a wire format.
func messageMember(format string) string {
	if f, ok := wire.ByName(format); ok {
		return f.Layout().Messages
	}
	return ""
}

// equalButForTimes reports whether two files tell of the same run: they differ in nothing but times, which the cuts of
// chunks count as, and in who recorded.
func equalButForTimes(a, b *File) bool {
	pa, pb := &printer{timeless: true, beside: blobs{}}, &printer{timeless: true, beside: blobs{}}
	a.encode(pa)
	b.encode(pb)
	return bytes.Equal(pa.buf, pb.buf)
}
