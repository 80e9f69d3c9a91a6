package main

import (
	"bytes"
	"fmt"
	"strings"
)

// address is where all requests go. Nobody is there: every side answers from memory.
const address = "https://api.openai.com/v1/chat/completions"

// Content types of answers.
const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// exchange is a request and its answer, as they pass the wire.
type exchange struct {
	request, answer []byte
	contentType     string // of the answer
}

const toolList = `,"tools":[{"type":"function","function":{"name":"refund","description":"Refund a charge of the customer's card","parameters":{"type":"object",` +
	`"properties":{"order_id":{"type":"integer","description":"The number of the order"},"amount":{"type":"number","minimum":0.5},` +
	`"currency":{"type":"string","enum":["USD","EUR","GBP"]}},"required":["order_id","amount"],"additionalProperties":false}}}]`

// request returns a request of one question, with tools or without.
func request(system, user, tools string) []byte {
	return fmt.Appendf(nil, `{"model":"gpt-5-mini","temperature":0.7,"messages":[{"role":"system","content":%s},{"role":"user","content":%s}]%s}`,
		quote(system), quote(user), tools)
}

// completion returns the answer number n, which says text.
func completion(n int, text string) []byte {
	return fmt.Appendf(nil, `{"id":"chatcmpl-%06d","object":"chat.completion","created":1764547200,"model":"gpt-5-mini","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%s,"refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":512,"completion_tokens":384,"total_tokens":896}}`,
		n, quote(text))
}

// calls returns n different exchanges, each of 2 KB asked and 2 KB answered.
func calls(n int) []exchange { return content{asked: 1500, answered: 1700, tools: toolList}.calls(n) }

// callsWithSecret returns n exchanges like those of calls, each of whose requests has a secret.
func callsWithSecret(n int) []exchange {
	return content{asked: 1500, answered: 1700, tools: toolList, secret: true}.calls(n)
}

// shortCalls returns n exchanges that come to about 2 KB each in a file.
func shortCalls(n int) []exchange { return content{asked: 700, answered: 300}.calls(n) }

// longCall returns one exchange that asks for n bytes.
func longCall(n int) []exchange { return content{asked: n, answered: 300}.calls(1) }

// content is what exchanges hold: bytes of text, half of what is asked in a system message that all share.
type content struct {
	asked, answered int
	tools           string
	secret          bool // in each request
}

func (c content) calls(n int) []exchange {
	system := newWriter(0).text(c.asked / 2)
	list := make([]exchange, n)
	for i := range list {
		w := newWriter(i + 1)
		user := fmt.Sprintf("Call %d. ", i)
		if c.secret {
			user += "Write to " + secret(i) + " now. "
		}
		list[i] = exchange{request(system, user+w.text(c.asked/2-len(user)), c.tools), completion(i, w.text(c.answered)), typeJSON}
	}
	return list
}

// conversation returns the exchanges of so many turns, of 800 bytes each, half of them asked and half answered. Every
// request holds all turns before it. The transcript is the length of what was said.
func conversation(turns int) (list []exchange, transcript int) {
	const said = 400
	var messages strings.Builder
	w := newWriter(1)
	for i := range turns {
		question, answer := w.text(said), w.text(said)
		transcript += len(question) + len(answer)
		if i > 0 {
			messages.WriteByte(',')
		}
		fmt.Fprintf(&messages, `{"role":"user","content":%s}`, quote(question))
		list = append(list, exchange{
			fmt.Appendf(nil, `{"model":"gpt-5-mini","messages":[%s]}`, messages.String()), completion(i, answer), typeJSON,
		})
		fmt.Fprintf(&messages, `,{"role":"assistant","content":%s}`, quote(answer))
	}
	return list, transcript
}

// streamed returns an exchange whose answer is a stream of n events before the last two.
func streamed(n int) exchange {
	var answer bytes.Buffer
	const head = `data: {"id":"chatcmpl-000001","object":"chat.completion.chunk","created":1764547200,"model":"gpt-5-mini","choices":[{"index":0,"delta":`
	for i := range n {
		fmt.Fprintf(&answer, head+`{"content":%s},"finish_reason":null}]}`+"\n\n", quote(words[i%len(words)]+" "))
	}
	answer.WriteString(head + `{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return exchange{
		bytes.Replace(request(newWriter(0).text(750), newWriter(1).text(750), toolList), []byte(`"temperature"`), []byte(`"stream":true,"temperature"`), 1),
		answer.Bytes(), typeStream,
	}
}
