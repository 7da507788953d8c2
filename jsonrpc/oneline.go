package jsonrpc

import "bytes"

// OneLine makes a valid message fit for a transport that ends each message with a line break, in place.
// In valid JSON line breaks stand between tokens only, so that spaces can replace them.
func OneLine(frame []byte) {
	replace(frame, '\n')
	replace(frame, '\r')
}

func replace(frame []byte, lineBreak byte) {
	for {
		i := bytes.IndexByte(frame, lineBreak)
		if i < 0 {
			return
		}
		frame[i] = ' '
		frame = frame[i+1:]
	}
}

// isOneLine reports whether a line-framed far end takes b for a part of one message. Some readers, those of
// Python in text mode among them, end a line at a CR, too.
func isOneLine(b []byte) bool { return bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 }
