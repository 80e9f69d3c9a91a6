package redact

import (
	"bytes"
	"mime"
	"net/textproto"
	"strings"
)

// multipartEdits hides the secrets of a body of several parts (RFC 2046), each by its own type. The value of a form's
// field is hidden by its name too. What stands before the first boundary and after the last is text.
func (r *Redactor) multipartEdits(m *Message, boundary string, n *numbers) (edits []edit) {
	b := m.Body
	delimiter := []byte("--" + boundary)
	at := 0
	for part := -1; ; part++ {
		end, next := len(b), -1
		if i := delimiterAt(b[at:], delimiter); i >= 0 {
			end, next = at+i, at+i+len(delimiter)
		}
		if part < 0 {
			edits = append(edits, shift(r.textEdits(b[at:end], textForm), at)...)
		} else {
			edits = append(edits, shift(r.partEdits(m, b[at:end], n.of(part)), at)...)
		}
		if next < 0 {
			return edits
		}
		at = next
	}
}

// delimiterAt returns where a line begins with delimiter, -1 if none does.
func delimiterAt(b, delimiter []byte) int {
	for at := 0; ; {
		i := bytes.Index(b[at:], delimiter)
		if i < 0 {
			return -1
		}
		if at += i; at == 0 || b[at-1] == '\n' {
			return at
		}
		at += len(delimiter)
	}
}

// partEdits hides the secrets of one part of m: the rest of the line of its boundary, its header, and its body.
func (r *Redactor) partEdits(m *Message, b []byte, n *numbers) []edit {
	head := len(b)
	for _, end := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(b, []byte(end)); i >= 0 && i+len(end) < head {
			head = i + len(end)
		}
	}
	var contentType, name string
	for line := range bytes.SplitSeq(b[:head], []byte{'\n'}) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
		switch textproto.CanonicalMIMEHeaderKey(string(key)) {
		case "Content-Type":
			contentType = string(bytes.TrimSpace(value))
			if strings.HasPrefix(strings.ToLower(contentType), "multipart/") {
				contentType = "text/plain" // one level, so that the cost is linear
			}
		case "Content-Disposition":
			if _, params, err := mime.ParseMediaType(string(value)); err == nil {
				name = params["name"]
			}
		}
	}
	edits := r.textEdits(b[:head], textForm)
	body := b[head:]
	if rule := r.fieldRule([]byte(name)); rule != nil {
		value := bytes.TrimSuffix(bytes.TrimSuffix(body, []byte{'\n'}), []byte{'\r'})
		return append(edits, shift(r.wholeEdit(rule, value, textForm), head)...)
	}
	part := Message{ContentType: contentType, Body: body}
	edits = append(edits, shift(r.bodyEdits(&part, n), head)...)
	m.Masked = m.Masked || part.Masked
	return edits
}
