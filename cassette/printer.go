package cassette

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// printer writes the JSON of a cassette: pretty, a member a line, or compact, for JSON Lines.
type printer struct {
	buf    []byte
	pretty bool
	// timeless leaves out what differs between two recordings of one run: times, and who recorded.
	timeless bool
	// beside takes large bytes, which are to stand beside the file; nil has all stand in it.
	beside blobs
	depth  int
	line   int  // depth of objects and arrays that stand on one line
	first  bool // nothing stands yet in the innermost object or array
}

// open begins an object or an array.
func (p *printer) open(bracket byte) {
	p.buf = append(p.buf, bracket)
	p.depth++
	p.first = true
}

// openLine begins one that stands on one line; closeLine ends it.
func (p *printer) openLine(bracket byte) {
	p.line++
	p.open(bracket)
}

func (p *printer) close(bracket byte) {
	p.depth--
	if !p.first {
		p.breakLine()
	}
	p.buf = append(p.buf, bracket)
	p.first = false
}

func (p *printer) closeLine(bracket byte) {
	p.close(bracket)
	p.line--
}

// sameLine puts the members that write writes on the line of the one before them.
func (p *printer) sameLine(write func()) {
	p.line++
	write()
	p.line--
}

// item begins an element.
func (p *printer) item() {
	if !p.first {
		p.buf = append(p.buf, ',')
		if p.pretty && p.line > 0 {
			p.buf = append(p.buf, ' ')
		}
	}
	p.first = false
	p.breakLine()
}

func (p *printer) breakLine() {
	if p.pretty && p.line == 0 {
		p.buf = append(p.buf, '\n')
		for range p.depth {
			p.buf = append(p.buf, fileIndent...)
		}
	}
}

const fileIndent = "  "

// name begins a member.
func (p *printer) name(name string) { p.rawName(jsonlex.AppendQuoted(nil, []byte(name))) }

func (p *printer) rawName(quoted []byte) {
	p.item()
	p.buf = append(append(p.buf, quoted...), ':')
	if p.pretty {
		p.buf = append(p.buf, ' ')
	}
}

// text writes a string: as it is when it is Unicode text, else as {"base64": …}.
func (p *printer) text(s string) {
	if utf8.ValidString(s) {
		p.buf = jsonlex.AppendQuoted(p.buf, []byte(s))
		return
	}
	p.openLine('{')
	p.name("base64")
	p.base64([]byte(s))
	p.closeLine('}')
}

func (p *printer) base64(b []byte) {
	p.buf = append(p.buf, '"')
	p.buf = base64.StdEncoding.AppendEncode(p.buf, b)
	p.buf = append(p.buf, '"')
}

func (p *printer) number(n int64) { p.buf = strconv.AppendInt(p.buf, n, 10) }

// json writes a JSON value, which must be valid.
func (p *printer) json(text []byte) {
	switch {
	case !p.pretty:
		p.buf = compact.append(p.buf, text)
	case p.line > 0:
		p.buf = spaced.append(p.buf, text)
	default:
		p.buf = indented(fileIndent).appendAt(p.buf, text, p.depth, true)
	}
}

// The methods below write one member and leave it out when it says nothing.

func (p *printer) textMember(name, s string) {
	if s != "" {
		p.name(name)
		p.text(s)
	}
}

func (p *printer) numberMember(name string, n int64) {
	if n > 0 {
		p.name(name)
		p.number(n)
	}
}

func (p *printer) textsMember(name string, list []string) {
	if len(list) == 0 {
		return
	}
	p.name(name)
	p.openLine('[')
	for _, s := range list {
		p.item()
		p.text(s)
	}
	p.closeLine(']')
}

func (p *printer) unknown(members []rawMember) {
	for _, m := range members {
		p.rawName(m.name)
		p.json(m.value)
	}
}
