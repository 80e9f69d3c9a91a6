package bus

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Ending says how a call ended.
type Ending string

const (
	// EndingComplete: the answer was read to its end. For a stream that is the end of the bytes after the format's
	// terminal marker; for a plain body the end of the bytes, or a reader that stopped after one whole JSON value.
	// The status plays no part: an error status read to its end is complete.
	EndingComplete Ending = "complete"
	// EndingClosedAfterTerminal: the reader closed a stream after its terminal marker, before the end of the bytes.
	EndingClosedAfterTerminal Ending = "closed_after_terminal"
	// EndingClosedEarly: the reader closed, or let go of, an answer before its end.
	EndingClosedEarly Ending = "closed_early"
	// EndingCancelled: the call's context was cancelled.
	EndingCancelled Ending = "cancelled"
	// EndingUpstreamAborted: the bytes ended before the answer did.
	EndingUpstreamAborted Ending = "upstream_aborted"
	// EndingError: there was no answer (refused connection, time-out), or an error event stood inside a stream, or a
	// tool returned an error.
	EndingError Ending = "error"
)

// Kind says what kind of call an event is about.
type Kind string

const (
	KindLLM  Kind = "llm"  // an exchange in a known wire format, or of a client with a named provider
	KindHTTP Kind = "http" // any other HTTP exchange
	KindTool Kind = "tool" // a tool that core.Tool or core.Dispatch runs
	KindFunc Kind = "func" // anything else that core.Call runs
)

var seq atomic.Uint64

// NextSeq returns the next number in the process-wide order of starts: 1, 2, 3, …
func NextSeq() uint64 { return seq.Add(1) }

// CallStart says that a call of any kind begins. One closing event ([LLMCall], [HTTPCall], [ToolCall] or [FuncCall])
// with the same Seq follows when it has ended, whichever way.
type CallStart struct {
	Seq     uint64
	CallID  string
	Attempt int
	// Parent is the CallID of the tool or Call inside of which this call was made, as its context tells; empty when it
	// was made in none.
	Parent string
	Kind   Kind
	// Name is the tool's name for KindTool and the kind given to core.Call for KindFunc.
	Name string
	// Provider, Operation and Model are those of the LLMCall to come.
	Provider, Operation, Model string
	Start                      time.Time
}

// Exchange is what went over the wire in one attempt of an HTTP call.
//
// It holds what was sent and what came, before any redaction: its URL may carry a credential.
type Exchange struct {
	Method string
	URL    string
	// RequestHeader and ResponseHeader are the full headers, credentials included, as the seam saw them.
	RequestHeader, ResponseHeader http.Header
	Request                       []byte
	// Response is the very bytes of the answer's body as far as they were read, stream framing and content encoding
	// included.
	Response []byte
	// Chunks tells the reads that Response came in.
	Chunks []Chunk
	// Trailer is what followed the body.
	Trailer http.Header
	// Proto is the answer's protocol, such as "HTTP/1.1".
	Proto string
	// Uncompressed says that the transport undid gzip, for which it had asked itself: Response is what it gave, and
	// ResponseHeader names no encoding.
	Uncompressed bool
}

// Chunk is one read of a response body.
type Chunk struct {
	At  time.Duration // since the start of the call
	Len int           // bytes; the lengths of all chunks add up to the body's
}

