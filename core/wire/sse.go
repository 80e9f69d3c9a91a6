package wire

import (
	"bytes"
	"iter"
	"time"
)

// SSEEvent is one event of a stream of server-sent events.
type SSEEvent struct {
	// Event is the block's event field; empty when it has none, which the rules call "message".
	Event string
	// Data is the block's data lines, joined by LF.
	Data []byte
	// ID is the last event ID: that of the block, or of the last block before that had one.
	ID string
	// Comments is how many comment lines stand between the event before and the end of this one.
	Comments int
	// Unterminated says that the stream ended inside the block. By the rules such a block is no event, and clients
	// drop it; its last line may be cut anywhere.
	Unterminated bool
}

// SSEEvents yields the events of a whole stream by the rules of the WHATWG HTML standard, section 9.2, and its
// unterminated tail, marked as such. Lines may be of any length. An event's Data may be a slice of stream, and stays
// valid as long as that does not change.
func SSEEvents(stream []byte) iter.Seq[SSEEvent] {
	return func(yield func(SSEEvent) bool) {
		var d SSEDecoder
		if d.scan(stream, yield) {
			d.finish(yield)
		}
	}
}

// SSEDecoder splits a stream of server-sent events that comes in pieces, which may be cut anywhere, between CR and LF
// and inside the byte order mark too: the events are the same for every cut. The zero value is ready to use. It must
// not be used concurrently.
//
// Time is linear in the bytes fed; memory is that of the largest event.
type SSEDecoder struct {
	line    []byte // of the line that has not ended yet
	began   bool   // the first line has ended: no byte order mark can follow
	afterCR bool   // the last piece ended in CR: an LF that begins the next one belongs to it

	// The block that has not ended yet.
	event    string
	data     []byte
	hasData  bool
	borrowed bool // data is a slice of the piece being scanned
	comments int

	lastEvent string // of any block, so that a repeated name is not allocated again
	id        string
	retry     time.Duration
	total     int // comments
}

// Feed takes the next piece of the stream and calls emit for each event that it completes. An event's Data is valid
// until emit returns.
func (d *SSEDecoder) Feed(piece []byte, emit func(SSEEvent)) {
	d.scan(piece, func(e SSEEvent) bool { emit(e); return true })
	if d.borrowed {
		d.data = bytes.Clone(d.data)
		d.borrowed = false
	}
}

// End says that the stream has ended, and calls emit for its tail when it ended inside a block with data. The decoder
// must not be fed again.
func (d *SSEDecoder) End(emit func(SSEEvent)) {
	d.finish(func(e SSEEvent) bool { emit(e); return true })
}

// Retry returns the reconnection time that the stream last asked for, 0 when it asked for none.
func (d *SSEDecoder) Retry() time.Duration { return d.retry }

// LastID returns the last event ID, also of a block that was no event.
func (d *SSEDecoder) LastID() string { return d.id }

// Comments returns how many comment lines there were.
func (d *SSEDecoder) Comments() int { return d.total }

// scan reads the lines of piece until yield returns false.
func (d *SSEDecoder) scan(piece []byte, yield func(SSEEvent) bool) bool {
	if d.afterCR && len(piece) > 0 {
		d.afterCR = false
		if piece[0] == '\n' {
			piece = piece[1:]
		}
	}
	lf := -1 // where the next LF is, so that it is searched for once however many CRs stand before it
	for pos := 0; pos < len(piece); {
		if lf < pos {
			if lf = bytes.IndexByte(piece[pos:], '\n'); lf < 0 {
				lf = len(piece)
			} else {
				lf += pos
			}
		}
		end, next := lf, lf+1
		if cr := bytes.IndexByte(piece[pos:lf], '\r'); cr >= 0 {
			end = pos + cr
			next = end + 1
			if next == len(piece) {
				d.afterCR = true
			} else if piece[next] == '\n' {
				next++
			}
		}
		if end == len(piece) {
			d.line = append(d.line, piece[pos:]...)
			break
		}

		line := piece[pos:end:end]
		held := len(d.line) > 0
		if held {
			d.line = append(d.line, line...)
			line = d.line
		}
		pos = next
		if !d.readLine(line, yield) {
			return false
		}
		if held {
			if d.line = d.line[:0]; d.borrowed {
				d.line, d.borrowed = nil, false // data keeps the memory
			}
		}
	}
	return true
}

const byteOrderMark = "\ufeff"

// readLine takes one line without its end. It returns false when yield did.
func (d *SSEDecoder) readLine(line []byte, yield func(SSEEvent) bool) bool {
	if !d.began {
		d.began = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	if len(line) == 0 {
		return d.dispatch(false, yield)
	}
	name, value := field(line)
	switch string(name) {
	case "":
		d.comments++
		d.total++
	case "id":
		if bytes.IndexByte(value, 0) < 0 && d.id != string(value) {
			d.id = string(value)
		}
	case "retry":
		if ms, ok := digits(value); ok {
			d.retry = time.Duration(ms) * time.Millisecond
		}
	default:
		d.readField(name, value)
	}
	return true
}

// readField takes the fields that make an event.
func (d *SSEDecoder) readField(name, value []byte) {
	switch string(name) {
	case "event":
		if d.lastEvent != string(value) {
			d.lastEvent = string(value)
		}
		d.event = d.lastEvent
	case "data":
		switch {
		case !d.hasData:
			d.data, d.borrowed = value, true
		case d.borrowed:
			owned := make([]byte, 0, 2*(len(d.data)+1+len(value)))
			d.data = append(append(append(owned, d.data...), '\n'), value...)
			d.borrowed = false
		default:
			d.data = append(append(d.data, '\n'), value...)
		}
		d.hasData = true
	}
}

// dispatch ends the block.
func (d *SSEDecoder) dispatch(unterminated bool, yield func(SSEEvent) bool) bool {
	e := SSEEvent{Event: d.event, Data: d.data, ID: d.id, Comments: d.comments, Unterminated: unterminated}
	fire := d.hasData
	d.event, d.data, d.hasData, d.borrowed = "", nil, false, false
	if !fire {
		return true
	}
	d.comments = 0
	return yield(e)
}

func (d *SSEDecoder) finish(yield func(SSEEvent) bool) {
	if len(d.line) > 0 {
		line := d.line
		if !d.began {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		// A cut id or retry would be a wrong one; a cut comment is one.
		if name, value := field(line); len(name) > 0 {
			d.readField(name, value)
		} else if len(line) > 0 {
			d.comments++
			d.total++
		}
	}
	d.dispatch(true, yield)
}

// field splits a line that is not empty. A comment has an empty name.
func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// digits reads a value of ASCII digits only, as far as it fits in a duration of milliseconds.
func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1e11 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}
