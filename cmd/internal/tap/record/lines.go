package record

import "bytes"

const (
	maxKept  = 4 << 20 // bytes of a line that are kept
	tailSize = 256     // bytes of the end of a longer line that are kept
)

// A line is one line of a stream without its end, or the ends of a long one. Its bytes are valid
// until the function that got it returns.
type line struct {
	head []byte // the start of the line, or all of it
	tail []byte // the end of a line of which head is only the start
	size int    // of the whole line
}

// whole reports whether head is the whole line.
func (l *line) whole() bool { return l.size == len(l.head) }

// A framer finds the lines of a stream, or what takes their place, with limited memory.
type framer interface {
	write(p []byte, found func(*line)) // the next bytes of the stream
	end(found func(*line))             // the stream has ended
	gap()                              // bytes of the stream are missing here
}

// A splitter splits a stream into lines. The zero value is ready for use.
type splitter struct {
	head []byte
	tail []byte // the end of what follows head
	size int    // of the line so far
	skip bool   // the start of the line is missing: ignore the rest
}

// write takes the next bytes of the stream and passes on each line that ends in them.
func (s *splitter) write(p []byte, found func(*line)) {
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.add(p)
			return
		}
		if s.skip {
			s.reset()
		} else if s.size == 0 && end <= maxKept {
			found(&line{head: p[:end], size: end})
		} else {
			s.add(p[:end])
			s.end(found)
		}
		p = p[end+1:]
	}
}

// end passes on the line that has no end yet, if there is any of it.
func (s *splitter) end(found func(*line)) {
	if s.size > 0 && !s.skip {
		found(&line{head: s.head, tail: s.tail, size: s.size})
	}
	s.reset()
}

// reset forgets the line that has no end yet.
func (s *splitter) reset() {
	if cap(s.head) > 1<<20 {
		s.head = nil
	}
	s.head, s.tail, s.size, s.skip = s.head[:0], s.tail[:0], 0, false
}

// gap says that bytes of the stream are missing here. The line around them is not passed on.
func (s *splitter) gap() {
	s.reset()
	s.skip = true
}

func (s *splitter) add(p []byte) {
	if s.skip {
		return
	}
	s.size += len(p)
	n := min(len(p), maxKept-len(s.head))
	s.head = append(s.head, p[:n]...)
	if p = p[n:]; len(p) == 0 {
		return
	}
	if len(p) >= tailSize {
		s.tail = append(s.tail[:0], p[len(p)-tailSize:]...)
		return
	}
	if over := len(s.tail) + len(p) - tailSize; over > 0 {
		s.tail = s.tail[:copy(s.tail, s.tail[over:])]
	}
	s.tail = append(s.tail, p...)
}
