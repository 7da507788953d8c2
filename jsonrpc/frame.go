package jsonrpc

import "bytes"

// readSize is how much is read at once into a buffer of its own.
const readSize = 64 << 10

// framer cuts a byte stream into lines (MCP stdio transport: messages "are
// delimited by newlines"). Bytes come in through space and fill, frames go out
// through next, and rest puts away what is left of the last line.
type framer struct {
	limit    int
	data     []byte // not yet cut; part of own, or of the caller's buffer
	own      []byte // holds a line that did not come whole
	inOwn    bool   // data is part of own
	searched int    // bytes of data known to hold no newline
	size     int    // of the line cut last
	long     *TooLongError
}

// space returns where to read to: the shared buffer while no line is begun,
// which saves the copy, otherwise behind the line that is.
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

// fill takes the n bytes that were read into what space returned.
func (f *framer) fill(buf []byte, n int) {
	if len(f.data) == 0 {
		f.data, f.inOwn = buf[:n], false
		return
	}
	f.data = f.data[:len(f.data)+n]
}

// next returns the next whole line without its newline and the white space
// around it. Blank lines are passed over. It returns nil, nil when there is no
// whole line, and a *TooLongError when one was over the limit.
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

// last returns what stands after the last newline, once the stream has ended.
func (f *framer) last() ([]byte, error) {
	line := f.data
	f.data, f.searched = nil, 0
	if f.long != nil || len(line) > f.limit {
		return nil, f.endLong(line)
	}
	return trim(line), nil
}

// rest keeps the start of a line that has not ended yet, or lets it go and
// counts when it is too long.
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

// shrink gives a buffer back that a large line has grown, unless lines are
// still that large.
func (f *framer) shrink() {
	if cap(f.own) > 16*readSize && f.size < cap(f.own)/4 {
		f.own = nil
	}
}

func (f *framer) skip(part []byte) {
	if f.long == nil {
		f.long = &TooLongError{Limit: int64(f.limit)}
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
		return line // as nearly all are
	}
	line = bytes.TrimPrefix(line, byteOrderMark)
	return bytes.Trim(line, " \t\r")
}
