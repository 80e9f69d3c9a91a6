package chunks

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/mixtape-go/mixtape/bus"
)

func TestReaderKeepsTheReads(t *testing.T) {
	cut := errors.New("cut")
	for _, tc := range []struct {
		data   string
		lens   []int
		buf    int
		err    error
		want   []string
		reason string
	}{
		{"abcdef", []int{2, 3, 1}, 10, nil, []string{"ab", "cde", "f"}, "a read never crosses a chunk"},
		{"abcdef", []int{4, 2}, 3, nil, []string{"abc", "d", "ef"}, "a small buffer takes a chunk in pieces"},
		{"abcdef", []int{2}, 10, cut, []string{"ab", "cdef"}, "what chunks leave over comes in one piece"},
		{"abc", []int{9}, 10, nil, []string{"abc"}, "a chunk that is longer than the data"},
		{"abc", []int{0, 3}, 10, nil, []string{"abc"}, "an empty chunk is no read"},
		{"", nil, 10, cut, nil, "nothing but the error"},
	} {
		var list []bus.Chunk
		for _, n := range tc.lens {
			list = append(list, bus.Chunk{Len: n})
		}
		r := NewReader([]byte(tc.data), list, tc.err)
		var got []string
		buf := make([]byte, tc.buf)
		n, err := r.Read(buf)
		for ; err == nil; n, err = r.Read(buf) {
			got = append(got, string(buf[:n]))
		}
		want := tc.err
		if want == nil {
			want = io.EOF
		}
		if !slices.Equal(got, tc.want) || err != want {
			t.Errorf("reads %q, %v; want %q, %v: %s", got, err, tc.want, want, tc.reason)
		}
	}
}
