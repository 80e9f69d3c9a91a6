// Package eventstream takes apart and puts together frames of application/vnd.amazon.eventstream, in which Amazon Bedrock
// streams its answers:
//
//	4 bytes  length of the frame    \
//	4 bytes  length of the headers   } prelude
//	4 bytes  CRC-32 of the prelude  /
//	         headers
//	         payload
//	4 bytes  CRC-32 of all before it
//
// Numbers are big-endian, the CRC is IEEE 802.3's.
package eventstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ContentType is the media type of a stream of frames.
const ContentType = "application/vnd.amazon.eventstream"

const (
	preludeLen = 12
	crcLen     = 4
)

// ErrCut says that a frame is not there to its end.
var ErrCut = errors.New("the frame is cut")

// Frame is one frame.
type Frame struct {
	Headers []byte // encoded
	Payload []byte
}

// Next takes the first frame off stream, and returns it with the number of its bytes; its parts are slices of stream. An
// empty stream and one that is cut give [ErrCut], a frame whose lengths or checksums are wrong another error.
func Next(stream []byte) (f Frame, n int, err error) {
	if len(stream) < preludeLen {
		return f, 0, ErrCut
	}
	total, headers := binary.BigEndian.Uint32(stream), binary.BigEndian.Uint32(stream[4:])
	if sum := crc32.ChecksumIEEE(stream[:8]); sum != binary.BigEndian.Uint32(stream[8:]) {
		return f, 0, fmt.Errorf("the checksum of the prelude is %08x, not %08x", sum, binary.BigEndian.Uint32(stream[8:]))
	}
	if uint64(total) < preludeLen+crcLen+uint64(headers) {
		return f, 0, fmt.Errorf("a frame of %d bytes has no room for %d bytes of headers", total, headers)
	}
	if uint64(len(stream)) < uint64(total) {
		return f, 0, ErrCut
	}
	n = int(total)
	body := stream[:n-crcLen]
	if sum := crc32.ChecksumIEEE(body); sum != binary.BigEndian.Uint32(stream[n-crcLen:]) {
		return f, 0, fmt.Errorf("the checksum of the frame is %08x, not %08x", sum, binary.BigEndian.Uint32(stream[n-crcLen:]))
	}
	at := preludeLen + int(headers)
	return Frame{Headers: body[preludeLen:at:at], Payload: body[at:len(body):len(body)]}, n, nil
}

// Append appends f, with its lengths and checksums, to dst.
func (f Frame) Append(dst []byte) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(preludeLen+len(f.Headers)+len(f.Payload)+crcLen))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Headers)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
	dst = append(append(dst, f.Headers...), f.Payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}
