package wire

import (
	"bytes"
	"strings"
	"testing"
)

// A stream may break off at any byte. What was decoded until then is the beginning of what the whole says, and it has
// ended no other way.
func TestEveryPrefixOfAStream(t *testing.T) {
	for _, f := range formats() {
		for _, s := range scenarioSections(t, f) {
			if !strings.HasPrefix(s.head, "stream ") {
				continue
			}
			whole, _ := f.DecodeResponse(s.body, 200, true)
			ended := f.Ended(s.body)
			for n := 1; n < len(s.body); n += 5 {
				prefix := s.body[:n]
				part, err := f.DecodeResponse(prefix, 200, true)
				if !strings.HasPrefix(text(whole), text(part)) {
					t.Fatalf("%s, %d bytes: text %q is no beginning of %q", f.Name(), n, text(part), text(whole))
				}
				if got := f.Ended(prefix); got != Unfinished && got != ended {
					t.Fatalf("%s, %d bytes: %s, the whole is %s", f.Name(), n, progressNames[got], progressNames[ended])
				}
				line := prefix[bytes.LastIndexByte(prefix, '\n')+1:]
				if err == nil && bytes.HasPrefix(line, []byte("data:")) {
					t.Fatalf("%s, %d bytes: no problem with a stream cut inside %q", f.Name(), n, line)
				}
			}
		}
	}
}

// lastVerdict reads the end first; that must not show.
func FuzzLastVerdict(f *testing.F) {
	f.Add([]byte("data: t\n\ndata: x\n\ndata: f\n\n\n\n\n\n: c\n\n\ndata: 1"))
	f.Add([]byte("data: t\r\n\r\ndata: \"t\"\n\n\n\n\r\n\n\n"))
	f.Add([]byte("\n\n\n\n\n\n\n\ufeffdata: t\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		verdict := func(e SSEEvent) Progress {
			switch {
			case e.Unterminated:
				return Unfinished
			case bytes.HasPrefix(e.Data, []byte("t")):
				return Terminal
			case bytes.HasPrefix(e.Data, []byte("f")):
				return Failed
			}
			return Unfinished
		}
		want := Unfinished
		for e := range SSEEvents(stream) {
			if p := verdict(e); p != Unfinished {
				want = p
			}
		}
		if got := lastVerdict(stream, verdict); got != want {
			t.Fatalf("got %s, want %s", progressNames[got], progressNames[want])
		}
	})
}
