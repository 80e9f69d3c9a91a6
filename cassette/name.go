package cassette

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths of names, in bytes.
const (
	// maxElement bounds an element of a name that the user gave, extension included. File systems take 255; the rest
	// is for what stands beside a cassette, such as .conflict.jsonl and temporary files.
	maxElement = 200
	// maxTestElement and maxTestName bound the names made from t.Name(): a clone on Windows has 260 characters for the
	// whole path.
	maxTestElement = 100
	maxTestName    = 180
)

// fileName returns the path of a cassette's file below the folder of cassettes: slash-separated, local, with the
// extension .json or .jsonl. It is name, checked, with .json added where it has neither; an empty name is made from
// testName, which is t.Name().
//
// A name that is given stays as it is, or is refused: see givenName. One from t.Name() is escaped: see escapeTestName.
func fileName(name, testName string) (string, error) {
	switch {
	case name != "":
		return givenName(name)
	case testName != "":
		return escapeTestName(testName) + ".json", nil
	}
	return "", errors.New("cassette: the cassette has no name and no test to take one from; give it a name")
}

// givenName checks a name so that it means the same file on every system that the project may be cloned to, below the
// folder of cassettes, and none of the files that stand beside another cassette.
func givenName(name string) (string, error) {
	fault := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("cassette: the name %.100q %s", name, fmt.Sprintf(format, args...))
	}
	switch {
	case !utf8.ValidString(name):
		return fault("is not valid UTF-8")
	case strings.HasPrefix(name, "/"):
		return fault("is absolute; names are relative to the folder of cassettes, and Dir puts that elsewhere")
	case strings.Contains(name, `\`):
		return fault(`holds a backslash; folders are separated by "/" on every system`)
	}
	elements := strings.Split(name, "/")
	for _, e := range elements {
		switch {
		case e == "":
			return fault(`has an empty element; write one "/" between folders and none at the end`)
		case e == ".." || e == ".":
			return fault("has an element %q; names stay below the folder of cassettes, and Dir puts that elsewhere", e)
		case strings.HasSuffix(e, ".") || strings.HasSuffix(e, " "):
			return fault("has an element that ends with a dot or a space, which Windows drops; take it off")
		case isDevice(e):
			return fault("has the element %q, which is a device on Windows; choose another", e)
		}
		for _, r := range e {
			if !unicode.IsPrint(r) || strings.ContainsRune(`<>:"|?*`, r) {
				return fault("holds %q, which is not safe in file names on every system; leave it out", r)
			}
		}
	}
	for _, dir := range elements[:len(elements)-1] {
		if strings.EqualFold(path.Ext(dir), ".blobs") {
			return fault("lies in %q, where a cassette keeps its binary parts; choose another folder", dir)
		}
	}

	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".json", ".jsonl":
		if ext != strings.ToLower(ext) {
			return fault("has the extension %q; write it in lower case", ext)
		}
	case ".yaml", ".yml", ".txt", ".toml", ".xml", ".har", ".ndjson", ".jsonc", ".json5", ".gz", ".zip":
		return fault("has the extension %q; cassettes are .json (for reading) or .jsonl (one interaction a line)", ext)
	default:
		name += ".json"
	}
	for e := range strings.SplitSeq(name, "/") {
		if len(e) > maxElement {
			return fault("has an element of %d bytes, its extension included; make it at most %d", len(e), maxElement)
		}
	}
	stem, ext := cutExt(name)
	if path.Base(name) == ext {
		return fault("is an extension only; put a name before it")
	}
	if kind := path.Ext(stem); strings.EqualFold(kind, ".failed") || strings.EqualFold(kind, ".conflict") {
		return fault("is kept for what stands beside a cassette; choose one that does not end with %s", kind)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) { // the system's own opinion, should it know more than the above
		return fault("is not a local path on this system; choose another")
	}
	return name, nil
}

