package match

import (
	"bytes"
	"encoding/binary"
)

// numbering replaces ids by numbers in the order in which they first appear in a canonical form.
//
// That order is known only when an object's members are sorted. Until then an id stands in the form as its place in
// the numbering; number turns places into numbers.
type numbering struct {
	places  map[string]uint32
	ids     []string // by place
	numbers []uint32 // by place; 0 is none yet
	given   uint32   // the last number given
	open    int      // how many places stand in the form
}

// cut leaves the first ids that were numbered, and no open ones.
func (n *numbering) cut(ids int) {
	for _, id := range n.ids[ids:] { // clear would cost what the map has ever held
		delete(n.places, id)
	}
	n.ids, n.numbers, n.given, n.open = n.ids[:ids], n.numbers[:ids], uint32(ids), 0
}

// append appends the id that text, which may lie behind dst in the same memory, is.
func (n *numbering) append(dst, text []byte) []byte {
	place, ok := n.places[string(text)]
	if !ok {
		if n.places == nil {
			n.places = make(map[string]uint32)
		}
		place = uint32(len(n.numbers))
		n.ids = append(n.ids, string(text))
		n.places[n.ids[place]] = place
		n.numbers = append(n.numbers, 0)
	}
	n.open++
	return binary.BigEndian.AppendUint32(append(dst, tokenOpenID), place)
}

// number gives the ids that are open in form, a run of whole values, their numbers.
func (n *numbering) number(form []byte) {
	for i := 0; i < len(form) && n.open > 0; {
		token := form[i]
		i++
		switch token {
		case tokenString:
			_, to := sizedText(form[i:])
			i += to
		case tokenNumber:
			i += bytes.IndexByte(form[i:], endNumber) + 1
		case tokenMessages:
			i += chainLen
		case tokenSpan:
			for range 2 {
				_, size := binary.Uvarint(form[i:])
				i += size
			}
		case tokenID:
			i += 4
		case tokenOpenID:
			place := binary.BigEndian.Uint32(form[i:])
			if n.numbers[place] == 0 {
				n.given++
				n.numbers[place] = n.given
			}
			n.open--
			form[i-1] = tokenID
			binary.BigEndian.PutUint32(form[i:], n.numbers[place])
			i += 4
		}
	}
}
