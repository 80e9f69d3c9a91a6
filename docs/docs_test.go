// Package docs tests the guides: what they show is copied from code that is compiled and run.
package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "copy the code into the guides anew")

// pages are the guides, relative to this folder.
func pages(t *testing.T) []string {
	all, err := filepath.Glob("*.md")
	if err != nil || len(all) == 0 {
		t.Fatalf("no guides are here: %v", err)
	}
	return append(all, "../README.md", "../CONTRIBUTING.md")
}

func read(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// TestBlocks compares each block below a line <!-- from path#region --> with that region of the file, or with the whole
// file when no region is named. A block of Go has to have such a line. A region is what stands between //region name
// and //endregion.
func TestBlocks(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			old := read(t, page)
			fresh, err := copyBlocks(old)
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			if fresh == old {
				return
			}
			if !*update {
				t.Fatalf("%s shows code that was changed since; go test ./docs -update copies it anew", page)
			}
			if err := os.WriteFile(page, []byte(fresh), 0o666); err != nil {
				t.Fatal(err)
			}
		})
	}
}

var mark = regexp.MustCompile(`^<!-- from ([^ #]+)(?:#([^ ]+))? -->$`)

const fence = "```"

// copyBlocks returns page with the marked blocks made anew.
func copyBlocks(page string) (string, error) {
	var out []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		m := mark.FindStringSubmatch(lines[i])
		switch {
		case m == nil && strings.HasPrefix(lines[i], fence+"go"):
			return "", fmt.Errorf("line %d: a block of Go needs a line <!-- from path#region --> above it", i+1)
		case m == nil:
			continue
		case i+1 == len(lines) || !strings.HasPrefix(lines[i+1], fence):
			return "", fmt.Errorf("line %d: no block follows", i+1)
		}
		source, err := region(m[1], m[2])
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, lines[i+1], source, fence)
		for i += 2; i < len(lines) && lines[i] != fence; i++ {
		}
	}
	return strings.Join(out, "\n"), nil
}

// region returns a region of a file, which is given from the root of the repository, without common indentation.
func region(file, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	if name != "" {
		re := regexp.MustCompile(`(?ms)^\s*//region ` + regexp.QuoteMeta(name) + `\n(.*?)^\s*//endregion$`)
		m := re.FindStringSubmatch(text)
		if m == nil {
			return "", fmt.Errorf("%s has no region %s", file, name)
		}
		text = m[1]
	}
	text = strings.Trim(text, "\n")
	for indent := leadingTabs(text); indent > 0; indent-- {
		text = strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n\t", "\n"), "\n")
	}
	return text, nil
}

func leadingTabs(text string) int { return len(text) - len(strings.TrimLeft(text, "\t")) }

var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

// TestLinks checks that what a guide points to in the repository is there.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

var name = regexp.MustCompile(`\b(bus|core|cassette|redact)\.([A-Z]\w*)`)

// TestNames checks that the names of which the guides speak are there.
func TestNames(t *testing.T) {
	known := map[string]map[string]bool{
		"bus": exported(t, "../bus"), "core": exported(t, "../core"),
		"cassette": exported(t, "../cassette"), "redact": exported(t, "../core/redact"),
	}
	for _, page := range pages(t) {
		for _, m := range name.FindAllStringSubmatch(read(t, page), -1) {
			if !known[m[1]][m[2]] {
				t.Errorf("%s: there is no %s", page, m[0])
			}
		}
	}
}

// exported returns the names that the package in dir declares.
func exported(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}
