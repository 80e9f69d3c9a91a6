// Package chunks reads a body in the pieces in which it once arrived.
package chunks

import (
	"io"

	"github.com/mixtape-go/mixtape/bus"
)

// Reader gives bytes in the reads that a list of chunks tells: a read never crosses the end of a chunk. At the end it
// gives the error it was made with.
type Reader struct {
	data   []byte
	chunks []bus.Chunk
	taken  int // of the first chunk
	err    error
}

// NewReader returns a Reader of data, which the lengths of chunks add up to. What chunks leave over comes in one piece.
// A nil err means io.EOF.
func NewReader(data []byte, chunks []bus.Chunk, err error) *Reader {
	if err == nil {
		err = io.EOF
	}
	return &Reader{data: data, chunks: chunks, err: err}
}

func (r *Reader) Read(p []byte) (int, error) {
	for len(r.chunks) > 0 && r.taken >= r.chunks[0].Len {
		r.chunks, r.taken = r.chunks[1:], 0
	}
	if len(r.data) == 0 {
		return 0, r.err
	}
	piece := r.data
	if len(r.chunks) > 0 {
		piece = r.data[:min(len(r.data), r.chunks[0].Len-r.taken)]
	}
	n := copy(p, piece)
	r.data, r.taken = r.data[n:], r.taken+n
	return n, nil
}
