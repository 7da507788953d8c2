package spawn

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const escape = 0x1b

// clean makes a line of untrusted bytes fit to be shown: escape sequences and all that is not a visible character or a
// blank (control, direction and other invisible characters) are removed, a tab becomes a blank, a byte that is no
// UTF-8 a question mark. The result is never longer than the line; of a line of blanks nothing is left.
func clean(line []byte) string {
	var b strings.Builder
	b.Grow(len(line))
	for len(line) > 0 {
		if line[0] == escape {
			line = line[sequenceLen(line):]
			continue
		}
		r, n := utf8.DecodeRune(line)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteByte('?')
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		}
		line = line[n:]
	}
	return strings.TrimRight(b.String(), " ")
}

// sequenceLen returns the length of the escape sequence (ECMA-48) that b begins with.
func sequenceLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // control sequence: parameters and intermediates, then one final byte
		return spanLen(b, 2, 0x20, 0x3f)
	case ']', 'P', 'X', '^', '_': // command string: up to BEL or ESC \
		return stringLen(b)
	default: // intermediates, then one final byte
		return spanLen(b, 1, 0x20, 0x2f)
	}
}

// spanLen counts from bytes that are within lo and hi, and the final byte after them if it is one.
func spanLen(b []byte, from int, lo, hi byte) int {
	i := from
	for i < len(b) && b[i] >= lo && b[i] <= hi {
		i++
	}
	if i < len(b) && b[i] >= 0x30 && b[i] <= 0x7e {
		i++
	}
	return i
}

func stringLen(b []byte) int {
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] == '\a':
			return i + 1
		case b[i] == escape && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		}
	}
	return len(b)
}
