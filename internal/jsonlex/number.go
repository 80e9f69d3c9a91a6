package jsonlex

import (
	"bytes"
	"slices"
	"strconv"
)

// AppendNumber appends the canonical form of a JSON number: its digits, from the first to the last that is not 0, the
// letter e, and the power of ten of the last digit. Zero is "0e0", whatever its sign and exponent. Nothing is expanded
// and nothing is rounded: an exponent with more digits than an int64 holds is reckoned as text.
func AppendNumber(dst, raw []byte) []byte {
	start := len(dst)
	if raw[0] == '-' {
		raw = raw[1:]
		dst = append(dst, '-')
	}
	at, point, end := len(dst), -1, len(raw)
	for i, c := range raw {
		if c == '.' {
			point = i
		} else if c|0x20 == 'e' {
			end = i
			break
		}
	}
	fraction := 0
	if point < 0 {
		dst = append(dst, raw[:end]...)
	} else {
		dst = append(append(dst, raw[:point]...), raw[point+1:end]...)
		fraction = end - point - 1
	}
	from, to := at, len(dst)
	for from < to && dst[from] == '0' {
		from++
	}
	for from < to && dst[to-1] == '0' {
		to--
	}
	if from == to {
		return append(dst[:start], "0e0"...)
	}
	shift := len(dst) - to - fraction
	dst = append(dst[:at], dst[from:to]...)
	return appendSum(append(dst, 'e'), raw[min(end+1, len(raw)):], int64(shift))
}

// AppendPlainNumber is AppendNumber but for integers of at most 20 zeros at their end, which stand as people write them:
// all their digits, and no exponent.
func AppendPlainNumber(dst, raw []byte) []byte {
	start := len(dst)
	dst = AppendNumber(dst, raw)
	at := start + bytes.IndexByte(dst[start:], 'e')
	zeros, err := strconv.Atoi(string(dst[at+1:]))
	if err != nil || zeros < 0 || zeros > 20 {
		return dst
	}
	return append(dst[:at], "00000000000000000000"[:zeros]...)
}

const (
	chunk      = 18 // how many decimal digits always fit an int64
	chunkLimit = 1_000_000_000_000_000_000
)

// appendSum appends n + delta in decimal. n is an integer of any length, with or without a sign and leading zeros,
// empty for 0; delta is the difference of two lengths, and so far from chunkLimit.
func appendSum(dst, n []byte, delta int64) []byte {
	negative := len(n) > 0 && n[0] == '-'
	n = bytes.TrimLeft(n, "+-0")
	if len(n) <= chunk {
		v := parse(n)
		if negative {
			v = -v
		}
		return strconv.AppendInt(dst, v+delta, 10)
	}

	// n is farther from 0 than delta: its sign stands, and its last digits carry or borrow 1 at most.
	if negative {
		dst = append(dst, '-')
		delta = -delta
	}
	at := len(dst)
	dst = append(append(dst, '0'), n...) // a 0 to carry into
	cut := len(dst) - chunk
	low := parse(dst[cut:]) + delta
	i := cut - 1
	switch {
	case low >= chunkLimit:
		low -= chunkLimit
		for ; dst[i] == '9'; i-- {
			dst[i] = '0'
		}
		dst[i]++
	case low < 0:
		low += chunkLimit
		for ; dst[i] == '0'; i-- {
			dst[i] = '9'
		}
		dst[i]--
	}
	for i := len(dst) - 1; i >= cut; i-- {
		dst[i] = '0' + byte(low%10)
		low /= 10
	}
	zeros := len(dst[at:]) - len(bytes.TrimLeft(dst[at:], "0"))
	return slices.Delete(dst, at, at+zeros)
}

// parse reads at most chunk digits.
func parse(digits []byte) (v int64) {
	for _, c := range digits {
		v = v*10 + int64(c-'0')
	}
	return v
}
