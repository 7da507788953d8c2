package jsonrpc

import "bytes"

// OneLine makes a valid message fit for a transport that ends each message with a line break, in place.
// In valid JSON line breaks stand between tokens only, so that spaces can replace them.
func OneLine(frame []byte) {
	for _, lineBreak := range []byte("\n\r") {
		for rest := frame; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

// OneLine is OneLine of the frame. It costs nothing if Scan has found no line breaks.
func (m *Message) OneLine() {
	if !m.oneLine {
		OneLine(m.Frame)
		m.oneLine = true
	}
}

// isOneLine reports whether the frame with the edits applied has no line breaks. known says that the frame
// itself has none. Some readers, such as Python's in text mode, end a line at a CR as well.
func isOneLine(frame []byte, known bool, edits []Edit) bool {
	for i := range edits {
		if !isOneLine(edits[i].New, false, nil) {
			return false
		}
	}
	return known || bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0
}
