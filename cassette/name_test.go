package cassette

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestGivenName(t *testing.T) {
	for _, tt := range []struct{ name, want, reason string }{
		{"triage.json", "triage.json", "as it stands"},
		{"triage.jsonl", "triage.jsonl", "the other format"},
		{"triage", "triage.json", "no extension"},
		{"triage.v2", "triage.v2.json", "a dot makes no extension"},
		{"gpt-4.1", "gpt-4.1.json", "nor here"},
		{"Refund/German customer", "Refund/German customer.json", "folders, capitals and spaces are the user's choice"},
		{"a/b/c.jsonl", "a/b/c.jsonl", "deeper"},
		{"退款/été", "退款/été.json", "every script"},
		{"..a/b..c", "..a/b..c.json", "dots that are no element"},
		{".hidden", ".hidden.json", "hidden files are allowed"},
		{"console/com10/lpt", "console/com10/lpt.json", "no devices, though they begin like some"},
		{"failed", "failed.json", "a word is no suffix"},
		{"triage.blobs", "triage.blobs.json", "a file is no folder"},
		{strings.Repeat("x", 195), strings.Repeat("x", 195) + ".json", "as long as may be"},
		{strings.Repeat("x", 200) + "/" + strings.Repeat("y", 195) + ".json", strings.Repeat("x", 200) + "/" + strings.Repeat("y", 195) + ".json", "element by element"},
	} {
		got, err := fileName(tt.name, "TestIgnored")
		if err != nil || got != tt.want {
			t.Errorf("%s: %q gives %q, %v; want %q", tt.reason, tt.name, got, err, tt.want)
		}
	}
}

func TestGivenNameRefused(t *testing.T) {
	for _, tt := range []struct{ name, err, reason string }{
		{"../x", `element ".."`, "leads out"},
		{"a/../../x", `element ".."`, "leads out later"},
		{"a/../b", `element ".."`, "stays inside, and is refused all the same"},
		{"./x", `element "."`, "two spellings of one file"},
		{"/etc/passwd", "is absolute", "absolute"},
		{`C:\x`, "backslash", "absolute on Windows"},
		{"C:x", `holds ':'`, "a drive"},
		{"x:stream", `holds ':'`, "a stream of a file on Windows"},
		{`a\b`, "backslash", "a folder on one system, a character on another"},
		{"a//b", "empty element", "two spellings of one file"},
		{"a/", "empty element", "a folder"},
		{"/", "is absolute", "no name"},
		{".json", "extension only", "no name"},
		{"a/.jsonl", "extension only", "no name"},
		{"a\x00b", `holds '\x00'`, "NUL"},
		{"a\nb", `holds '\n'`, "control character"},
		{"a\u202eb", `holds '\u202e'`, "shown in another order than it is"},
		{"a\xffb", "UTF-8", "what Windows and macOS cannot write"},
		{"what?", `holds '?'`, "Windows"},
		{"a*", `holds '*'`, "Windows"},
		{`say "hi"`, `holds '"'`, "Windows"},
		{"a<b>|c", `holds '<'`, "Windows"},
		{"a./b", "ends with a dot", "Windows drops it"},
		{"a ", "ends with a dot or a space", "Windows drops it"},
		{"CON", `"CON", which is a device`, "a device"},
		{"a/nul.json", "is a device", "whatever the extension"},
		{"aux.tar.x", "is a device", "whatever the extensions"},
		{"prn .json", "is a device", "and spaces"},
		{"Com1/x", "is a device", "as a folder"},
		{"lpt³", "is a device", "superscript digits count"},
		{"conin$", "is a device", "the console"},
		{"x.yaml", ".json (for reading) or .jsonl", "another tool's format"},
		{"x.YML", ".json (for reading) or .jsonl", "in capitals"},
		{"x.ndjson", ".jsonl (one interaction a line)", "another name of the format"},
		{"x.JSON", "lower case", "the same file on some systems only"},
		{"x.failed.json", "does not end with .failed", "another cassette's recording"},
		{"x.Conflict", "does not end with .Conflict", "in capitals too"},
		{"x.blobs/y", `lies in "x.blobs"`, "another cassette's binary parts"},
		{strings.Repeat("x", 196), "has an element of 201 bytes, its extension included; make it at most 200", "no room for suffixes"},
		{strings.Repeat("x", 201) + "/y", "has an element of 201 bytes", "a folder too"},
	} {
		got, err := fileName(tt.name, "TestIgnored")
		if err == nil {
			t.Errorf("%s: %q gives %q", tt.reason, tt.name, got)
			continue
		}
		if !strings.HasPrefix(err.Error(), "cassette: the name ") || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q gives the error %q, want one with %q", tt.reason, tt.name, err, tt.err)
		}
		if strings.ContainsAny(err.Error(), "\x00\n\u202e") {
			t.Errorf("%s: the error shows the character itself: %q", tt.reason, err)
		}
	}
	if _, err := fileName("", ""); err == nil || !strings.Contains(err.Error(), "give it a name") {
		t.Errorf("no name and no test: %v", err)
	}
	if _, err := fileName(strings.Repeat("x", 1<<20), ""); err == nil || len(err.Error()) > 500 {
		t.Error("a huge name is not refused in few words")
	}
}

