package wire_test

import (
	"fmt"
	"net/url"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/core/wire"
)

func ExampleDetect() {
	u, err := url.Parse("http://127.0.0.1:8080/proxy/v1/messages")
	if err != nil {
		fmt.Println(err)
		return
	}
	request := []byte(`{"model":"claude-haiku-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hi"}]}`)
	d, ok := wire.Detect("POST", u, request)
	fmt.Println(ok, d.Format.Name(), d.Provider, d.Model, d.Streamed)

	answer := []byte(`{"id":"msg_1","content":[{"type":"text","text":"Hello."},` +
		`{"type":"tool_use","id":"toolu_1","name":"greet","input":{"times":1}}],` +
		`"stop_reason":"tool_use","usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":9}}`)
	r, err := d.Format.DecodeResponse(answer, 200, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, part := range r.Messages[0].Parts {
		switch part := part.(type) {
		case bus.TextPart:
			fmt.Println("text:", part.Content)
		case bus.ToolCallPart:
			fmt.Printf("call: %s %s\n", part.Name, part.Arguments)
		default:
			fmt.Printf("%T\n", part)
		}
	}
	fmt.Println("input tokens:", r.Usage.Input)
	// Output:
	// true anthropic.messages anthropic claude-haiku-4-5 false
	// text: Hello.
	// call: greet {"times":1}
	// input tokens: 43
}
