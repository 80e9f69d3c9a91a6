package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mixtape-go/mixtape/bus"
)

// ErrUnterminated says that a stream ended inside its last event. What of that event was whole has been decoded; by the
// rules of server-sent events a client drops it.
var ErrUnterminated = errors.New("the stream ends inside an event")

// answerReader reads one format's answers.
type answerReader interface {
	// plain reads an answer that is one body. The error member is read already.
	plain(o object, r *bus.DecodedResponse) error
	// event reads one event of a stream. An error says what of it was not understood.
	event(e SSEEvent, data object, r *bus.DecodedResponse) error
	// finish fills in what the events made.
	finish(r *bus.DecodedResponse)
}

// decodeAnswer reads an answer by what its body is: a server may answer a request for a stream with one body, and name
// the wrong content type for either.
func decodeAnswer(format string, reader answerReader, body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	body = wellFormed(body)
	var r bus.DecodedResponse
	var err error
	switch {
	case opensObject(body):
		err = decodePlain(reader, body, status, &r)
	case len(bytes.TrimSpace(body)) == 0:
		if status < 400 {
			err = errors.New("the answer is empty")
		}
	case streamed || opensStream(body):
		err = decodeStream(reader, body, &r)
	default:
		err = errors.New("the answer is neither a JSON object nor a stream of events")
		if status >= 400 {
			r.Error = quote(string(body))
		}
	}
	if err != nil {
		err = fmt.Errorf("%s answer: %w", format, err)
	}
	return r, err
}

func decodePlain(reader answerReader, body []byte, status int, r *bus.DecodedResponse) error {
	o, err := parseObject(body)
	r.Error = o.get("error")
	if status < 400 {
		problem := reader.plain(o, r)
		return cmp.Or(err, problem) // what is missing from a text that was cut is no second problem
	}
	if r.Error == nil && err == nil {
		r.Error = bytes.TrimSpace(body)
		return nil
	}
	r.Extra = o.addTo(nil, "error")
	return err
}

func decodeStream(reader answerReader, body []byte, r *bus.DecodedResponse) error {
	var p problems
	n := 0
	for e := range SSEEvents(body) {
		n++
		if e.Unterminated {
			p.add(ErrUnterminated)
		}
		if isDone(e.Data) {
			continue
		}
		data, err := parseObject(e.Data)
		if err == nil {
			err = reader.event(e, data, r)
		} else if e.Unterminated {
			continue // the cut is the reason
		}
		if err != nil {
			p.add(fmt.Errorf("event %d: %w", n, err))
		}
	}
	reader.finish(r)
	if n == 0 {
		p.add(errors.New("the stream holds no event"))
	}
	return p.err()
}

// decodeRequest reads what all requests have in common. read adds the messages.
func decodeRequest(format string, body []byte, read func(object, *bus.DecodedRequest) error) (bus.DecodedRequest, error) {
	o, err := parseObject(wellFormed(body))
	r := bus.DecodedRequest{Model: o.text("model"), Stream: string(o.get("stream")) == "true"}
	problem := read(o, &r)
	if err = cmp.Or(err, problem); err != nil {
		err = fmt.Errorf("%s request: %w", format, err)
	}
	return r, err
}

// decodeMessages reads a list of messages that are objects.
func decodeMessages(o object, name string, read func(object) bus.Message) ([]bus.Message, error) {
	list, err := o.mustList(name)
	var messages []bus.Message
	for i, raw := range list {
		if !isObject(raw) {
			err = cmp.Or(err, fmt.Errorf("%s[%d] is not an object", name, i))
			continue
		}
		messages = append(messages, read(asObject(raw)))
	}
	return messages, err
}

// wellFormed returns body without a byte order mark and with U+FFFD for what is not UTF-8, as the SDKs read it.
func wellFormed(body []byte) []byte {
	if utf8.Valid(body) {
		return bytes.TrimPrefix(body, []byte(byteOrderMark))
	}
	return wellFormed(bytes.ToValidUTF8(body, []byte("\ufffd")))
}

func opensObject(body []byte) bool { return isObject(bytes.TrimLeft(body, " \t\r\n")) }

// opensStream reports whether body's first line is one of server-sent events.
func opensStream(body []byte) bool {
	line := bytes.TrimLeft(body, "\r\n")
	if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	name, _, ok := bytes.Cut(line, []byte{':'})
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return ok
	}
	return false
}

// problems collects what was not understood, as far as anybody will read it.
type problems struct {
	list []error
	more int
}

func (p *problems) add(err error) {
	if len(p.list) < 4 || errors.Is(err, ErrUnterminated) {
		p.list = append(p.list, err)
		return
	}
	p.more++
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("%d more events were not understood", p.more))...)
	}
	return errors.Join(p.list...)
}

// role translates a provider's word for a role.
func role(word string) string {
	switch word {
	case "developer":
		return bus.RoleSystem
	case "function":
		return bus.RoleTool
	}
	return word
}

// media returns the part for content behind a URL, which may be a data URL that holds it.
func media(url, modality string) bus.Part {
	if scheme, rest, _ := strings.Cut(url, ":"); strings.EqualFold(scheme, "data") {
		if head, data, ok := strings.Cut(rest, ","); ok {
			if mime, ok := strings.CutSuffix(head, ";base64"); ok {
				return bus.BlobPart{MIMEType: mime, Modality: modality, Data: data}
			}
		}
	}
	return bus.URIPart{Modality: modality, URI: url}
}

// other returns the part for what the neutral model has no word for.
func other(kind string, raw json.RawMessage) bus.Part { return bus.OtherPart{Type: kind, Raw: raw} }