func TestEscapeTestName(t *testing.T) {
	for _, tt := range []struct{ name, want, reason string }{
		{"TestTriage", "_test_triage.json", "capitals"},
		{"TestRefund/gpt-4.1_Mini", "_test_refund/gpt-4.1___mini.json", "the example of the comment"},
		{"TestA/a-b", "_test_a/a-b.json", "a hyphen"},
		{"TestA/a_b", "_test_a/a__b.json", "an underscore"},
		{"TestA/a/b", "_test_a/a/b.json", "a folder"},
		{"TestA/../x", "_test_a/~2e~2e/x.json", "never out of the folder"},
		{"TestA//x", "_test_a/~/x.json", "an empty element"},
		{"TestA/", "_test_a/~.json", "the same at the end"},
		{"/", "~/~.json", "nothing else"},
		{"TestA/CON", "_test_a/_c_o_n.json", "no device any more"},
		{"TestA/con", "_test_a/~63on.json", "a device"},
		{"TestA/nul.1", "_test_a/~6eul.1.json", "whatever follows the dot"},
		{"TestA/com7", "_test_a/~63om7.json", "a port"},
		{"TestA/x.", "_test_a/x~2e.json", "Windows drops a last dot"},
		{"TestA/x.json", "_test_a/x~2ejson.json", "no folder looks like a file"},
		{"TestA/x.failed", "_test_a/x~2efailed.json", "nor a test like another's recording"},
		{"TestA/.5", "_test_a/~2e5.json", "no hidden files"},
		{"TestA/-rf", "_test_a/~2drf.json", "no flags"},
		{"TestA/a#01", "_test_a/a~2301.json", "the testing package's own suffix"},
		{"TestA/[:?", "_test_a/~5b~3a~3f.json", "what breaks a clone on Windows"},
		{"TestA/é", "_test_a/~c3~a9.json", "two spellings on macOS"},
		{"TestA/\xff\x00", "_test_a/~ff~00.json", "no text at all"},
		{"TestA/x=1,y=+2@z", "_test_a/x=1,y=+2@z.json", "safe everywhere"},
		{"TestA/~2e", "_test_a/~7e2e.json", "an escape in the name itself"},
		{"T/" + strings.Repeat("a", 100), "_t/" + strings.Repeat("a", 100) + ".json", "as long as may be"},
		{"T/" + strings.Repeat("a", 101), "_t/" + strings.Repeat("a", 66) + "~~9d0793397991b57a99a07c6e6b4a92ba.json", "too long"},
	} {
		got, err := fileName("", tt.name)
		if err != nil || got != tt.want {
			t.Errorf("%s: %q gives %q, %v; want %q", tt.reason, tt.name, got, err, tt.want)
		}
	}
}

// awkward are names of tests that look like each other, or like what they are escaped to.
var awkward = []string{
	"a/b", "a-b", "a_b", "a__b", "a b", "A-b", "a-B", "A_B", "_a__b", "a~b", "a~5fb", "a~", "~", "~~", "~/~", "/", "//", "///", "a/", "/a", "a//b",
	"..", "../x", ".", "./x", "x/.", "x/..", "con", "CON", "Con", "~63on", "con.1", "con.x", "com1", "COM1", "com¹",
	"a.", "a ", "a.1", "a.b", "a.json", "a.jsonl", "a.json/b", "a.failed", "a.failed.json", "a.conflict", "a.blobs", "a.blobs/b", "a",
	"é", "e\u0301", "É", "ß", "SS", "ss", "ſs", "K", "K", "k", "İ", "i\u0307", "i", "ı", "I", "\x00", "\xff", "\xfe", "\ufffd",
	"a[:?", "a[:*", `a\b`, `a"b`, "-", "--", "=", "a=b",
	strings.Repeat("a", 99), strings.Repeat("a", 100), strings.Repeat("a", 101), strings.Repeat("a", 300), strings.Repeat("A", 300),
	strings.Repeat("a", 299) + "b", strings.Repeat("é", 50), strings.Repeat("_", 300), strings.Repeat("~", 300),
	strings.Repeat("a", 300) + "/b", strings.Repeat("a", 300) + "/c", strings.Repeat("a/", 88) + "a", strings.Repeat("a/", 90), strings.Repeat("a/", 300),
	strings.Repeat("a/", 300) + "b", strings.Repeat("/", 300), strings.Repeat(strings.Repeat("x", 99)+"/", 5),
	strings.Repeat("a", 66) + "~~9d0793397991b57a99a07c6e6b4a92ba",
}

