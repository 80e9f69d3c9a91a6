package cassette

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// noise returns n bytes that are the same for the same seed.
func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = rng.Read(b)
	return b
}

func TestExtractBlobs(t *testing.T) {
	big, other := noise(minBlob+1, 1), noise(200_000, 2)
	b64 := base64.StdEncoding.EncodeToString
	mark := func(data []byte) string { return blobOpen + nameOfBlob(data) + blobClose }
	for _, tc := range []struct {
		reason, in, want string
		names            int
	}{
		{"a string", `{"data":"` + b64(big) + `"}`, `{"data":"` + mark(big) + `"}`, 1},
		{"a data URL", `{"url":"data:image/png;base64,` + b64(other) + `","x":1}`, `{"url":"data:image/png;base64,` + mark(other) + `","x":1}`, 1},
		{"one twice, and another", `["` + b64(big) + `","` + b64(other) + `","` + b64(big) + `"]`, `["` + mark(big) + `","` + mark(other) + `","` + mark(big) + `"]`, 2},
		{"events", `data: {"b64":"` + b64(big) + `"}` + "\n\n", `data: {"b64":"` + mark(big) + `"}` + "\n\n", 1},
		{"as long as the bound", `"` + b64(noise(minBlob, 3)) + `"`, `"` + b64(noise(minBlob, 3)) + `"`, 0},
		{"the alphabet for URLs", `"` + base64.URLEncoding.EncodeToString(big) + `"`, `"` + base64.URLEncoding.EncodeToString(big) + `"`, 0},
		{"no padding", `"` + base64.RawStdEncoding.EncodeToString(other) + `"`, `"` + base64.RawStdEncoding.EncodeToString(other) + `"`, 0},
		{"line breaks", `"` + b64(big)[:4] + "\r\n\r\n" + b64(big)[4:] + `"`, `"` + b64(big)[:4] + "\r\n\r\n" + b64(big)[4:] + `"`, 0},
		{"an escape in it", `"` + b64(big) + `\n"`, `"` + b64(big) + `\n"`, 0},
		{"bits that decoding drops", `"` + b64(noise(minBlob+2, 4))[:len(b64(noise(minBlob+2, 4)))-2] + `/="`, `"` + b64(noise(minBlob+2, 4))[:len(b64(noise(minBlob+2, 4)))-2] + `/="`, 0},
		{"prose", `"` + strings.Repeat("words, ", 20_000) + `"`, `"` + strings.Repeat("words, ", 20_000) + `"`, 0},
		{"a mark that stood there before", `["<blob x>","` + b64(big) + `"]`, `["<blob x>","` + b64(big) + `"]`, 0},
		{"no end", `{"data":"` + b64(big), `{"data":"` + b64(big), 0},
	} {
		kept := blobs{}
		got, names := kept.extract([]byte(tc.in))
		if string(got) != tc.want || len(names) != tc.names || len(kept) != tc.names {
			t.Errorf("%s: %.120q, %d names", tc.reason, got, len(names))
		}
		if back := insertBlobs(got, kept.read); string(back) != tc.in {
			t.Errorf("%s: put back it is %.120q", tc.reason, back)
		}
	}
}

func TestInsertBlobs(t *testing.T) {
	name := strings.Repeat("ab", 32)
	read := func(n string) ([]byte, bool) { return []byte("xyz"), n == name }
	for _, tc := range []struct{ in, want, reason string }{
		{"a<blob " + name + ">b", "aeHl6b", "a name that is known"},
		{"<blob " + strings.Repeat("cd", 32) + ">", "<blob " + strings.Repeat("cd", 32) + ">", "a name that is not"},
		{"<blob ../../etc/passwd>", "<blob ../../etc/passwd>", "no name"},
		{"<blob " + strings.ToUpper(name) + ">", "<blob " + strings.ToUpper(name) + ">", "upper case"},
		{"<blob " + name, "<blob " + name, "no end"},
		{"<blob <blob " + name + ">", "<blob eHl6", "a beginning before it"},
	} {
		if got := insertBlobs([]byte(tc.in), read); string(got) != tc.want {
			t.Errorf("%s: %q became %q", tc.reason, tc.in, got)
		}
	}
}

func FuzzBlobs(f *testing.F) {
	f.Add([]byte(`{"a":"`), uint64(1), []byte(`","b":2}`))
	f.Add([]byte(`<blob `), uint64(70_000), []byte(`>"`))
	f.Fuzz(func(t *testing.T, before []byte, seed uint64, after []byte) {
		text := base64.StdEncoding.AppendEncode(bytes.Clone(before), noise(60_000+int(seed%20_000), seed))
		text = append(text, after...)
		kept := blobs{}
		got, _ := kept.extract(text)
		if len(kept) == 0 {
			return
		}
		if !bytes.Equal(insertBlobs(got, kept.read), text) {
			t.Fatalf("%.100q came back otherwise", text)
		}
	})
}
