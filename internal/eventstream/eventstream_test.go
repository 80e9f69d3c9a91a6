package eventstream

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"testing"
)

// A frame of an AWS service, as its documentation's vectors have it: no headers, the payload {'foo':'bar'}.
const known = "0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936"

func TestFault28KnownFrame(t *testing.T) {
	b, _ := hex.DecodeString(known)
	f, n, err := Next(append(bytes.Clone(b), "next"...))
	if err != nil || n != len(b) || len(f.Headers) != 0 || string(f.Payload) != "{'foo':'bar'}" {
		t.Fatalf("%q, %d, %v", f, n, err)
	}
	if got := f.Append(nil); !bytes.Equal(got, b) {
		t.Errorf("put together it is %x", got)
	}
}

func TestFault28Broken(t *testing.T) {
	whole := Frame{Headers: []byte("\x05:name\x07\x00\x01x"), Payload: []byte("payload")}.Append(nil)
	for n := range len(whole) {
		if _, _, err := Next(whole[:n]); !errors.Is(err, ErrCut) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x10
		if f, _, err := Next(flipped); err == nil {
			t.Errorf("byte %d changed: %q is taken", i, f)
		}
	}
	for _, tc := range []struct {
		reason         string
		total, headers uint32
	}{
		{"headers longer than the frame", 20, 100},
		{"lengths that overflow together", 16, 0xFFFFFFFF},
		{"a frame shorter than its prelude", 3, 0},
	} {
		b := binary.BigEndian.AppendUint32(nil, tc.total)
		b = binary.BigEndian.AppendUint32(b, tc.headers)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		if _, _, err := Next(append(b, make([]byte, 100)...)); err == nil || errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}

func FuzzNext(f *testing.F) {
	b, _ := base64.StdEncoding.DecodeString("AAAAHQAAAAD9Uoxaeydmb28nOidiYXInfcNlOTY=")
	f.Add(b)
	f.Add(Frame{Headers: []byte("h"), Payload: []byte("p")}.Append(b))
	f.Fuzz(func(t *testing.T, stream []byte) {
		for {
			frame, n, err := Next(stream)
			if err != nil {
				return
			}
			if got := frame.Append(nil); !bytes.Equal(got, stream[:n]) {
				t.Fatalf("%x came back as %x", stream[:n], got)
			}
			stream = stream[n:]
		}
	})
}
