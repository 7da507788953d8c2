package trace

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is text with JSON's escapes resolved. at[i] is where, in the text it was made from, the unit begins that byte i came
// from; one more entry stands for the end.
type view struct {
	text []byte
	at   []int32
}

// resolve makes v the view of p, whose own bytes came from at; with nil they are the original text, from base on.
func (v *view) resolve(p []byte, at []int32, base int) {
	v.text, v.at = slices.Grow(v.text[:0], len(p)), slices.Grow(v.at[:0], len(p)+1)
	for i := 0; i < len(p); {
		size := 1
		if p[i] != '\\' {
			v.text = append(v.text, p[i])
		} else {
			v.text, size = appendEscape(v.text, p[i:])
		}
		for len(v.at) < len(v.text) {
			v.at = append(v.at, origin(at, base, i))
		}
		i += size
	}
	v.at = append(v.at, origin(at, base, len(p)))
}

func origin(at []int32, base, i int) int32 {
	if at == nil {
		return int32(base + i)
	}
	return at[i]
}

// span is the stretch of the original text that v.text[lo:hi] came from, in whole units.
func (v *view) span(lo, hi int) (from, to int) {
	last := v.at[hi-1]
	for hi < len(v.text) && v.at[hi] <= last {
		hi++
	}
	return int(v.at[lo]), int(v.at[hi])
}

// widen makes a stretch of the original text one of whole units.
func (v *view) widen(lo, hi int) (from, to int) {
	i, ok := slices.BinarySearch(v.at, int32(lo))
	if !ok {
		i--
	}
	j, _ := slices.BinarySearch(v.at, int32(hi))
	return int(v.at[i]), int(v.at[j])
}

const plainEscapes, plainValues = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// appendEscape appends what the escape at the start of p means and says how long it is. What is no escape means itself.
func appendEscape(dst, p []byte) ([]byte, int) {
	if len(p) > 1 {
		if i := strings.IndexByte(plainEscapes, p[1]); i >= 0 {
			return append(dst, plainValues[i]), 2
		}
	}
	r, ok := unicodeEscape(p)
	if !ok {
		return append(dst, p[0]), 1
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if low, ok := unicodeEscape(p[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6 // as encoding/json has it
}

// unicodeEscape reads \uXXXX at the start of p.
func unicodeEscape(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range p[2:6] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
