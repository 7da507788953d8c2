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

// text passes over a string, from its quote on, eight bytes at a time where
// nothing is special, and in blocks when it is long.
func (s *scanner) text(i int) int {
	b, start := s.b, i
	i++
	high := uint64(0) // all bytes of the string, or-ed
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			high |= x
			if mark := special(x); mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			if i += 8; i-start > near {
				break
			}
		}
		if i >= len(b) {
			return s.fail(i, "string without an end")
		}
		switch c := b[i]; {
		case c == '"':
			if high&highBits != 0 && !utf8.Valid(b[start:i]) {
				return s.fail(start, "invalid UTF-8 in the string")
			}
			return i + 1
		case c == '\\':
			if i = s.escapes(i); i < 0 {
				return i
			}
		case c < ' ':
			return s.fail(i, "control character in a string")
		default:
			high |= uint64(c)
			i++
		}
		if i-start > near {
			i, high = s.blocks(i, high)
		}
	}
}

// escapes passes over the escapes at i; they often come in rows.
func (s *scanner) escapes(i int) int {
	b := s.b
	for i+1 < len(b) && b[i] == '\\' && shortEscape[b[i+1]] {
		i += 2
	}
	if i >= len(b) || b[i] != '\\' {
		return i
	}
	if i++; i >= len(b) || b[i] != 'u' {
		return s.fail(i, "unknown escape")
	}
	for end := i + 5; i+1 < end; {
		if i++; i >= len(b) || !isHex(b[i]) {
			return s.fail(i, "expected four hexadecimal digits")
		}
	}
	return i + 1
}

var shortEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
