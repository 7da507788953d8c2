package jsonrpc

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

func repeat(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// special marks, by their high bit, the bytes of x that are a quote, a
// backslash or a control character. The lowest mark is exact; ones above it
// may not be.
func special(x uint64) uint64 {
	quote, back := x^repeat('"'), x^repeat('\\')
	return ((quote - repeat(1)) | (back - repeat(1)) | (x - repeat(' '))) &^ x & highBits
}

const highBits = 0x8080808080808080

// text passes over a string, eight bytes at a time where nothing is special.
func (s *scanner) text() error {
	b, i := s.b, s.i+1
	high := uint64(0) // all bytes of the string, or-ed
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			high |= x
			if mark := special(x); mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return s.failAt(len(b), "string without an end")
		}
		switch c := b[i]; {
		case c == '"':
			if high&highBits != 0 && !utf8.Valid(b[s.i:i]) {
				return s.fail("invalid UTF-8 in the string")
			}
			s.i = i + 1
			return nil
		case c == '\\':
			for i+1 < len(b) && b[i] == '\\' && shortEscape[b[i+1]] {
				i += 2 // they often come in rows
			}
			if i < len(b) && b[i] == '\\' {
				if !unicodeEscape(b[i:]) {
					return s.badEscape(i)
				}
				i += 6
			}
		case c < ' ':
			return s.failAt(i, "control character in a string")
		default:
			high |= uint64(c)
			i++
		}
	}
}

func unicodeEscape(b []byte) bool {
	return len(b) >= 6 && b[1] == 'u' && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5])
}

var shortEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// badEscape finds out what is wrong with the escape at i.
func (s *scanner) badEscape(i int) error {
	i++
	if i >= len(s.b) || s.b[i] != 'u' {
		return s.failAt(i, "unknown escape")
	}
	for i++; i < len(s.b) && isHex(s.b[i]); i++ {
	}
	return s.failAt(i, "expected four hexadecimal digits")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