// LLMCall is one attempt of a model call on the wire. It is published when the attempt has ended.
//
// The fields are set before it is published and never change. The methods decode the bodies on first use and are safe
// for concurrent use; what they return is shared and must not be written to. They never fail: what cannot be decoded
// is absent, and [LLMCall.DecodeErr] says why.
type LLMCall struct {
	// CallID is the same for all attempts of one logical call, as far as the SDK ties them by a mark of its own.
	CallID string
	// Seq is the order of starts in this process.
	Seq uint64
	// Parent is that of the call's [CallStart].
	Parent string
	// Attempt counts from 0 within a logical call.
	Attempt int
	// Provider is OTel's gen_ai.provider.name: "openai", "anthropic", "azure.ai.openai", …
	Provider string
	// Operation is OTel's gen_ai.operation.name: "chat", "embeddings", …
	Operation string
	// Format names the wire format: "openai.chat", "openai.responses", "anthropic.messages"; empty when the exchange
	// is in no known format and the caller named the provider.
	Format string
	// Model is the model that was asked for: the request body's, else the one in the path.
	Model string
	// Streamed says that the answer is a stream of events.
	Streamed bool
	Start    time.Time
	// FirstByte is the time to the first byte of the answer's body, 0 when there was none.
	FirstByte time.Duration
	// Duration is the time to the end of the call, as the reader of its answer saw it.
	Duration time.Duration
	// Status is the HTTP status; 0 when there was no answer.
	Status int
	Ending Ending
	// Err is why there was no answer, or why its body broke off. An error status is not an Err.
	Err error
	// Replayed says that a cassette answered.
	Replayed bool
	// Intercepted says that an interceptor above the innermost answered or refused: nothing reached the wire or a
	// cassette.
	Intercepted bool
	// Exchange is what went over the wire.
	Exchange Exchange
	// Decoder reads the wire format, from Exchange's bytes as they are: who publishes a call with a content encoding
	// sets a Decoder that undoes it first. Nil decodes nothing.
	Decoder Decoder

	request  lazy[DecodedRequest]
	response lazy[DecodedResponse]
}

// Decoder reads the bodies of one wire format. Implementations are safe for concurrent use, keep no reference that
// they write to, and return as much as they understood beside an error.
type Decoder interface {
	DecodeRequest(body []byte) (DecodedRequest, error)
	// DecodeResponse reads an answer, which may be cut anywhere.
	DecodeResponse(body []byte, status int, streamed bool) (DecodedResponse, error)
}

// DecodedRequest is a request in the neutral model.
type DecodedRequest struct {
	Model    string
	Stream   bool
	Messages []Message // system first
	// Extra is what the decoder did not understand, by member name.
	Extra map[string]json.RawMessage
}

// DecodedResponse is an answer in the neutral model.
type DecodedResponse struct {
	ID    string
	Model string // the model that answered
	// Messages has one entry a choice, each with its FinishReason.
	Messages []Message
	// Usage is nil when the provider did not say.
	Usage *Usage
	// Error is the provider's error, from an error status or from inside a stream, as raw JSON; nil when there is none.
	Error json.RawMessage
	Extra map[string]json.RawMessage
}

type lazy[T any] struct {
	once  sync.Once
	value T
	err   error
}

// get returns what fn returned when it was called first. A panic of fn is its error: decoders read what strangers sent.
func (l *lazy[T]) get(fn func() (T, error)) (*T, error) {
	l.once.Do(func() {
		defer func() {
			if v := recover(); v != nil {
				l.err = fmt.Errorf("bus: the decoder panicked: %s", describe(v))
			}
		}()
		l.value, l.err = fn()
	})
	return &l.value, l.err
}

func (c *LLMCall) decodedRequest() (*DecodedRequest, error) {
	return c.request.get(func() (DecodedRequest, error) {
		if c.Decoder == nil {
			return DecodedRequest{}, nil
		}
		return c.Decoder.DecodeRequest(c.Exchange.Request)
	})
}

func (c *LLMCall) decodedResponse() (*DecodedResponse, error) {
	return c.response.get(func() (DecodedResponse, error) {
		if c.Decoder == nil || c.Status == 0 {
			return DecodedResponse{}, nil
		}
		return c.Decoder.DecodeResponse(c.Exchange.Response, c.Status, c.Streamed)
	})
}

// Input returns the messages of the request, system messages first.
func (c *LLMCall) Input() []Message { r, _ := c.decodedRequest(); return r.Messages }

// Output returns the answer, one message a choice.
func (c *LLMCall) Output() []Message { r, _ := c.decodedResponse(); return r.Messages }

