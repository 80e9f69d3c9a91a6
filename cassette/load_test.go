package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// BenchmarkLoad reads cassettes of about 20 MB beside one pass of json.Valid, as a File and as a replay reads it.
// "held" is the memory that stays in use, the file's own bytes included, in sizes of the file.
func BenchmarkLoad(b *testing.B) {
	for _, bm := range []struct {
		name string
		data []byte
	}{
		{"calls.json", manyCalls(10_000).Encode("calls.json")},
		{"calls.jsonl", manyCalls(10_000).Encode("calls.jsonl")},
		{"turns.json", longConversation(10_000)},
	} {
		run := func(work string, load func() (held any, err error)) {
			b.Run(bm.name+"/"+work, func(b *testing.B) {
				before := heap()
				held, err := load()
				if err != nil {
					b.Fatal(err)
				}
				size := heap() - before + float64(len(bm.data))
				runtime.KeepAlive(held)
				held = nil
				b.SetBytes(int64(len(bm.data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := load(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(size/float64(len(bm.data)), "held")
			})
		}
		run("Valid", func() (any, error) {
			for value := range bytes.Lines(bm.data) {
				if !strings.HasSuffix(bm.name, "l") {
					value = bm.data
				}
				if !json.Valid(value) {
					return nil, fmt.Errorf("%s is no JSON", bm.name)
				}
				if len(value) == len(bm.data) {
					break
				}
			}
			return nil, nil
		})
		run("Load", func() (any, error) { return decodeFile(bm.name, bm.data) })
		run("Open", func() (any, error) { return tapeOf(bm.data, bm.name, &settings{}) })
	}
}

func heap() float64 {
	var m runtime.MemStats
	for range 2 { // what a finalizer lets go of is freed by the next cycle
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// words is English text without a secret.
func words(n int) string {
	const sentence = "The customer writes that the card was charged twice for order 1042 on Monday, and asks for a refund. "
	return strings.Repeat(sentence, n/len(sentence)+1)[:n]
}

// manyCalls returns n calls of about 2 KB each, a part of them streamed.
func manyCalls(n int) *File {
	f := &File{}
	for i := range n {
		request := fmt.Sprintf(`{"model":"gpt-5","temperature":0.7,"messages":[{"role":"system","content":%q},{"role":"user","content":"%d: %s"}],`+
			`"tools":[{"type":"function","function":{"name":"refund","parameters":{"type":"object","properties":{"order_id":{"type":"integer"}},"required":["order_id"]}}}]}`,
			words(400), i, words(300))
		call := chatCall(request, fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%q},`+
			`"finish_reason":"stop"}],"usage":{"prompt_tokens":171,"completion_tokens":120,"total_tokens":291}}`, i, words(500)))
		if i%10 == 0 {
			call.HTTP.Streamed = true
			call.HTTP.Response.Bytes = []byte(strings.Repeat(`data: {"choices":[{"index":0,"delta":{"content":" words"}}]}`+"\n\n", 10) + "data: [DONE]\n\n")
		}
		f.Append(call)
	}
	return f
}

// longConversation returns a cassette of n turns, each with a message of about 1 KB and an answer of the same length.
func longConversation(n int) []byte {
	var h chainHash
	turns := make([]extending, n)
	for i := range turns {
		message := fmt.Sprintf(`{"role":"user","content":"%d: %s"}`, i, words(900))
		turns[i] = extending{format: "openai.chat", json: `{"model":"gpt-5","messages":[` + message + `]}`, more: `,"start_ms":1`}
		if i == 0 {
			h = firstHash([]byte(message))
			continue
		}
		turns[i].extends = fmt.Sprintf(`{"member":"messages","back":1,"items":%d,"hash":%q}`, i, h)
		h = h.next([]byte(message))
	}
	return cassetteOf(turns...)
}
