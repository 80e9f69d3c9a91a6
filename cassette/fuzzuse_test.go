package cassette

import (
	"strings"
	"testing"
)

// A fuzz test's f is refused, its targets' t is not; but what go test -fuzz makes up is not recorded.
func FuzzUse(f *testing.F) {
	err := (&Session{name: f.Name(), t: f}).open("a.json", nil)
	if err == nil || !strings.Contains(err.Error(), "call Use in the function that is given to Fuzz") {
		f.Errorf("Use in a fuzz test says %v", err)
	}
	dir := f.TempDir()
	f.Add("x")
	f.Fuzz(func(t *testing.T, _ string) {
		if isFuzzWorker() { // with -fuzz, every input would record into one file
			err := (&Session{name: t.Name(), t: t}).open("a.json", []Option{Dir(dir)})
			if err == nil || !strings.Contains(err.Error(), "fuzzing does not record") {
				t.Errorf("with -fuzz, Use says %v", err)
			}
			return
		}
		if s := Use(t, "a.json", Dir(dir)); s.Mode() != Record {
			t.Errorf("the mode is %v", s.Mode())
		}
	})
}
