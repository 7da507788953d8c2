package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// repeat returns a word that has c in each byte.
func repeat(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// masks are variables because the compiler loads a 64-bit constant anew at each use, which costs 15
// % of String.
var masks = struct{ low, quote, backslash, control uint64 }{
	repeat(0x7f), repeat('"'), repeat('\\'), repeat(0x80 - ' '),
}

// String reads the string whose opening quote is at i.
func (s *Scanner) String(i int) int {
	start, rest, high := i, s.B[i+1:], uint64(0)
	low, quote, backslash, control := masks.low, masks.quote, masks.backslash, masks.control
	s.Odd = false
words:
	for {
		x := uint64(0)
		if len(rest) >= 8 {
			x = binary.LittleEndian.Uint64(rest)
		} else {
			x = lastWord(rest)
		}
		high |= x
		// ends has the top bit of each byte set that is a quote, a backslash or a control
		// character.
		y := x & low
		ends := ^(((y^quote)+low)&((y^backslash)+low)&(y+control) | x | low)
		for ends != 0 {
			n := bits.TrailingZeros64(ends) / 8
			if n+1 < len(rest) && rest[n] == '\\' && shortEscape[rest[n+1]] {
				s.Odd = true
				if ends &^= 0x8080 << (n * 8); n == 7 {
					rest = rest[1:]
				}
				continue
			}
			i = len(s.B) - len(rest) + n
			switch {
			case n < len(rest) && rest[n] == '"' && high&^low == 0:
				return i + 1
			case n == len(rest) || rest[n] != '\\':
				return s.endString(start, i)
			}
			if i = s.unicodeEscape(i + 1); i < 0 {
				return i
			}
			rest = s.B[i:]
			continue words
		}
		rest = rest[8:]
	}
}

// lastWord returns the last bytes of a text, of which there are less than eight, and zeros.
func lastWord(b []byte) (x uint64) {
	for i, c := range b {
		x |= uint64(c) << (i * 8)
	}
	return x
}

// endString checks the string from start to i, which may have bytes outside ASCII.
func (s *Scanner) endString(start, i int) int {
	switch {
	case i == len(s.B):
		return s.fail(i, "string without an end")
	case s.B[i] != '"':
		return s.fail(i, "control character in a string")
	case !utf8.Valid(s.B[start+1 : i]):
		return s.fail(start, "invalid UTF-8 in the string")
	}
	for _, c := range s.B[start+1 : i] {
		if c >= utf8.RuneSelf {
			s.Odd = true
			break
		}
	}
	return i + 1
}

// unicodeEscape reads an escape that is not a short one. Its letter is at i.
func (s *Scanner) unicodeEscape(i int) int {
	b := s.B
	if i >= len(b) || b[i] != 'u' {
		return s.fail(i, "unknown escape")
	}
	s.Odd = true
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
