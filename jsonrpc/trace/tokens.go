package trace

import "bytes"

// A token is a piece of JSON, or of what looks like some.
type token struct {
	kind   byte // '"' string, '0' number, 'a' other letters, or the structural character itself; 0: no more
	lo, hi int
	closed bool // of a string: it has its closing quote
}

// next finds the first token of b from i on. It takes any bytes; for JSON its tokens are JSON's.
func next(b []byte, i int) token {
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			hi, closed := stringEnd(b, i)
			return token{'"', i, hi, closed}
		case c == '-' || '0' <= c && c <= '9':
			return token{'0', i, run(b, i, isNumberByte), true}
		case isLetter(c):
			return token{'a', i, run(b, i, isLetter), true}
		case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
			return token{c, i, i + 1, true}
		}
	}
	return token{}
}

// inner is the content of a string token.
func (t token) inner() (lo, hi int) {
	if t.closed {
		return t.lo + 1, t.hi - 1
	}
	return t.lo + 1, t.hi
}

// stringEnd is the offset past the string that begins at b[i].
func stringEnd(b []byte, i int) (end int, closed bool) {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n
		if slashes := n - len(bytes.TrimRight(b[i-n:i], `\`)); slashes%2 == 0 {
			return i + 1, true
		}
	}
	return len(b), false
}

func run(b []byte, i int, is func(byte) bool) int {
	for i < len(b) && is(b[i]) {
		i++
	}
	return i
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 }

// isKey reports whether the string token t of b is a member's key.
func (t token) isKey(b []byte) bool {
	for _, c := range b[t.hi:] {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}
