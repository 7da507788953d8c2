package trace

import "slices"

// A view is a text and where its bytes came from in the original one. Byte i came from the unit (an
// escape or a byte) that begins at at[i]; one more entry is for the end. Without at, text is the
// stretch of the original that begins at base.
type view struct {
	text []byte
	at   []int32
	base int
}

// resolve makes v the text of from with its escapes resolved. It returns false, and leaves v as it
// was, if there are none.
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

// origin is where byte i came from. i may be len(v.text), for the end.
func (v *view) origin(i int) int32 {
	if v.at == nil {
		return int32(v.base + i)
	}
	return v.at[i]
}

// span is the stretch of the original text that v.text[lo:hi] came from, in whole units.
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

// widen makes a stretch of the original text one of whole units.
func (v *view) widen(lo, hi int) (from, to int) {
	i, ok := slices.BinarySearch(v.at, int32(lo))
	if !ok {
		i--
	}
	j, _ := slices.BinarySearch(v.at, int32(hi))
	return int(v.at[i]), int(v.at[j])
}
