package jsonrpc

import (
	"math"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// near is how far into a string text begins to use blocks; they pay only in long
// ones, and need AVX2.
var near = func() int {
	if cpu.X86.HasAVX2 {
		return 128
	}
	return math.MaxInt
}()

// classify marks, with bit n for byte n: quotes, backslashes, the odd bytes that
// make no two-character escape with a backslash before them (u is odd, it needs
// more), control characters, and bytes outside ASCII. It needs AVX2.
//
//go:noescape
func classify(p *[64]byte) (quote, back, odd, control, high uint64)

// markBlocks writes a word of marks for each of n blocks of 64 bytes, and reports
// whether there are bytes outside ASCII.
func markBlocks(p *byte, n int, out *uint64) (wide bool) {
	if !cpu.X86.HasAVX2 {
		return markWords(p, n, out)
	}
	return markAVX2(p, n, out) != 0
}

// markAVX2 is markBlocks; high is not zero when it is true.
//
//go:noescape
func markAVX2(p *byte, n int, out *uint64) (high uint64)

// blocks passes over the text of a string 64 bytes at a time, and stops where
// the string ends or is wrong, or less than a block is left; text judges that. No
// escape may have begun before i.
func (s *scanner) blocks(i int) int {
	b, carry := s.b, uint64(0)
	for i+64 <= len(b) {
		quote, back, odd, control, wide := classify((*[64]byte)(b[i:]))
		s.wide = s.wide || wide != 0
		taken, next := escaped(back, carry)
		for odd &= taken; odd != 0 && isUnicode(b[i+bits.TrailingZeros64(odd):]); {
			odd &= odd - 1
		}
		if stop := quote&^taken | odd | control; stop != 0 {
			n := bits.TrailingZeros64(stop)
			return i + n - int(odd>>n&1) // an escape is judged from its backslash on
		}
		carry = next
		i += 64
	}
	return i - int(carry)
}

// isUnicode reports whether b starts with what follows the backslash of a \u escape.
func isUnicode(b []byte) bool {
	return len(b) >= 5 && b[0] == 'u' && isHex(b[1]) && isHex(b[2]) && isHex(b[3]) && isHex(b[4])
}

const oddBits = 0xaaaaaaaaaaaaaaaa

// escaped marks the bytes behind a backslash that is not escaped itself. carry is
// 1 when the first byte is one, next when the first of the following block is.
//
// In a row of backslashes every second one escapes, from its first on. Shifting
// and subtracting gives a row that starts at an odd bit zeros, and one that starts
// at an even bit ones, since it borrows; so flipping the odd bits leaves just the
// escaping ones, and also the bit behind the row if the row is of odd length.
func escaped(back, carry uint64) (marks, next uint64) {
	rows := back &^ carry
	code := (rows<<1 | oddBits) - rows ^ oddBits
	return code ^ (back | carry), (code & back) >> 63
}
