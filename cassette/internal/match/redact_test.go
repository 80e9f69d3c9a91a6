package match

import (
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/core/redact"
)

// TestRedactionMergesNoTwoRequests checks the whole way: a request is redacted, then its key is computed.
func TestRedactionMergesNoTwoRequests(t *testing.T) {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		t.Fatal(err)
	}
	m := newMatcher(t, Rules{Fingerprint: r.AppendFingerprinted, Credential: redact.CredentialQuery})
	key := func(body string) Hash {
		hidden := chat(t, body)
		hidden.Body = r.Body(hidden.ContentType, hidden.Body)
		if strings.Contains(string(hidden.Body), "corp.io") {
			t.Fatalf("an address was not hidden: %s", hidden.Body)
		}
		again := *hidden
		again.Body = r.Body(hidden.ContentType, hidden.Body)
		k := m.Key(hidden)
		if m.Key(&again) != k {
			t.Errorf("%s has another key once it is redacted again", body)
		}
		return k
	}
	jo := key(`{"messages":[{"content":"write to jo@corp.io <now>"}]}`)
	if key(`{"messages":[{"content":"write to \u006ao@corp.io \u003cnow>"}]}`) != jo {
		t.Error("another spelling has another key")
	}
	if key(`{"messages":[{"content":"write to al@corp.io <now>"}]}`) == jo {
		t.Error("another address has the same key")
	}
	if key(`{"messages":[{"content":"write to jo@corp.io <new>"}]}`) == jo {
		t.Error("another text has the same key")
	}
}

func BenchmarkKeyOfRedacted(b *testing.B) {
	r, err := redact.New(redact.Default()...)
	if err != nil {
		b.Fatal(err)
	}
	m := newMatcher(b, Rules{Fingerprint: r.AppendFingerprinted})
	request := chat(b, conversation(2))
	b.SetBytes(int64(len(request.Body)))
	b.ReportAllocs()
	for b.Loop() {
		m.Key(request)
	}
}
