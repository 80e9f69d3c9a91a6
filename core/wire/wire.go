// Package wire knows the providers' wire formats: how to tell one from a request, where its answer ends, and how to
// read its bodies into the neutral messages of package bus.
//
// A format is found from the method, the path and the body of a request, never from the host alone: the same format is
// spoken by many hosts, through proxies, under path prefixes and on local ports. Nothing in this package changes a
// byte: streams are read from copies, after the fact.
package wire

import (
	"net/http"
	"net/url"

	"github.com/mixtape-go/mixtape/bus"
)

// Format is one provider's wire format for one operation. Implementations have no state and are safe for concurrent
// use.
type Format interface {
	bus.Decoder

	// Name identifies the format in files: "openai.chat". It never changes.
	Name() string
	// Operation is OTel's gen_ai.operation.name.
	Operation() string
	// Owner is the provider whose format it is, for hosts that are not known to be another's.
	Owner() string
	// Match reports whether a request with this method, URL path (unescaped) and body is in the format. It looks no
	// further into the body than to see that a JSON object begins; [Detect] checks the rest.
	Match(method, path string, body []byte) bool
	// Ended reports how far a streamed answer got, content encoding undone. It reads the end of the stream first, and
	// takes the rest apart only when that does not tell.
	Ended(stream []byte) Progress
	// Layout says where bodies keep what matching and redaction treat specially.
	Layout() Layout
}

// Progress is how far a stream got.
type Progress int

const (
	Unfinished Progress = iota // no terminal marker was seen
	Terminal                   // the format's terminal marker was seen
	Failed                     // an error event was seen
)

// Layout says where a format's request body keeps its message list and the ids that tie tool calls to their results,
// and where its streams keep their texts.
type Layout struct {
	// Messages is the name of the top-level member that holds the message list: "messages", "input".
	Messages string
	// IDs are the paths of ids that only tie a call to its result, in internal/jsonpath's language.
	IDs []string
	// Deltas are the paths, in an event of a stream, of strings that are pieces of one text: of what the model says, thinks,
	// gives to a tool, or signs.
	Deltas []string
}

// Detected is what a request says about itself.
type Detected struct {
	Format   Format
	Provider string
	Model    string // the body's, else the path's
	Streamed bool   // the request asks for a stream
}

// Detect finds the format of a request. ok is false when no format knows it: the body must be one whole JSON object
// that names a model or holds the format's message list, unless the path names the model.
func Detect(method string, u *url.URL, body []byte) (d Detected, ok bool) {
	return detect(method, u, body)
}

// ByName returns the format that Name names.
func ByName(name string) (Format, bool) { return byName(name) }

// IsStream reports whether a response header announces a stream of events rather than one body.
func IsStream(h http.Header) bool { return isStream(h) }
