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
	whole, rest := len(b)/64, len(b)%64
	if rest > 0 && cap(b) >= (whole+1)*64 {
		s.wide = markBlocks(&b[0], whole+1, &s.marks[0]) || s.wide
		s.marks[whole] &= 1<<rest - 1 // what is behind the frame is not part of it
	} else {
		if whole > 0 {
			s.wide = markBlocks(&b[0], whole, &s.marks[0]) || s.wide
		}
		if rest > 0 {
			s.marks[whole] = s.loadRest(s.till, rest)
		}
	}
	if s.plain = 0; !s.wide {
		s.plain = uint(len(b))
	}
}

// loadRest returns the marks of the n bytes before end, which are less than a block.
func (s *scanner) loadRest(end, n int) (marks uint64) {
	if end >= 64 {
		s.wide = markBlocks(&s.b[end-64], 1, &marks) || s.wide
		return marks >> (64 - n)
	}
	var block [64]byte
	copy(block[:], s.b[end-n:end])
	s.wide = markBlocks(&block[0], 1, &marks) || s.wide
	return marks & (1<<n - 1)
}

// quick is text for the usual string: it ends within one word of marks, without
// an escape and in ASCII. For others it returns -1, without a word of why. b is
// s.b, which the caller has at hand.
func (s *scanner) quick(b []byte, i int) int {
	if at := uint(i + 1 - s.from); at < s.plain {
		if m := s.marks[at/64%uint(len(s.marks))] >> (at % 64); m != 0 {
			if i += bits.TrailingZeros64(m) + 1; i < len(b) && b[i] == '"' {
				return i + 1
			}
		}
	}
	return -1
}

// text passes over a string, from its quote on.
func (s *scanner) text(i int) int {
	b, start := s.b, i
	i++
	for {
		if i >= s.till {
			if i >= len(b) {
				return s.fail(i, "string without an end")
			}
			s.load(i)
		}
		at := uint(i - s.from)
		next, m := i+64-int(at%64), s.marks[at/64%uint(len(s.marks))]>>(at%64)
		for m != 0 {
			n := bits.TrailingZeros64(m)
			i, m = i+n, m>>n
			if b[i] != '\\' {
				return s.stop(start, i)
			}
			if i+1 >= len(b) || !shortEscape[b[i+1]] {
				if i = s.unicode(i + 1); i < 0 {
					return i
				}
				next = i // the marks are read anew
				break
			}
			i, m = i+2, m>>2
			s.odd = true
		}
		if i = max(i, next); i-start > near {
			i = s.blocks(i)
		}
	}
}

// stop judges a string whose text ends at i.
func (s *scanner) stop(start, i int) int {
	switch {
	case s.b[i] != '"':
		return s.fail(i, "control character in a string")
	case s.wide && !utf8.Valid(s.b[start+1:i]):
		return s.fail(start, "invalid UTF-8 in the string")
	}
	return i + 1
}

// unicode passes over the escape whose letter is at i; it is none of the short ones.
func (s *scanner) unicode(i int) int {
	b := s.b
	if i >= len(b) || b[i] != 'u' {
		return s.fail(i, "unknown escape")
	}
	s.odd = true
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
