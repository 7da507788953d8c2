package jsonrpc

import (
	"math/bits"
	"unicode/utf8"
)

// window is how many bytes are marked at once.
const window = 1024

// marks has bit n of word n/64 set where byte n of the window ends plain text: at
// a quote, a backslash or a control character.
type marks [window / 64]uint64

// load marks the window that begins at i.
func (s *scanner) load(i int) {
	b := s.b[i:min(len(s.b), i+window)]
	s.from, s.till = i, i+len(b)
	whole := len(b) / 64
	if whole > 0 {
		s.wide = markBlocks(&b[0], whole, &s.marks[0]) || s.wide
	}
	if rest := len(b) % 64; rest > 0 {
		var block [64]byte
		copy(block[:], b[whole*64:])
		s.wide = markBlocks(&block[0], 1, &s.marks[whole]) || s.wide
		s.marks[whole] &= 1<<rest - 1
	}
}

// mark returns the place of the first marked byte from i on, or len(b).
func (s *scanner) mark(i int) int {
	for i < len(s.b) {
		if i >= s.till {
			s.load(i)
		}
		at := i - s.from
		if m := s.marks[at/64] >> (at % 64); m != 0 {
			return i + bits.TrailingZeros64(m)
		}
		i += 64 - at%64
	}
	return len(s.b)
}

// quick is text for the usual string: it ends within one word of marks, without
// an escape and in ASCII. For others it returns -1, without a word of why.
func (s *scanner) quick(i int) int {
	at := uint(i + 1 - s.from)
	if i+1 < s.till && !s.wide {
		m := s.marks[at/64%uint(len(s.marks))] >> (at % 64)
		if i += bits.TrailingZeros64(m) + 2; m != 0 && i <= len(s.b) && s.b[i-1] == '"' {
			return i
		}
	}
	return -1
}

// text passes over a string, from its quote on.
func (s *scanner) text(i int) int {
	b, start := s.b, i
	i++
	for {
		if i = s.mark(i); i >= len(b) {
			return s.fail(i, "string without an end")
		}
		switch b[i] {
		case '"':
			if s.wide && !utf8.Valid(b[start+1:i]) {
				return s.fail(start, "invalid UTF-8 in the string")
			}
			return i + 1
		case '\\':
			s.odd = true
			if i = s.escapes(i); i < 0 {
				return i
			}
		default:
			return s.fail(i, "control character in a string")
		}
		if i-start > near {
			i = s.blocks(i)
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