// Text returns the text of the first choice, empty when there is none.
func (c *LLMCall) Text() string {
	if out := c.Output(); len(out) > 0 {
		return out[0].Text()
	}
	return ""
}

// ToolCalls returns the tool calls that the answer asks for, over all choices, in order.
func (c *LLMCall) ToolCalls() []ToolCallPart {
	var calls []ToolCallPart
	for _, m := range c.Output() {
		for _, p := range m.Parts {
			if tc, ok := p.(ToolCallPart); ok {
				calls = append(calls, tc)
			}
		}
	}
	return calls
}

// Usage returns the tokens that the provider counted; false when it did not say. Absent is not zero.
func (c *LLMCall) Usage() (Usage, bool) {
	r, _ := c.decodedResponse()
	if r.Usage == nil {
		return Usage{}, false
	}
	return *r.Usage, true
}

// FinishReasons returns one reason a choice, in the provider's own words. A choice that has none, as in an answer that
// was cut, is left out.
func (c *LLMCall) FinishReasons() []string {
	var reasons []string
	for _, m := range c.Output() {
		if m.FinishReason != "" {
			reasons = append(reasons, m.FinishReason)
		}
	}
	return reasons
}

// ResponseID returns the provider's id of the answer.
func (c *LLMCall) ResponseID() string { r, _ := c.decodedResponse(); return r.ID }

// ResponseModel returns the model that answered, as the provider names it.
func (c *LLMCall) ResponseModel() string { r, _ := c.decodedResponse(); return r.Model }

// ProviderError returns the provider's error, from an error status or from inside a stream; nil when there is none.
func (c *LLMCall) ProviderError() json.RawMessage { r, _ := c.decodedResponse(); return r.Error }

// Extra returns the members of the answer that the decoder did not understand.
func (c *LLMCall) Extra() map[string]json.RawMessage { r, _ := c.decodedResponse(); return r.Extra }

// DecodeErr says what of the request or the answer could not be decoded; nil when all could.
func (c *LLMCall) DecodeErr() error {
	if _, err := c.decodedRequest(); err != nil {
		return err
	}
	_, err := c.decodedResponse()
	return err
}

// RequestBody returns the request's body as it was sent.
func (c *LLMCall) RequestBody() []byte { return c.Exchange.Request }

// ResponseBody returns the very bytes of the answer's body, stream framing and content encoding included, as far as
// they were read.
func (c *LLMCall) ResponseBody() []byte { return c.Exchange.Response }

// HTTPCall is one attempt of an HTTP exchange that is in no provider's format. Its fields mean what those of [LLMCall]
// mean.
type HTTPCall struct {
	CallID              string
	Seq                 uint64
	Parent              string
	Attempt             int
	Start               time.Time
	FirstByte, Duration time.Duration
	Status              int
	Ending              Ending
	Err                 error
	Replayed            bool
	Intercepted         bool
	Exchange            Exchange
}

// ToolCall is one run of a tool, published when it has ended.
type ToolCall struct {
	// ID is the id of the model's tool call that asked for it, when the context names one (core.WithToolCallID).
	ID        string
	CallID    string
	Seq       uint64
	Parent    string // that of the call's CallStart
	Name      string
	Arguments json.RawMessage
	// Result is nil when Err is not.
	Result      json.RawMessage
	Err         error
	Start       time.Time
	Duration    time.Duration
	Ending      Ending
	Replayed    bool
	Intercepted bool
	// Lossy says, naming the type, why Arguments or Result do not give back the values that they were made from; nil
	// when they do. A recording with a lossy call cannot replay it truly.
	Lossy error
}

// FuncCall is one run of what core.Call wraps: a provider without HTTP, a retrieval, a memory read.
type FuncCall struct {
	CallID string
	Seq    uint64
	Parent string // that of the call's CallStart
	// Name is the kind that was given to core.Call.
	Name        string
	Request     json.RawMessage
	Result      json.RawMessage
	Err         error
	Start       time.Time
	Duration    time.Duration
	Ending      Ending
	Replayed    bool
	Intercepted bool
	Lossy       error
}
