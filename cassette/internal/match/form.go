package match

import (
	"encoding/binary"
	"slices"
)

// The canonical form is a prefix code: the first byte of each value tells where it ends, so that no two different
// values share a form, and no form is the beginning of another.
const (
	tokenNull     = 'n'
	tokenTrue     = 't'
	tokenFalse    = 'f'
	tokenNumber   = 'd' // digits, 'e', exponent, ';'
	tokenString   = 's' // sized text
	tokenID       = 'i' // 4 bytes, the id's number
	tokenOpenID   = 'I' // 4 bytes, the id's place in a numbering; none is left in a finished form
	tokenArray    = '[' // values, ']'
	tokenObject   = '{' // strings and values by turns, '}'
	tokenMessages = 'm' // 32 bytes, the chain's last hash; only where a message list stands
	tokenText     = 'x' // sized text that is no JSON
	tokenBytes    = 'b' // sized bytes that are no text
	tokenParts    = 'p' // texts and bytes, ']'
	tokenPairs    = 'q' // names and values by turns, texts or bytes, tokenNull for a pair that is escaped wrongly; '}'
	tokenSpan     = '@' // two varints: where the value or name before it stands in its source; only in traced forms
	tokenGap      = '-' // an element that is left out; only in traced forms

	endNumber = ';'
	endArray  = ']'
	endObject = '}'
)

// sized ends a text that was appended to dst after one reserved byte at at: the byte becomes the text's length as an
// unsigned varint, which pushes a longer text back.
func sized(dst []byte, at int) []byte {
	n := uint64(len(dst) - at - 1)
	if n < 0x80 {
		dst[at] = byte(n)
		return dst
	}
	var size [binary.MaxVarintLen64]byte
	return slices.Replace(dst, at, at+1, size[:binary.PutUvarint(size[:], n)]...)
}

// sizedText returns where the sized text that form begins with begins itself, and where it ends.
func sizedText(form []byte) (from, to int) {
	n, size := binary.Uvarint(form)
	return size, size + int(n)
}
