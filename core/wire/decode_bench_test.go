package wire

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkDecodeAnswer(b *testing.B) {
	words := strings.Repeat("some words ", 130)
	for name, body := range map[string]string{
		"openai.chat":        `{"id":"chatcmpl-1","object":"chat.completion","created":1761580000,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"` + words + `","tool_calls":[{"id":"call_1","type":"function","function":{"name":"refund","arguments":"{\"order\":41}"}}],"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":62,"completion_tokens":31,"total_tokens":93}}`,
		"openai.responses":   `{"id":"resp_1","object":"response","status":"completed","error":null,"model":"gpt-5","output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"` + words + `"}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"refund","arguments":"{\"order\":41}"}],"usage":{"input_tokens":62,"output_tokens":31,"total_tokens":93}}`,
		"anthropic.messages": `{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"` + words + `"},{"type":"tool_use","id":"toolu_1","name":"refund","input":{"order":41}}],"stop_reason":"tool_use","usage":{"input_tokens":62,"output_tokens":31}}`,
	} {
		benchmarkDecode(b, name, []byte(body), false)
	}
}

func BenchmarkDecodeStream(b *testing.B) {
	for name, chunk := range map[string]string{
		"openai.chat":        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1761580000,\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n",
		"openai.responses":   "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"word \",\"logprobs\":[]}\n\n",
		"anthropic.messages": "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n",
	} {
		benchmarkDecode(b, name, []byte(strings.Repeat(chunk, 1000)), true)
	}
}

func benchmarkDecode(b *testing.B, name string, body []byte, streamed bool) {
	f, ok := ByName(name)
	if !ok {
		b.Fatal(name)
	}
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.DecodeResponse(body, 200, streamed); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkEnded is for a stream of 1,000 chunks that has ended.
func BenchmarkEnded(b *testing.B) {
	for _, f := range formats() {
		stream := []byte(strings.Repeat(": a comment of the length of a chunk, more or less, so that there is something to skip\ndata: {}\n\n", 1000) +
			answers[f.Name()]("Hi"))
		b.Run(fmt.Sprint(f.Name()), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				if f.Ended(stream) != Terminal {
					b.Fatal("not ended")
				}
			}
		})
	}
}
