package suggest

// maxPattern is how many bytes of a name are compared: one for each bit of a word.
const maxPattern = 64

// A pattern is a name that others are compared with, prepared for that.
type pattern struct {
	text  string
	where [256]uint64 // for each byte, a bit at each of its places in text
}

func NewPattern(text string) *pattern {
	p := &pattern{text: text[:min(len(text), maxPattern)]}
	for i := range len(p.text) {
		p.where[p.text[i]] |= 1 << i
	}
	return p
}

// distance is how many letters have to be put in, left out or exchanged to make
// other of the pattern (Levenshtein), and at most limit+1. A column of the table is
// two words of differences, after Myers, "A fast bit-vector algorithm for
// approximate string matching", as Hyyrö has put it for whole texts.
func (p *pattern) distance(other string, limit int) int {
	d := len(p.text)
	if d == 0 || d-len(other) > limit || len(other)-d > limit {
		return limit + 1
	}
	last := uint64(1) << (d - 1)
	up, down := ^uint64(0), uint64(0)
	for i := range len(other) {
		same := p.where[other[i]]
		level := ((same & up) + up) ^ up | same | down
		right, left := down|^(level|up), up&level
		if right&last != 0 {
			d++
		} else if left&last != 0 {
			d--
		}
		right, left = right<<1|1, left<<1
		up, down = left|^(level|right), right&level
	}
	return min(d, limit+1)
}
