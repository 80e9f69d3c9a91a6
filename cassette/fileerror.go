package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// FileError says that a cassette cannot be read: which file, where in it, why, and what to do about it.
type FileError struct {
	Path string
	// Line and Column are where the fault begins, both from 1, the column in bytes; 0 when the fault has no one place.
	Line, Column int
	// Interaction is the number of the interaction that the fault is in, from 1; 0 when it is in none.
	Interaction int
	// Remedy is what to do.
	Remedy string
	// Err is the fault. For a file that is not there errors.Is(err, fs.ErrNotExist) holds.
	Err error
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString("cassette " + e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Interaction > 0 {
		fmt.Fprintf(&b, ": interaction %d", e.Interaction)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

func (e *FileError) Unwrap() error { return e.Err }

const (
	remedyRestore = "restore it from version control, or delete it and record again"
	remedyEdit    = "mend it at that place, restore it from version control, or delete it and record again"
	remedyNewer   = "update the module if a later version wrote it, else record it again"
)

// flaw is a fault at an offset of the file, before it is known which file that is.
type flaw struct {
	at          int
	interaction int // from 1; 0 when it is in none
	remedy      string
	err         error
}

// readError makes the error of a file that could not be read at all.
func readError(path string, err error) *FileError {
	e := &FileError{Path: path, Err: err, Remedy: "check its permissions"}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		e.Err = pe.Err // the path stands in Path
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Remedy = "record it first, or check the name"
	}
	return e
}

// locate makes the error of a flaw in the file at path, which holds data.
func (fl *flaw) locate(path string, data []byte) *FileError {
	e := &FileError{Path: path, Interaction: fl.interaction, Remedy: fl.remedy, Err: fl.err}
	var syntax *jsonlex.SyntaxError
	if errors.As(fl.err, &syntax) {
		if at, ok := conflictMarker(data); ok {
			e.Line, e.Column = position(data, at)
			e.Interaction = 0
			e.Err = fmt.Errorf("merge conflict in %s at line %d", path, e.Line)
			e.Remedy = "take one side whole, or record it again: two recordings do not mix"
			return e
		}
		e.Err = errors.New(syntax.Msg)
		if endsAt(data, fl.at) {
			e.Err = fmt.Errorf("the file is cut short: %s", syntax.Msg)
			e.Remedy = remedyRestore
		}
	}
	e.Line, e.Column = position(data, fl.at)
	return e
}

// endsAt reports whether the file ends at an offset, or with the string that begins there.
func endsAt(data []byte, at int) bool {
	rest := bytes.TrimSpace(data[min(at, len(data)):])
	return len(rest) == 0 || rest[0] == '"' && !bytes.ContainsAny(rest[1:], "\"\n")
}

// position returns the line and column of an offset. CRLF ends one line.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	return bytes.Count(before, []byte{'\n'}) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// conflictMarker finds the first line that a merge left behind. No line of a cassette begins so, since line breaks in
// strings are escaped.
func conflictMarker(data []byte) (at int, ok bool) {
	for at < len(data) {
		line := data[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		for _, marker := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
			if bytes.HasPrefix(line, []byte(marker)) {
				return at, true
			}
		}
		at += len(line)
	}
	return 0, false
}
