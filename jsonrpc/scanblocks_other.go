//go:build !amd64

package jsonrpc

import "math"

const near = math.MaxInt

// blocks is never called here: text is as fast as it gets.
func (s *scanner) blocks(i int) int { return i }

// markBlocks writes a word of marks for each of n blocks of 64 bytes, and reports
// whether there are bytes outside ASCII.
func markBlocks(p *byte, n int, out *uint64) (wide bool) { return markWords(p, n, out) }
