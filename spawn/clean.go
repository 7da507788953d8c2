package spawn

import (
	"bytes"
	"strings"

	"toolman/mcpwire/sanitize"
)

const escape = 0x1b

// clean returns a line of untrusted bytes as text that is safe to show, without escape sequences
// and trailing spaces. It is never longer than the line.
func clean(line []byte) string {
	var b strings.Builder
	for {
		i := bytes.IndexByte(line, escape)
		if i < 0 {
			b.Write(line)
			return strings.TrimRight(sanitize.Line(b.String()), " ")
		}
		b.Write(line[:i])
		line = line[i+sequenceLen(line[i:]):]
	}
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