// files is all that a test of that name may put into the folder of cassettes.
func files(t *testing.T, testName string) []string {
	t.Helper()
	name, err := fileName("", testName)
	if err != nil {
		t.Fatal(err)
	}
	return []string{name, failedName(name), conflictName(name), blobsName(name)}
}

func checkPortable(t *testing.T, testName string) {
	t.Helper()
	for _, f := range files(t, testName) {
		if !filepath.IsLocal(filepath.FromSlash(f)) || path.Clean(f) != f {
			t.Errorf("%q gives %q, which is not a clean local path", testName, f)
		}
		if f != strings.ToLower(f) || len(f) > maxTestName+len(".conflict.json") {
			t.Errorf("%q gives %q: in capitals or too long", testName, f)
		}
		for e := range strings.SplitSeq(f, "/") {
			if e == "" || len(e) > maxElement || isDevice(e) || strings.HasSuffix(e, ".") || strings.HasPrefix(e, ".") ||
				strings.ContainsFunc(e, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\<>:"|?*`, r) }) {
				t.Errorf("%q gives the element %q", testName, e)
			}
		}
	}
	if name := files(t, testName)[0]; testName != "" {
		if again, err := givenName(name); err != nil || again != name {
			t.Errorf("%q gives %q, which cannot be given as a name: %v", testName, name, err)
		}
	}
}

// checkApart reports what two tests would write to one file, or what is a file of one and a folder of the other.
func checkApart(t *testing.T, a, b string) {
	t.Helper()
	for _, f := range files(t, a) {
		for _, g := range files(t, b) {
			f, g := strings.ToLower(f), strings.ToLower(g)
			if f == g || strings.HasPrefix(f, g+"/") || strings.HasPrefix(g, f+"/") {
				t.Errorf("%q and %q both use %q, %q", a, b, f, g)
			}
		}
	}
}

func TestTestNamesStayApart(t *testing.T) {
	for i, a := range awkward {
		checkPortable(t, a)
		for _, b := range awkward[:i] {
			if a != b {
				checkApart(t, a, b)
			}
		}
	}
}

func FuzzTestName(f *testing.F) {
	for i, a := range awkward {
		f.Add(a, awkward[(i+1)%len(awkward)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" {
			return
		}
		checkPortable(t, a)
		checkPortable(t, b)
		if a != b {
			checkApart(t, a, b)
		}
	})
}

// Whatever is given, it is refused or stays in the folder.
func FuzzGivenName(f *testing.F) {
	for _, s := range awkward {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := fileName(name, "TestX")
		if err != nil || name == "" {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(got)) || path.Clean(got) != got || !strings.HasPrefix(got, name) {
			t.Errorf("%q gives %q", name, got)
		}
		if ext := path.Ext(got); ext != ".json" && ext != ".jsonl" {
			t.Errorf("%q gives the extension %q", name, ext)
		}
		if again, err := fileName(got, ""); err != nil || again != got {
			t.Errorf("%q gives %q, which gives %q, %v", name, got, again, err)
		}
	})
}

func TestSiblings(t *testing.T) {
	for _, tt := range []struct{ name, failed, conflict, blobs string }{
		{"x/triage.json", "x/triage.failed.json", "x/triage.conflict.json", "x/triage.blobs"},
		{"triage.jsonl", "triage.failed.jsonl", "triage.conflict.jsonl", "triage.blobs"},
		{"x.y/gpt-4.1.json", "x.y/gpt-4.1.failed.json", "x.y/gpt-4.1.conflict.json", "x.y/gpt-4.1.blobs"},
	} {
		if got := failedName(tt.name); got != tt.failed {
			t.Errorf("failedName(%q) = %q", tt.name, got)
		}
		if got := conflictName(tt.name); got != tt.conflict {
			t.Errorf("conflictName(%q) = %q", tt.name, got)
		}
		if got := blobsName(tt.name); got != tt.blobs {
			t.Errorf("blobsName(%q) = %q", tt.name, got)
		}
	}
}

func TestPackagePath(t *testing.T) {
	for _, tt := range []struct{ binary, want, reason string }{
		{"example.com/shop/agent.test", "example.com/shop/agent", "a test binary"},
		{"example.com/shop.test.test", "example.com/shop.test", "a package of that name"},
		{"example.com/shop/cmd/agent", "example.com/shop/cmd/agent", "a program"},
		{"command-line-arguments.test", "command-line-arguments", "tests run by file names"},
		{"", "command-line-arguments", "another build tool"},
		{"/abs/x.test", "command-line-arguments", "no import path"},
		{"../x.test", "command-line-arguments", "it would lead out"},
		{"a//b.test", "command-line-arguments", "no clean path"},
	} {
		if got := packageOf(tt.binary); got != tt.want {
			t.Errorf("%s: %q gives %q, want %q", tt.reason, tt.binary, got, tt.want)
		}
	}
	if got := packagePath(); !strings.HasSuffix(got, "/cassette") && got != unknownPackage {
		t.Errorf("this package is %q", got)
	}
}
