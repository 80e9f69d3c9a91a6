package cassette_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/cassette"
	"github.com/mixtape-go/mixtape/core"
)

// prose is English text without a secret.
const prose = "The customer writes that the card was charged twice for order 1042 on Monday, and asks for a refund. "

// requestOf is a chat request of about 2 KB, a third of it tools.
func requestOf(text string) string {
	return `{"model":"gpt-5","temperature":0.7,"messages":[` +
		fmt.Sprintf(`{"role":"system","content":%q},{"role":"user","content":%q}`, strings.Repeat(prose, 8), text+": "+strings.Repeat(prose, 4)) +
		`],"tools":[{"type":"function","function":{"name":"refund","description":"Refund a charge of the customer's card","parameters":{"type":"object",` +
		`"properties":{"order_id":{"type":"integer","description":"The number of the order"},"amount":{"type":"number","minimum":0.5},` +
		`"currency":{"type":"string","enum":["USD","EUR","GBP"]}},"required":["order_id","amount"],"additionalProperties":false}}}]}`
}

// turnsOf is the request of one turn of a conversation: all its messages so far, of about 800 bytes each.
func turnsOf(conversation, turn int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","messages":[`)
	for i := range turn {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"%d.%d %s"}`, conversation, i, strings.Repeat(prose, 8))
	}
	b.WriteString(`]}`)
	return b.String()
}

// stored writes a cassette that holds these requests, and returns its path.
func stored(b *testing.B, requests ...string) string {
	b.Helper()
	var f cassette.File
	for _, r := range requests {
		f.Append(&cassette.Interaction{
			Kind: bus.KindLLM, Provider: "openai", Format: "openai.chat", Operation: "chat", Model: "gpt-5", Ending: bus.EndingComplete,
			HTTP: &cassette.HTTPInteraction{
				Method: http.MethodPost, URL: provider + "/v1/chat/completions", RequestHeader: http.Header{"Content-Type": {"application/json"}},
				Request: cassette.Body{Bytes: []byte(r)}, Status: http.StatusOK, ResponseHeader: http.Header{"Content-Type": {"application/json"}},
				Response: cassette.Body{Bytes: []byte(completion(strings.Repeat(prose, 16)))},
			},
		})
	}
	path := filepath.Join(b.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, f.Encode(path), 0o666); err != nil {
		b.Fatal(err)
	}
	return path
}

// opened returns a replay of the cassette at path, and a transport that it answers.
func opened(b *testing.B, path string) (*cassette.Session, http.RoundTripper) {
	b.Helper()
	s, err := cassette.Open(path, cassette.Replay, cassette.RepeatLast(), cassette.AllowUnused(), cassette.OnBus(bus.New()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s, core.Transport(nil, core.WithBus(s.Bus()))
}

func postOf(body string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, provider+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// BenchmarkReplay asks for 2 KB and reads the answer of 2 KB.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			requests := make([]string, n)
			for i := range requests {
				requests[i] = requestOf(fmt.Sprint("call ", i))
			}
			_, transport := opened(b, stored(b, requests...))
			var answer bytes.Buffer
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				resp, err := transport.RoundTrip(postOf(requests[i%n]))
				if err != nil {
					b.Fatal(err)
				}
				answer.Reset()
				if _, err := answer.ReadFrom(resp.Body); err != nil {
					b.Fatal(err)
				}
				resp.Body.Close()
				i++
			}
		})
	}
}

// BenchmarkMiss finds the nearest recording and says how it differs.
func BenchmarkMiss(b *testing.B) {
	for _, bm := range []struct {
		name     string
		requests func() []string
	}{
		{"10000x2KB", func() (list []string) {
			for i := range 10_000 {
				list = append(list, requestOf(fmt.Sprint("call ", i)))
			}
			return list
		}},
		{"100x50turns", func() (list []string) {
			for i := range 100 {
				for turn := range 50 {
					list = append(list, turnsOf(i, turn+1))
				}
			}
			return list
		}},
		{"10x5MB", func() (list []string) {
			for i := range 10 {
				list = append(list, requestOf(fmt.Sprint(i, strings.Repeat(prose, 5<<20/len(prose)))))
			}
			return list
		}},
		{"10x5MBofmessages", func() (list []string) {
			for i := range 10 {
				list = append(list, turnsOf(i, 5<<20/850))
			}
			return list
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			requests := bm.requests()
			live := strings.Replace(requests[len(requests)/2], "order 1042", "order 1043", 1)
			_, transport := opened(b, stored(b, requests...))
			b.ReportAllocs()
			for b.Loop() {
				_, err := transport.RoundTrip(postOf(live))
				var miss *cassette.MissError
				if !errors.As(err, &miss) || miss.Nearest == 0 || len(miss.Differences) == 0 {
					b.Fatalf("the error is %v", err)
				}
			}
		})
	}
}
