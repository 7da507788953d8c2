package peer

import (
	"bytes"

	"toolman/jsonrpc"
)

// readSize is how much is read at once into a buffer of its own.
const readSize = 64 << 10

// A framer splits a byte stream into lines (MCP, stdio transport: messages "are delimited by
// newlines"). For each read, call space, fill, next until there is no more line, and rest.
type framer struct {
	limit    int
	data     []byte                // not yet split; part of own, or of the caller's buffer
	own      []byte                // holds a line that is incomplete
	inOwn    bool                  // data is part of own
	searched int                   // bytes of data without a newline
	size     int                   // of the last line
	long     *jsonrpc.TooLongError // of the line being read
}

// space returns where to read to: behind an incomplete line if there is one, otherwise the shared
// buffer, which saves a copy.
func (f *framer) space(shared []byte) []byte {
	if len(f.data) == 0 {
		return shared
	}
	if cap(f.own)-len(f.data) < readSize {
		grown := make([]byte, len(f.data), 2*cap(f.own)+readSize)
		copy(grown, f.data)
		f.own = grown
		f.data = grown
	}
	return f.data[len(f.data):cap(f.data)]
}

// fill takes the n bytes that were read into buf, which space has returned.
func (f *framer) fill(buf []byte, n int) {
	if len(f.data) == 0 {
		f.data, f.inOwn = buf[:n], false
		return
	}
	f.data = f.data[:len(f.data)+n]
}

// next returns the next complete line that is not blank, without its newline and the white space
// around it. It returns nil, nil if there is none, and a *TooLongError for a line over the limit.
func (f *framer) next() ([]byte, error) {
	for {
		i := bytes.IndexByte(f.data[f.searched:], '\n')
		if i < 0 {
			f.searched = len(f.data)
			return nil, nil
		}
		line := f.data[:f.searched+i]
		f.data, f.searched, f.size = f.data[f.searched+i+1:], 0, len(line)
		if f.long != nil || len(line) > f.limit {
			return nil, f.endLong(line)
		}
		if line = trim(line); len(line) > 0 {
			return line, nil
		}
	}
}

// last returns the text behind the last newline, once the stream has ended.
func (f *framer) last() ([]byte, error) {
	line := f.data
	f.data, f.searched = nil, 0
	if f.long != nil || len(line) > f.limit {
		return nil, f.endLong(line)
	}
	return trim(line), nil
}

// rest keeps the start of an incomplete line. It only counts the bytes of a line over the limit.
func (f *framer) rest() {
	if f.long != nil || len(f.data) > f.limit {
		f.skip(f.data)
		f.data, f.searched = nil, 0
	}
	switch {
	case len(f.data) == 0:
		f.shrink()
		f.data = nil
	case !f.inOwn || cap(f.data) < cap(f.own):
		f.own = append(f.own[:0], f.data...)
		f.data, f.inOwn = f.own, true
	}
}

// shrink frees a buffer that a large line has grown, unless the last line was large too.
func (f *framer) shrink() {
	if cap(f.own) > 16*readSize && f.size < cap(f.own)/4 {
		f.own = nil
	}
}

func (f *framer) skip(part []byte) {
	if f.long == nil {
		f.long = &jsonrpc.TooLongError{Limit: int64(f.limit)}
	}
	f.long.Add(part)
}

func (f *framer) endLong(part []byte) error {
	f.skip(part)
	err := f.long
	f.long = nil
	return err
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func trim(line []byte) []byte {
	if n := len(line); n > 0 && line[0] == '{' && line[n-1] == '}' {
		return line // the usual case
	}
	line = bytes.TrimPrefix(line, byteOrderMark)
	return bytes.Trim(line, " \t\r")
}
