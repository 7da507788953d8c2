package asyncwriter

import (
	"bytes"
	"io"
)

// A batch is what callers have queued since the goroutine last took some. Two batches take turns,
// so that steady use allocates nothing.
type batch[T any] struct {
	entries []Entry[T]
	bytes   Bytes
}

// reset empties b, and releases unusually large memory.
func (b *batch[T]) reset() {
	clear(b.entries)
	b.entries, b.bytes = b.entries[:0], b.bytes[:0]
	if cap(b.bytes) > keepBytes || cap(b.entries) > keepEntries {
		*b = batch[T]{}
	}
}

// Bytes holds copies of what items borrow.
type Bytes []byte

// Copy returns a copy of p. Later copies may move b, but not this one.
func (b *Bytes) Copy(p []byte) []byte {
	if p == nil {
		return nil
	}
	start := len(*b)
	*b = append(*b, p...)
	return (*b)[start:len(*b):len(*b)]
}

// lines writes whole lines to an output that may take part of them.
type lines struct {
	out  io.Writer
	torn bool // the output ends within a line
}

var newline = []byte("\n")

// write writes p, which ends with a line. With an error, it returns how many of the lines the
// output has.
func (l *lines) write(p []byte) (whole uint64, err error) {
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
	return uint64(bytes.Count(p[:n], newline)), err
}

// Text is an io.Writer that queues what is written to it, such as the lines of a log.
type Text struct{ *Writer[[]byte] }

// NewText returns a Text that queues at most limit bytes for out. The result of lost is written
// where lines are missing.
func NewText(out io.Writer, limit int, lost func(lines uint64) string) Text {
	return Text{New(out, Options[[]byte]{
		Name: "log", Limit: limit, Report: true,
		Keep: func(p *[]byte, to *Bytes) { *p = to.Copy(*p) },
		Append: func(dst []byte, e *Entry[[]byte]) []byte {
			if e.Lost > 0 {
				dst = append(dst, lost(e.Lost)...)
			}
			return append(dst, e.Item...)
		},
	})}
}

// Write queues p or drops it. It never fails.
func (t Text) Write(p []byte) (int, error) {
	t.Put(p, len(p))
	return len(p), nil
}
