package match

import "github.com/mixtape-go/mixtape/internal/jsonpath"

// place is where in a JSON value an encoder stands, as the rules and the layout see it.
type place struct{ ignored, ids jsonpath.Cursor }

func (p place) member(name []byte) place {
	return place{p.ignored.Member(name), p.ids.Member(name)}
}

func (p place) element(i int) place {
	return place{p.ignored.Index(i), p.ids.Index(i)}
}
