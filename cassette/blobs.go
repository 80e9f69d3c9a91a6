package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A picture is no text to be reviewed, and a conversation sends it in every turn. So bytes of more than minBlob stand in
// files of their own, once, and bodies name them: in place of the base64 in a string stands <blob> with the name.

// minBlob is how many bytes stand in a file of their own: DO NOT CHANGE, since it takes part in the keys of requests.
const minBlob = 64 << 10

const (
	blobOpen  = "<blob "
	blobClose = ">"
	blobName  = 2 * sha256.Size // hexadecimal digits
)

// nameOfBlob returns the name of the file that holds data: its SHA-256.
func nameOfBlob(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// isBlobName reports whether name is what nameOfBlob returns.
func isBlobName(name string) bool {
	return len(name) == blobName && strings.Trim(name, "0123456789abcdef") == ""
}

// minRun is the length of the base64 of more than minBlob bytes.
var minRun = base64.StdEncoding.EncodedLen(minBlob + 1)

// extractBlobs takes the base64 of more than minBlob bytes out of text, where it stands in quotes or after a comma, as in
// a data URL, up to a quote. It gives keep the name and the bytes of each, and returns text itself when there is
// none.
func extractBlobs(text []byte, keep func(name string, data []byte)) []byte {
	if len(text) < minRun || bytes.Contains(text, []byte(blobOpen)) {
		return text // in the second case a mark would not be told from what stood there before
	}
	var out []byte
	done := 0
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			break
		}
		end += at
		if run := text[at:end]; len(run) >= minRun {
			run = run[bytes.LastIndexByte(run, ',')+1:]
			if data, ok := blobOf(run); ok {
				name := nameOfBlob(data)
				keep(name, data)
				out = append(append(out, text[done:end-len(run)]...), blobOpen...)
				out = append(append(out, name...), blobClose...)
				done = end
			}
		}
		at = end + 1
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// blobOf decodes base64 that is to be a blob. ok is false when encoding it again would give something else.
func blobOf(run []byte) (data []byte, ok bool) {
	if len(run) < minRun || len(run)%4 != 0 {
		return nil, false
	}
	data, err := base64.StdEncoding.Strict().AppendDecode(nil, run)
	// The decoder skips line breaks.
	return data, err == nil && len(data) > minBlob && base64.StdEncoding.EncodedLen(len(data)) == len(run)
}

// insertBlobs undoes extractBlobs, up to maxExpanded bytes. Names that read does not know stay.
func insertBlobs(text []byte, read func(name string) (data []byte, ok bool)) []byte {
	var out []byte
	done := 0
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(blobOpen))
		if i < 0 {
			break
		}
		from := at + i
		at = from + len(blobOpen)
		if name, ok := blobNameAt(text[at:]); ok {
			if data, ok := read(name); ok && len(out) < maxExpanded {
				out = base64.StdEncoding.AppendEncode(append(out, text[done:from]...), data)
				done = at + len(name) + len(blobClose)
			}
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// blobNameAt returns the name that b begins with, if the end of a mark follows it.
func blobNameAt(b []byte) (name string, ok bool) {
	if len(b) < blobName+len(blobClose) {
		return "", false
	}
	name = string(b[:blobName])
	return name, isBlobName(name) && bytes.HasPrefix(b[blobName:], []byte(blobClose))
}

// blobs are the bytes that stand beside a cassette, by name.
type blobs map[string][]byte

// read returns the bytes of that name.
func (b blobs) read(name string) ([]byte, bool) {
	data, ok := b[name]
	return data, ok
}

// keep takes data, and returns its name.
func (b blobs) keep(data []byte) string {
	name := nameOfBlob(data)
	b[name] = data
	return name
}

// extract is extractBlobs. It returns the names too, each once, in the order in which they come.
func (b blobs) extract(text []byte) (_ []byte, names []string) {
	text = extractBlobs(text, func(name string, data []byte) {
		b[name] = data
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return text, names
}

// blobName reads the name of a blob.
func (r *reader) blobName(what string) string {
	name := r.text(what)
	if !isBlobName(name) {
		r.fail("%s must be %d hexadecimal digits, not %s", what, blobName, brief(name))
	}
	return name
}

// findBlobs sees to it that the blobs which an interaction mentions are there, and what their names say.
func (f *File) findBlobs(r *reader, rec *record) {
	for _, s := range []*stored{&rec.in, &rec.out} {
		for _, name := range s.blobs {
			if _, ok := f.beside[name]; ok || r.flaw != nil {
				continue
			}
			data, err := f.source(name)
			remedy := "restore that file, or record again"
			switch {
			case errors.Is(err, fs.ErrNotExist):
				err = errors.New("the file is missing")
				remedy += "; a cassette that is renamed has to take the folder along"
			case err == nil && nameOfBlob(data) != name:
				err = fmt.Errorf("the bytes are not those of the recording: their SHA-256 is %s", nameOfBlob(data))
				remedy += "; if git changed its line ends, add the line \"*.blobs/** -text\" to .gitattributes"
			}
			if err != nil {
				r.failAt(s.blobsAt, remedy, fmt.Errorf("blob %s/%s: %w", blobFolder(filepath.Base(f.path)), name, err))
			}
			f.beside[name] = data
		}
		if size := s.expanded(f.beside); size > maxExpanded {
			r.failAt(s.blobsAt, remedyEdit, fmt.Errorf("the blobs that a body mentions make it %d bytes long; the most is %d", size, int64(maxExpanded)))
		}
	}
}

// maxExpanded bounds the bytes that the blobs of one body come to.
const maxExpanded = 1 << 30

// expanded returns how many bytes the blobs come to that the value mentions, as often as it does.
func (s *stored) expanded(beside blobs) (size int) {
	if len(s.blobs) == 0 || s.form == formBlob {
		return 0
	}
	for rest := s.mentioning(nil); ; {
		i := bytes.Index(rest, []byte(blobOpen))
		if i < 0 {
			break
		}
		rest = rest[i+len(blobOpen):]
		if name, ok := blobNameAt(rest); ok {
			size += base64.StdEncoding.EncodedLen(len(beside[name]))
		}
	}
	return size
}

// blobSource gives the bytes of blobs by their names.
type blobSource func(name string) ([]byte, error)
