package trace

import (
	"bytes"
	"io"
)

var newline = []byte("\n")

// Lines writes whole lines to an output that may take a part of them: a line that it tore
// is ended before the next ones. One goroutine uses it at a time.
type Lines struct {
	out  io.Writer
	torn bool // the output ends within a line
}

// NewLines returns Lines on out.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Write writes p, which ends with a line. With an error, whole says how many of its lines
// the output has.
func (l *Lines) Write(p []byte) (whole int, err error) {
	if l.torn {
		if _, err := l.out.Write(newline); err != nil {
			return 0, err
		}
		l.torn = false
	}
	n, err := l.out.Write(p)
	n = max(0, min(n, len(p)))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	l.torn = err != nil && n > 0 && p[n-1] != '\n'
	return bytes.Count(p[:n], newline), err
}
