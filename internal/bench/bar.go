package main

// bar is what a figure should reach. The zero bar asks for nothing.
type bar struct {
	of    barKind
	limit float64
}

type barKind int

const (
	none       barKind = iota
	valueMost          // the figure itself is at most the limit
	valueLeast         // the figure itself is at least the limit
	excessMost         // the figure is at most the limit above the base's
	ratioMost          // the figure is at most limit times the base's
	timesLess          // the base's figure is at least limit times ours
)

func atMost(limit float64) bar     { return bar{valueMost, limit} }
func atLeast(limit float64) bar    { return bar{valueLeast, limit} }
func atMostMore(limit float64) bar { return bar{excessMost, limit} }
func atMostX(limit float64) bar    { return bar{ratioMost, limit} }
func timesFewer(limit float64) bar { return bar{timesLess, limit} }

// ratio writes how ours compares with the base.
func (b bar) ratio(u unit, ours, base float64) string {
	switch b.of {
	case excessMost:
		if ours < base {
			return "−" + u.show(base-ours)
		}
		return "+" + u.show(ours-base)
	case none, timesLess:
		if ours < base {
			return digits(base/ours) + "× less"
		}
	}
	return digits(ours/base) + "×"
}

func (b bar) text(u unit) string {
	switch b.of {
	case valueMost:
		return "≤ " + u.show(b.limit)
	case valueLeast:
		return "≥ " + u.show(b.limit)
	case excessMost:
		return "≤ +" + u.show(b.limit)
	case ratioMost:
		return "≤ " + digits(b.limit) + "×"
	case timesLess:
		return "≥ " + digits(b.limit) + "× less"
	}
	return ""
}

func (b bar) met(ours, base float64) bool {
	switch b.of {
	case valueMost:
		return ours <= b.limit
	case valueLeast:
		return ours >= b.limit
	case excessMost:
		return ours-base <= b.limit
	case ratioMost:
		return ours <= b.limit*base
	case timesLess:
		return ours*b.limit <= base
	}
	return true
}

func (b bar) verdict(ours, base float64) string {
	switch {
	case b.of == none:
		return ""
	case b.met(ours, base):
		return "yes"
	}
	return "no"
}
