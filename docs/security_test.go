package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core/redact"
)

//region check

// exposed returns the places in the cassettes below dir that show what the built-in rules or these would hide.
func exposed(dir string, rules ...redact.Rule) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".json" && ext != ".jsonl" {
			return err
		}
		f, err := cassette.Load(path)
		if err != nil {
			return err
		}
		places, err := f.Exposed(rules...)
		for _, place := range places {
			found = append(found, path+": "+place)
		}
		return err
	})
	return found, err
}

func TestCassettesShowNoSecret(t *testing.T) {
	found, err := exposed("../examples/plain/testdata/cassettes")
	if err != nil || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
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
	tool := func(result string) string { return `{"kind":"tool","name":"t","result":"` + result + `"}` }
	write("good.json", `{"format":"mixtape/1","interactions":[`+tool("email-q7ka@redacted.invalid and <credential>")+`]}`)
	write("good.jsonl", `{"format":"mixtape/1"}`+"\n"+tool("x")+"\n")
	bad := []string{
		write("bad.json", `{"format":"mixtape/1","interactions":[`+tool("sk-"+"proj-Zx81mQ4tLw0vB7nRk2Yc6uHs")+`]}`) + ": interaction 1: result",
		write("bad.jsonl", `{"format":"mixtape/1"}`+"\n"+tool("x")+"\n"+tool("CUST-123456")+"\n") + ": interaction 2: result",
	}
	got, err := exposed(dir, redact.Value("CUST-123456"))
	if err != nil || !slices.Equal(got, bad) {
		t.Errorf("%q, %v", got, err)
	}
	for _, folder := range []string{"../examples/triage/testdata/cassettes"} {
		if got, err := exposed(folder); err != nil || len(got) > 0 {
			t.Errorf("%s: %q, %v", folder, got, err)
		}
	}
}
