package core

import (
	"errors"
	"net/http"

	"github.com/mixtape-go/mixtape/bus"
	"github.com/mixtape-go/mixtape/internal/contentcoding"
)

// decodedContent undoes an answer's content encoding, as far as it goes; not ok when the encoding is not known.
func decodedContent(h http.Header, body []byte) (decoded []byte, ok bool) {
	decoded, _, err := contentcoding.Decode(h, body)
	return decoded, !errors.Is(err, contentcoding.ErrUnknown)
}

// contentDecoder undoes an answer's content encoding before it decodes the format.
type contentDecoder struct {
	bus.Decoder
	header http.Header
}

func (d contentDecoder) DecodeResponse(body []byte, status int, streamed bool) (bus.DecodedResponse, error) {
	decoded, _, err := contentcoding.Decode(d.header, body)
	r, formatErr := d.Decoder.DecodeResponse(decoded, status, streamed)
	if err != nil {
		return r, err
	}
	return r, formatErr
}
