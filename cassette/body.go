package cassette

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// form is how bytes stand in a file. The form is written down and never guessed.
type form string

const (
	formNone   form = ""
	formJSON   form = "json"
	formText   form = "text"
	formBase64 form = "base64"
	formEvents form = "events" // of streams only
	formBlob   form = "blob"
)

// stored is a body as it stands in a file, checked but not yet decoded.
type stored struct {
	form    form
	raw     []byte // the value of the member that form names
	at      int    // its offset in the file
	layout  layout // of the JSON, or of the JSON in the events
	depths  int    // how deep the tokens of the JSON stand in it, summed up
	framing framing
	extends *extends
	// times and cuts are those of the chunks that a stream came in.
	times, cuts []int64
	blobs       []string // names of those that the value mentions
	blobsAt     int      // the offset of their names in the file
	beside      blobs    // of the file
	encoding    string
	length      int // before the content encoding was undone
	unknown     []rawMember
}

// value is bytes in the form that gives them back.
type value struct {
	form   form
	layout layout // of JSON
	text   []byte // compact for JSON, the name for a blob, else the bytes themselves
}

// valueOf chooses the form of b, and puts large bytes beside the file. It returns too the names of those that the value
// mentions.
func (p *printer) valueOf(b []byte) (v value, names []string) {
	if p.beside == nil {
		return valueOf(b), nil
	}
	if len(b) > minBlob && !utf8.Valid(b) {
		return value{formBlob, compact, []byte(p.beside.keep(b))}, nil
	}
	b, names = p.beside.extract(b)
	return valueOf(b), names
}

// valueOf chooses the first form that gives b back, byte for byte.
func valueOf(b []byte) value {
	if l, text, ok := layoutOf(b); ok {
		return value{formJSON, l, text}
	}
	if utf8.Valid(b) {
		return value{formText, compact, b}
	}
	return value{formBase64, compact, b}
}

// value writes v as the members that names says.
func (p *printer) value(v value, names *valueNames, mentions []string) {
	defer p.textsMember(names.blobs, mentions)
	switch v.form {
	case formBlob:
		p.name(names.blob)
		p.text(string(v.text))
	case formJSON:
		p.name(names.json)
		p.json(v.text)
		if v.layout != compact {
			p.textMember(names.layout, v.layout.String())
		}
	case formText:
		p.name(names.text)
		p.text(string(v.text))
	default:
		p.name(names.base64)
		p.base64(v.text)
	}
}

// valueNames are the members that one value may stand in.
type valueNames struct{ json, layout, text, base64, blob, blobs string }

// memberNames are the names for a value that stands in a member of its own, as a tool's arguments do: as JSON under
// the plain name.
func memberNames(name string) valueNames {
	return valueNames{
		json: name, layout: name + "_layout", text: name + "_text", base64: name + "_base64",
		blob: name + "_blob", blobs: name + "_blobs",
	}
}

var (
	bodyNames      = valueNames{json: "json", layout: "layout", text: "text", base64: "base64", blob: "blob", blobs: "blobs"}
	argumentsNames = memberNames("arguments")
	requestNames   = memberNames(requestName)
	resultNames    = memberNames(resultName)
)

// body writes the member "body" of a request or an answer. Refs, if not nil, shares the message list of a request in
// that wire format.
func (p *printer) body(b Body, format string, refs *references) {
	if len(b.Bytes) == 0 && b.Encoding == "" && b.WireLength == 0 && b.unknown == nil {
		return
	}
	p.name("body")
	p.open('{')
	v, mentions := p.valueOf(b.Bytes)
	if refs != nil && v.form == formJSON {
		v.text = p.share(v.text, format, refs)
	}
	p.value(v, &bodyNames, mentions)
	p.encoding(b)
	p.close('}')
}

// encoding writes the members of a body that say what its content encoding was, and those that are not known.
func (p *printer) encoding(b Body) {
	p.textMember("encoding", b.Encoding)
	p.numberMember("wire_length", int64(b.WireLength))
	p.unknown(b.unknown)
}

