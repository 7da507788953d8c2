package jsonrpc

import (
	"encoding/binary"
	"unsafe"
)

// markWords marks blocks eight bytes at a time.
func markWords(p *byte, n int, out *uint64) (wide bool) {
	b, marks := unsafe.Slice(p, n*64), unsafe.Slice(out, n)
	high := uint64(0)
	for i := range marks {
		word := uint64(0)
		for j := range 8 {
			x := binary.LittleEndian.Uint64(b[i*64+j*8:])
			high |= x
			word |= gather(special(x)) << (j * 8)
		}
		marks[i] = word
	}
	return high&highBits != 0
}

const highBits = 0x8080808080808080

func repeat(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// special sets the high bit of the bytes of x that are a quote, a backslash or a
// control character, and clears all others.
func special(x uint64) uint64 {
	low := ^uint64(highBits)
	quote, back := x^repeat('"'), x^repeat('\\')
	return ^((quote&low + low | quote) & (back&low + low | back) & (x&low + repeat(0x80-' ') | x)) & highBits
}

// gather moves the high bit of byte n to bit n.
func gather(high uint64) uint64 { return (high >> 7) * 0x0102040810204080 >> 56 }
