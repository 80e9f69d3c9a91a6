package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

var textSeeds = []string{
	"mail alice@corp.com, call (415) 555-2671 or +44 20 7183 8750, card 4539 5787 6362 1486",
	"postgres://bob:hunter2@db.corp.com/x?password=foo Bearer abc.def-ghi_123 sk-ABCDEFGH12345678",
	"email-q7ka@redacted.invalid@b.co <email:q7ka> redacted-q7ka <credential> key0123456789abcdef",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln AKIAIOSFODNN7EXAMPLE data:image/png;base64,iVBORw0KGgo=",
	`{"api_key":"abc","in":"{\"password\":\"p\\\"w\"}","t":"x\u00e9 alice@corp.com \ud83d\ude00"}`,
	"https://x.corp.com/a%40b.co?q=alice%40corp.com&token=%7B%22a%22%3A1%7D#access_token=zz",
}

// fuzzed returns a Redactor with rules of every kind.
func fuzzed(t testing.TB) *Redactor {
	r := newDefault(t,
		Pattern("order", regexp.MustCompile(`ORD-(\d+)`)),
		Pattern("odd", regexp.MustCompile(`q*`)),
		Value("hush", "a long value, with spaces"),
		Field("ssn"),
		Path("$.user.name", "$.rows[*]"),
	)
	r.Credential("key0123456789abcdef")
	return r
}

func FuzzString(f *testing.F) {
	for _, s := range textSeeds {
		f.Add(s)
	}
	r := fuzzed(f)
	f.Fuzz(func(t *testing.T, s string) {
		once := r.String(s)
		if twice := r.String(once); twice != once {
			t.Fatalf("not idempotent:\n  text %q\n  once %q\n twice %q", s, once, twice)
		}
		if u := r.URL(s); r.URL(u) != u {
			t.Fatalf("URL is not idempotent:\n  text %q\n  once %q\n twice %q", s, u, r.URL(u))
		}
		r.AppendFingerprinted(nil, []byte(s))
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range textSeeds {
		b, _ := json.Marshal(map[string]any{"text": s, "rows": []string{s}, "user": map[string]string{"name": s}, "ssn": s})
		f.Add(b)
		f.Add([]byte(s))
	}
	r := fuzzed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		once := r.JSON(b)
		if !bytes.Equal(b, before) {
			t.Fatal("the input was changed")
		}
		if jsonlex.Valid(b) {
			sameSkeleton(t, b, once)
		}
		if twice := r.JSON(once); !bytes.Equal(twice, once) {
			t.Fatalf("not idempotent:\n  text %q\n  once %q\n twice %q", b, once, twice)
		}
	})
}

func FuzzBody(f *testing.F) {
	for i, s := range textSeeds {
		f.Add("text/event-stream", []byte("event: x\ndata: "+s+"\n\n"))
		f.Add([]string{"", "application/x-www-form-urlencoded", "application/json"}[i%3], []byte(s))
	}
	r := fuzzed(f)
	f.Fuzz(func(t *testing.T, contentType string, b []byte) {
		once := r.Body(contentType, b)
		if twice := r.Body(contentType, once); !bytes.Equal(twice, once) {
			t.Fatalf("not idempotent as %q:\n  text %q\n  once %q\n twice %q", contentType, b, once, twice)
		}
	})
}

// sameSkeleton checks that after is valid JSON and differs from before inside strings only.
func sameSkeleton(t *testing.T, before, after []byte) {
	t.Helper()
	x, y := jsonlex.New(before), jsonlex.New(after)
	endX, endY := 0, 0
	for {
		kx, ky := x.Next(), y.Next()
		if kx != ky {
			t.Fatalf("token %v became %v (%v):\nbefore %q\n after %q", kx, ky, y.Err(), before, after)
		}
		fromX, toX := x.Span()
		fromY, toY := y.Span()
		if !bytes.Equal(before[endX:fromX], after[endY:fromY]) {
			t.Fatalf("the bytes between tokens changed:\nbefore %q\n after %q", before, after)
		}
		endX, endY = toX, toY
		if kx != jsonlex.String && kx != jsonlex.Name && !bytes.Equal(x.Raw(), y.Raw()) {
			t.Fatalf("%q became %q", x.Raw(), y.Raw())
		}
		if kx == jsonlex.End {
			return
		}
	}
}
