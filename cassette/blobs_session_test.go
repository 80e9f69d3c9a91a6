package cassette_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// picture returns n bytes that are the same for the same seed.
func picture(n int, seed byte) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// blobsIn returns the names of the files in the folder of blobs.
func blobsIn(t *testing.T, dir, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestBigBytesStandOnce sends pictures in every place, in each turn of a conversation, and counts what stands on disk.
func TestBigBytesStandOnce(t *testing.T) {
	photo, chart, sound := picture(200_000, 1), picture(100_000, 2), picture(150_000, 3)
	n := &network{answer: func(req *http.Request, body string) (*http.Response, error) {
		switch {
		case strings.HasSuffix(req.URL.Path, "/raw"):
			return response(200, "image/png", photo), nil
		case strings.Contains(body, `"stream":true`):
			return response(200, "text/event-stream", "data: {\"b64\":\""+base64Of(chart)+"\"}\n\ndata: [DONE]\n\n"), nil
		}
		return response(200, "application/json", `{"choices":[{"message":{"content":"ok","audio":{"data":"`+base64Of(sound)+`"}}}]}`), nil
	}}
	image := func(s string) string {
		return `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64Of(s) + `"}}]}`
	}
	for _, name := range []string{"a.json", "a.jsonl"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var seen [][]string
			for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay, cassette.Extend} {
				f := newT(t, "Test"+mode.String())
				s := cassette.Use(f, name, cassette.Dir(dir), mode)
				ctx, client := s.Context(t.Context()), core.Instrument(&http.Client{Transport: n})
				var got []string
				for turn := 1; turn <= 5; turn++ {
					got = append(got, post(t, ctx, client, provider+"/v1/chat/completions", `{"model":"m","messages":[`+strings.Repeat(image(photo)+",", turn)+image(chart)+`]}`))
				}
				got = append(got, post(t, ctx, client, provider+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`))
				got = append(got, post(t, ctx, client, "https://tools.bigcorp.io/raw", photo))
				tool := core.Tool("draw", func(_ context.Context, in map[string][]byte) (map[string][]byte, error) { return in, nil })
				out, err := tool(ctx, map[string][]byte{"of": []byte(chart)})
				got = append(got, string(out["of"]), fmt.Sprint(err))
				seen = append(seen, got)
				f.end().wantPass()
			}
			for i, got := range seen[1:] {
				if !slices.Equal(got, seen[0]) {
					t.Errorf("pass %d sees other bytes", i+2)
				}
			}
			if text := read(t, dir, name); len(text) > 20_000 {
				t.Errorf("the file has %d bytes", len(text))
			}
			if names := blobsIn(t, dir, "a.blobs"); len(names) != 3 {
				t.Errorf("%d blobs for three pictures", len(names))
			}

			// Another picture is another request, and its bytes are not shown.
			f := newT(t, "TestMisses")
			s := cassette.Use(f, name, cassette.Dir(dir), cassette.Replay)
			_, err := tryPost(s.Context(t.Context()), unreachable(t).client(), provider+"/v1/chat/completions", `{"model":"m","messages":[`+image(sound)+`,`+image(chart)+`]}`)
			f.end().wantError("$.messages[0].content[0].image_url.url", "<blob ")
			if err == nil || len(f.errorText()) > 2000 {
				t.Errorf("the miss says %d bytes", len(f.errorText()))
			}

			// A file on its own holds all.
			file, err := cassette.Load(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			alone := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(alone, file.Encode(alone), 0o666); err != nil {
				t.Fatal(err)
			}
			again, err := cassette.Load(alone)
			if err != nil {
				t.Fatal(err)
			}
			for i, in := range file.Interactions() {
				if in.HTTP != nil && string(in.HTTP.Request.Bytes) != string(again.Interaction(i).HTTP.Request.Bytes) {
					t.Errorf("interaction %d is another", i+1)
				}
			}
		})
	}
}

// TestBlobsOnDisk records anew, fails, and finds blobs that are not what they were.
func TestBlobsOnDisk(t *testing.T) {
	dir := t.TempDir()
	content := picture(100_000, 1)
	n := &network{answer: func(*http.Request, string) (*http.Response, error) { return response(200, "image/png", content), nil }}
	runs := 0
	use := func(mode cassette.Mode, fails bool) *fakeT {
		runs++
		f := newT(t, fmt.Sprint("TestUse", runs))
		stops(func() {
			s := cassette.Use(stoppingT{f}, "a.json", cassette.Dir(dir), mode)
			resp, err := n.client().Do(get(s.Context(t.Context()), "https://tools.bigcorp.io/picture"))
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		if fails {
			f.fail()
		}
		return f.end()
	}
	use(cassette.Record, false).wantPass()
	first := blobsIn(t, dir, "a.blobs")

	content = picture(100_000, 2)
	_ = use(cassette.Record, true) // fails: the old cassette and what it names stay
	if both := blobsIn(t, dir, "a.blobs"); len(both) != 2 || !slices.Contains(both, first[0]) {
		t.Errorf("after a run that failed there are %q", both)
	}
	use(cassette.Replay, false).wantPass()
	if _, err := cassette.Load(filepath.Join(dir, "a.failed.json")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.failed.json")); err != nil {
		t.Fatal(err)
	}
	content = picture(100_000, 3)
	f := newT(t, "TestAnew")
	s := cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	resp, err := n.client().Do(get(s.Context(t.Context()), "https://tools.bigcorp.io/picture"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	f.end().wantPass()
	third := blobsIn(t, dir, "a.blobs")
	if len(third) != 1 {
		t.Errorf("what nobody names is left: %q", third)
	}

	blob := filepath.Join(dir, "a.blobs", third[0])
	for _, tc := range []struct {
		reason, want string
		damage       func() error
	}{
		{"changed", "not those of the recording", func() error { return os.WriteFile(blob, []byte("x"), 0o666) }},
		{"a folder", "no regular file", func() error { os.Remove(blob); return os.Mkdir(blob, 0o777) }},
		{"missing", "the file is missing", func() error { return os.Remove(blob) }},
		{"a link out of the folder", "no regular file", func() error {
			outside := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(outside, []byte(content), 0o666); err != nil {
				return err
			}
			return os.Symlink(outside, blob)
		}},
	} {
		if err := tc.damage(); err != nil {
			t.Skip(err)
		}
		use(cassette.Replay, false).wantError("interaction 1", "blob a.blobs/"+third[0], tc.want, "restore that file, or record again")
	}

	content = ""
	os.Remove(blob)
	f = newT(t, "TestWithout")
	s = cassette.Use(f, "a.json", cassette.Dir(dir), cassette.Record)
	if resp, err := n.client().Do(get(s.Context(t.Context()), "https://tools.bigcorp.io/picture")); err == nil {
		resp.Body.Close()
	}
	f.end().wantPass()
	wantFiles(t, dir, "a.json")
	if _, err := os.Stat(filepath.Join(dir, "a.blobs")); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestBlobNames has names that lead elsewhere.
func TestBlobNames(t *testing.T) {
	for _, name := range []string{"../../../etc/passwd", "..", "", strings.Repeat("A", 64), strings.Repeat("a", 63), "x/" + strings.Repeat("a", 62)} {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"format":"mixtape/1","interactions":[{"kind":"http","request":{"method":"GET","url":"https://x.io/"},"response":{"status":200,"body":{"blob":%q}}}]}`, name)
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := cassette.Load(filepath.Join(dir, "a.json")); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestBlobsOfTwoForms keeps a.json and a.jsonl in one folder: neither removes what the other names.
func TestBlobsOfTwoForms(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.json", "a.jsonl"} {
		n := &network{answer: func(*http.Request, string) (*http.Response, error) {
			// Bytes in which base64 stands in quotes, as in a form with JSON and a picture.
			return response(200, "application/octet-stream", "\xff\""+base64Of(picture(100_000, byte(i)))+"\""+picture(100_000, byte(i+5))), nil
		}}
		var seen []string
		for _, mode := range []cassette.Mode{cassette.Record, cassette.Replay} {
			f := newT(t, "Test"+name+mode.String())
			s := cassette.Use(f, name, cassette.Dir(dir), mode)
			seen = append(seen, post(t, s.Context(t.Context()), n.client(), "https://tools.bigcorp.io/x", "{}"))
			f.end().wantPass()
		}
		if seen[0] != seen[1] {
			t.Errorf("%s: %d bytes were recorded, %d are replayed", name, len(seen[0]), len(seen[1]))
		}
	}
	for _, name := range []string{"a.json", "a.jsonl"} {
		if _, err := cassette.Load(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
