package jsonrpc

import "bytes"

// OneLine makes a valid message fit for where a line is a message, in place: in valid JSON
// line ends stand between tokens only, and become spaces.
func OneLine(frame []byte) {
	for _, end := range []byte{'\n', '\r'} {
		for rest := frame; ; {
			i := bytes.IndexByte(rest, end)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}
