package redact

import "slices"

// A view is a text and the origin of its bytes in the original text. Byte i came from the unit (an
// escape or a byte) that begins at at[i]; one more entry is for the end. If at is nil, text is the
// part of the original that begins at base.
type view struct {
	text []byte
	at   []int32
	base int
}

// resolve sets v to from with its escapes resolved. If there are none, it returns false and leaves
// v unchanged.
func (v *view) resolve(from view, c *escaping) bool {
	p := from.text
	i, size := c.next(p, 0)
	if size == 0 {
		return false
	}
	v.text, v.at = slices.Grow(v.text[:0], len(p)), slices.Grow(v.at[:0], len(p)+1)
	for done := 0; ; i, size = c.next(p, done) {
		v.text = append(v.text, p[done:i]...)
		for ; done < i; done++ {
			v.at = append(v.at, from.origin(done))
		}
		if size == 0 {
			break
		}
		v.text = c.decode(v.text, p[i:i+size])
		for len(v.at) < len(v.text) {
			v.at = append(v.at, from.origin(i))
		}
		done += size
	}
	v.at = append(v.at, from.origin(len(p)))
	return true
}

// origin returns the origin of byte i, or of the end.
func (v *view) origin(i int) int32 {
	if v.at == nil {
		return int32(v.base + i)
	}
	return v.at[i]
}

// span returns the whole units that v.text[lo:hi] came from.
func (v *view) span(lo, hi int) (from, to int) {
	if v.at == nil {
		return v.base + lo, v.base + hi
	}
	last := v.at[hi-1]
	for hi < len(v.text) && v.at[hi] <= last {
		hi++
	}
	return int(v.at[lo]), int(v.at[hi])
}

// widen extends a part of the original text to whole units.
func (v *view) widen(lo, hi int) (from, to int) {
	i, ok := slices.BinarySearch(v.at, int32(lo))
	if !ok {
		i--
	}
	j, _ := slices.BinarySearch(v.at, int32(hi))
	return int(v.at[i]), int(v.at[j])
}