// isDevice reports whether Windows takes a file of that name for a device, whatever its extension.
func isDevice(element string) bool {
	base, _, _ := strings.Cut(element, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	for _, port := range []string{"com", "lpt"} {
		if n, ok := strings.CutPrefix(base, port); ok && utf8.RuneCountInString(n) == 1 && strings.Contains("0123456789¹²³", n) {
			return true
		}
	}
	return false
}

// escapeTestName turns the name of a test into a path without extension that no other test's name gives, be the file
// system case-sensitive or not. A subtest's cassette lies in a folder of its test's name.
//
// Lower-case letters, digits and - = , + @ stand for themselves, and so does a dot before a digit. An upper-case letter
// is _ and the lower-case one, _ is __, any other byte is ~ and two hex digits: TestRefund/gpt-4.1_Mini is
// _test_refund/gpt-4.1___mini. What is too long is cut, and ends with ~~ and a hash of the whole.
func escapeTestName(name string) string {
	elements := strings.Split(name, "/")
	length := -1
	for i, e := range elements {
		elements[i] = escapeElement(e)
		length += 1 + len(elements[i])
	}
	if length <= maxTestName {
		return strings.Join(elements, "/")
	}
	// Too deep: keep the leading folders for which there is room.
	last := hashed("", name)
	kept, length := 0, len(last)
	for length+len(elements[kept])+1 <= maxTestName {
		length += len(elements[kept]) + 1
		kept++
	}
	return strings.Join(append(elements[:kept:kept], last), "/")
}

func escapeElement(e string) string {
	if e == "" {
		return "~"
	}
	var out []byte
	for i := range len(e) {
		c := e[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			out = append(out, c)
		case 'A' <= c && c <= 'Z':
			out = append(out, '_', c+'a'-'A')
		case c == '_':
			out = append(out, '_', '_')
		case i > 0 && strings.IndexByte("-=,+@", c) >= 0: // a leading - would be a flag to many commands
			out = append(out, c)
		case c == '.' && i > 0 && i+1 < len(e) && '0' <= e[i+1] && e[i+1] <= '9':
			// No suffix of a cassette's file begins so, hence no test's folder or file is another's .failed.json or
			// .blobs.
			out = append(out, c)
		default:
			out = fmt.Appendf(out, "~%02x", c)
		}
	}
	s := string(out)
	if isDevice(s) {
		s = fmt.Sprintf("~%02x%s", s[0], s[1:])
	}
	if len(s) > maxTestElement {
		s = hashed(s, e)
	}
	return s
}

// hashed returns as much of prefix as there is room for in an element, and a hash of s. No escape gives its ~~.
func hashed(prefix, s string) string {
	sum := sha256.Sum256([]byte(s))
	tail := "~~" + hex.EncodeToString(sum[:16])
	return prefix[:min(len(prefix), maxTestElement-len(tail))] + tail
}

// failedName is where the recording of a run that failed goes: x/triage.json gives x/triage.failed.json.
func failedName(name string) string { return sibling(name, ".failed") }

// conflictName is where a recording goes when its file was changed meanwhile: x/triage.json gives
// x/triage.conflict.json.
func conflictName(name string) string { return sibling(name, ".conflict") }

// blobsName is the folder of a cassette's blobs: x/triage.json gives x/triage.blobs.
func blobsName(name string) string {
	stem, _ := cutExt(name)
	return stem + blobsExt
}

func sibling(name, kind string) string {
	stem, ext := cutExt(name)
	return stem + kind + ext
}

func cutExt(name string) (stem, ext string) {
	ext = path.Ext(name)
	return strings.TrimSuffix(name, ext), ext
}

// unknownPackage stands for the package path where the binary does not tell it. It is the go command's own word for a
// package that is named by its files.
const unknownPackage = "command-line-arguments"

// packagePath returns the import path of the package under test, slash-separated, for the folder below CASSETTE_DIR
// that holds its cassettes; in a program that is no test, that of its main package. Tests that are run by file names
// (go test x_test.go), or built by something else than the go command, do not know their package: for these it is
// "command-line-arguments".
func packagePath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownPackage
	}
	return packageOf(info.Path)
}

func packageOf(binary string) string {
	p := strings.TrimSuffix(binary, ".test")
	if p == "" || path.Clean(p) != p || !filepath.IsLocal(filepath.FromSlash(p)) {
		return unknownPackage
	}
	return p
}
