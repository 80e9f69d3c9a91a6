package wire

import (
	"bytes"

	"github.com/mixtape-go/mixtape/internal/jsonlex"
)

// lastVerdict returns the verdict on the last event that verdict decides about, Unfinished when there is none. An
// unterminated event counts when its data is whole: the marker was seen, though a client may drop it.
//
// The event in question nearly always stands at the very end, so the last blocks are read first and the whole stream
// only when they decide nothing.
func lastVerdict(stream []byte, verdict func(SSEEvent) Progress) Progress {
	from := lastBlocks(stream, 3)
	for {
		last := Unfinished
		d := SSEDecoder{began: from > 0}
		see := func(e SSEEvent) bool {
			if e.Unterminated && !isDone(e.Data) && !jsonlex.Valid(e.Data) {
				return true
			}
			if p := verdict(e); p != Unfinished {
				last = p
			}
			return true
		}
		d.scan(stream[from:], see)
		d.finish(see)
		if last != Unfinished || from == 0 {
			return last
		}
		from = 0
	}
}

// lastBlocks returns where the last n blocks begin, at the latest. Two LFs end a block whatever stands around them;
// where other line ends are in use it returns 0.
func lastBlocks(stream []byte, n int) int {
	end := len(stream)
	for range n {
		i := bytes.LastIndex(stream[:end], []byte("\n\n"))
		if i < 0 {
			return 0
		}
		end = i
	}
	return end + len("\n\n")
}

// isDone reports whether data is the marker that ends the streams of OpenAI's chat format.
func isDone(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// eventType returns an event's type where the data says it and the event field repeats it.
func eventType(e SSEEvent, data object) string {
	if t := data.text("type"); t != "" {
		return t
	}
	return e.Event
}
