package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// minEncoded is how long a string of base64 is, in bytes, that is looked into.
const minEncoded = 32

// base64Edits hides the secrets in a string that is base64, or a data URL of it: a file that a program sends, or reads
// and hands to its model. ok is false when s is something else.
//
// Text is looked through as text. In other bytes only values are overwritten that are known to be secrets.
func (w *walk) base64Edits(next *spot, s []byte) (edits []edit, ok bool) {
	from := 0
	if bytes.HasPrefix(s, []byte("data:")) {
		comma := bytes.IndexByte(s[:min(len(s), 256)], ',')
		if comma < 0 || !bytes.HasSuffix(s[:comma], []byte(";base64")) {
			return nil, false
		}
		from = comma + 1
	}
	encoded := s[from:]
	if len(encoded) < minEncoded || len(encoded)%4 != 0 || run(encoded, 0, b64) != len(encoded) {
		return nil, false
	}
	data, err := base64.StdEncoding.Strict().AppendDecode(nil, encoded)
	if err != nil {
		return nil, false
	}
	if !isProse(data) {
		if len(s) < mediaSize { // too short for a file: it may be a token
			return nil, false
		}
		edits = w.r.binaryEdits(data)
		if len(edits) > 0 && w.masked != nil {
			*w.masked = true
		}
	} else if edits = w.r.stringEdits(data, w.inside(next, data)); len(edits) == 0 {
		return nil, len(s) >= mediaSize
	}
	if len(edits) == 0 {
		return nil, true
	}
	return []edit{{from, len(s), base64.StdEncoding.EncodeToString(apply(data, edits))}}, true
}

// isProse reports whether bytes are text: UTF-8 without control characters but for white space.
func isProse(b []byte) bool {
	for _, c := range b {
		if c < ' ' && !is(c, space) || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(b)
}
