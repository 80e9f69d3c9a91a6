package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mixtape-go/mixtape/core/redact"
)

//region check

// exposed returns the files below dir that hold what the rules would hide.
func exposed(dir string, rules ...redact.Rule) (files []string, err error) {
	r, err := redact.New(append(redact.Default(), rules...)...)
	if err != nil {
		return nil, err
	}
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(r.Body("", b), b) {
			files = append(files, path)
		}
		return err
	})
}

//endregion

func TestExposed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("good.json", `{"text":"email-q7ka@redacted.invalid and <credential>"}`)
	write("good.jsonl", `{"format":"mixtape/1"}`+"\n"+`{"kind":"tool"}`+"\n")
	bad := []string{
		write("bad.json", `{"text":"sk-`+`proj-Zx81mQ4tLw0vB7nRk2Yc6uHs"}`),
		write("bad.jsonl", `{"format":"mixtape/1"}`+"\n"+`{"text":"CUST-123456"}`+"\n"),
	}
	got, err := exposed(dir, redact.Value("CUST-123456"))
	if err != nil || !slices.Equal(got, bad) {
		t.Errorf("%q, %v", got, err)
	}
	for _, folder := range []string{"../examples/triage/testdata", "../examples/plain/testdata", "../cassette/testdata/golden"} {
		if got, err := exposed(folder); err != nil || len(got) > 0 {
			t.Errorf("%s: %q, %v", folder, got, err)
		}
	}
}