// body reads what printer.body wrote.
func (r *reader) body(what string) (s stored) {
	s.layout = compact
	at := r.offset()
	for name := range r.members(what) {
		switch {
		case r.value(&s, &bodyNames, what, name):
		case r.encoding(&s, what, name):
		case name == "extends":
			s.extends = r.extends(what + ".extends")
		default:
			r.unknown(&s.unknown)
		}
	}
	switch {
	case s.form == formNone && s.unknown != nil:
		r.failAt(at, remedyNewer, fmt.Errorf("%s holds nothing that this version can read", what))
	case s.extends != nil && s.form != formJSON:
		r.failAt(at, remedyEdit, fmt.Errorf("%s has \"extends\" and no \"json\"", what))
	}
	return s
}

// value reads a member if it is one of those that a value stands in.
func (r *reader) value(s *stored, names *valueNames, what, name string) bool {
	var f form
	switch name {
	case names.json:
		f = formJSON
		r.peek()
		s.at = r.offset()
		s.raw = r.raw()
		s.depths = r.depths
	case names.text:
		f = formText
		r.peek()
		s.raw = r.s.Raw()
		r.string(what + "." + name)
	case names.base64:
		f = formBase64
		r.peek()
		s.raw = r.s.Raw()
		r.base64(what + "." + name)
	case names.blob:
		f = formBlob
		s.blobs = []string{r.blobName(what + "." + name)}
		s.blobsAt = r.offset()
	case names.blobs:
		for range r.items(what + "." + name) {
			s.blobs = append(s.blobs, r.blobName(what+"."+name))
			s.blobsAt = r.offset()
		}
		return true
	case names.layout:
		word := r.text(what + "." + name)
		l, ok := layoutByName(word)
		if !ok {
			r.failAt(r.offset(), remedyNewer, fmt.Errorf("%s.%s is none that this version knows: %s", what, name, brief(word)))
		}
		s.layout = l
		return true
	default:
		return false
	}
	r.setForm(s, what, f)
	return true
}

// setForm notes the form of a value, which can have one only.
func (r *reader) setForm(s *stored, what string, f form) {
	if s.form != formNone {
		r.fail("%s stands in two forms, %s and %s", what, s.form, f)
	}
	s.form = f
}

// encoding reads a member if it is one of those that printer.encoding writes.
func (r *reader) encoding(s *stored, what, name string) bool {
	switch name {
	case "encoding":
		s.encoding = r.text(what + ".encoding")
	case "wire_length":
		s.length = int(r.number(what+".wire_length", math.MaxInt32))
	default:
		return false
	}
	return true
}

// decode returns the bytes, nil only when nothing stands in the file. prefix is what the message list of an extending body begins with.
func (s *stored) decode(prefix []byte) []byte {
	b := s.mentioning(prefix)
	if len(s.blobs) == 0 || s.form == formBlob {
		return b
	}
	named := make(map[string]bool, len(s.blobs))
	for _, name := range s.blobs {
		named[name] = true
	}
	return insertBlobs(b, func(name string) ([]byte, bool) {
		if !named[name] {
			return nil, false
		}
		return s.beside.read(name)
	})
}

// mentioning is decode with the names of blobs in place of these.
func (s *stored) mentioning(prefix []byte) []byte {
	switch s.form {
	case formBlob:
		return bytes.Clone(s.beside[s.blobs[0]])
	case formJSON:
		text := s.raw
		if s.extends != nil {
			text = s.extends.join(text, prefix)
		}
		return s.layout.append(nil, text)
	case formText:
		return jsonlex.AppendUnquoted([]byte{}, s.raw)
	case formBase64:
		return newReader(s.raw, s.at).base64("base64")
	case formEvents:
		return s.framing.append(nil, newReader(s.raw, s.at))
	}
	return nil
}
