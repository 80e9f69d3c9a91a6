package cassette

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mixtape-go/mixtape/bus"
)

// Interaction is one recorded attempt of a call: what was asked, and what came of it. Exactly one of HTTP and Func is
// set: HTTP for the kinds "llm" and "http", Func for "tool" and "func".
type Interaction struct {
	Kind bus.Kind
	// Provider, Format, Operation and Model describe an LLM call, as [bus.LLMCall] does.
	Provider, Format, Operation, Model string
	// Attempt counts the attempts of one logical call from 0. Back is how many interactions back the attempt before
	// this one stands; 0 for a first attempt.
	Attempt, Back int
	// Within is how many interactions back the tool or function stands inside of which this call was made; 0 when it was
	// made in none. A replay that serves that one, whose body does not run then, does not wait for this call.
	Within int
	// Start is when the call began, since the start of the recording.
	Start time.Duration
	// Duration is how long it took until the reader of its answer was done.
	Duration time.Duration
	Ending   bus.Ending
	// Failure is why there was no answer, or why it broke off; nil when it did not.
	Failure *Failure

	// Hidden are the places of the numbers that were hidden, which no placeholder shows: the name of the body ("request",
	// "response", "arguments", "result"), for an event of a stream its number, counted from 0, then the path, and for JSON
	// inside a string the path in it; at the end the number's fingerprint.
	Hidden []string

	HTTP *HTTPInteraction
	Func *FuncInteraction

	unknown []rawMember
}

// HTTPInteraction is the HTTP side of an [Interaction].
type HTTPInteraction struct {
	Method        string
	URL           string
	RequestHeader http.Header
	Request       Body

	// Status is 0 when there was no answer; then what follows is empty.
	Status int
	// Proto is the answer's protocol; empty stands for HTTP/1.1.
	Proto          string
	ResponseHeader http.Header
	Response       Body
	Trailer        http.Header
	// Streamed says that Response is a stream of events, and is shown as such in the file.
	Streamed bool
	// Chunks tells the reads that a streamed Response came in, content encoding undone; their lengths add up to its
	// own. A file keeps them for streams only, in whole milliseconds. Where they do not add up, after an edit by hand,
	// the stream is cut at its events.
	Chunks []bus.Chunk

	unknownRequest, unknownResponse []rawMember
}

// Body is the bytes of a request or an answer, content encoding undone.
type Body struct {
	Bytes []byte
	// Encoding is the content encoding that was undone, as the header named it; empty when there was none, or when it
	// is not known and Bytes are still encoded.
	Encoding string
	// WireLength is the length before the encoding was undone; 0 when there was none.
	WireLength int

	unknown []rawMember
}

// FuncInteraction is a run of a tool, or of what core.Call wraps.
type FuncInteraction struct {
	Name      string
	ID        string // of the model's tool call, when it was known
	Arguments json.RawMessage
	Result    json.RawMessage // nil when the run failed
}
