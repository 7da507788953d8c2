package spawn

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"toolman/jsonrpc/asyncwriter"
	"toolman/mcpwire/sanitize"
)

const (
	queueBytes   = 128 << 10
	lineOverhead = 32 // bytes of a queued line in addition to its text
)

// stderr reads a child's standard error. It keeps the last lines and passes all lines to a sink.
//
//	pipe ──drain──▶ tail ──▶ queue ──▶ sink
//
// The reader never waits for the sink, because a child whose standard error is not read blocks in
// write(2) and answers no calls.
type stderr struct {
	file  *os.File // closed by drain
	tail  *tail
	queue *asyncwriter.Writer[[]byte] // nil if there is no sink
	eof   chan struct{}               // closed after the last read
	turn  sync.Mutex                  // held from a read until tail has what was read; not on Windows
}

func drainStderr(file *os.File, sink func(string)) *stderr {
	s := &stderr{file: file, eof: make(chan struct{})}
	if sink != nil {
		s.queue = asyncwriter.New(lineSink(sink), asyncwriter.Options[[]byte]{
			Name: "standard error", Limit: queueBytes, Report: true, Append: appendLine,
			Keep: func(line *[]byte, to *asyncwriter.Bytes) { *line = to.Copy(*line) },
		})
	}
	s.tail = newTail(func(line []byte) { s.queue.Put(line, len(line)+lineOverhead) })
	go s.drain()
	return s
}

// appendLine appends the sanitized line of an entry, unless it is blank, and the number of lines
// that were dropped before it.
func appendLine(dst []byte, e *asyncwriter.Entry[[]byte]) []byte {
	if e.Lost > 0 {
		dst = fmt.Appendf(dst, "… %d lines dropped\n", e.Lost)
	}
	if line := sanitize.Output(e.Item); line != "" {
		dst = append(append(dst, line...), '\n')
	}
	return dst
}

// A lineSink is an io.Writer that passes on each line.
type lineSink func(line string)

func (sink lineSink) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		sink(string(bytes.TrimSuffix(line, []byte{'\n'})))
	}
	return len(p), nil
}

// readBytes is how much is read at once. A larger buffer would quadruple the stack.
const readBytes = 2 << 10

func (s *stderr) drain() {
	s.read()
	s.file.Close()
	s.tail.endLine()
	close(s.eof)
}

// finish reads the rest, for at most grace if another process holds the pipe open, and waits until
// the sink has got all lines.
func (s *stderr) finish(grace time.Duration) {
	if err := s.file.SetReadDeadline(time.Now().Add(grace)); err != nil {
		closedWithin(s.eof, grace) // pipes have no deadlines on Windows
		s.file.Close()
	}
	<-s.eof
	s.queue.Close(math.MaxInt64)
}

const (
	maxLine   = 4 << 10 // bytes of a line that are kept
	tailLines = 20
	tailBytes = 4 << 10
	cutMark   = "…"
)

// A tail splits a stream into lines and keeps the last ones. It reuses its memory, which is
// limited.
type tail struct {
	line func(raw []byte) // gets each complete line and must not keep it

	mu    sync.Mutex
	ring  [tailLines + 1][]byte // guarded by mu: ring[ended%len] is the incomplete line
	ended int                   // guarded by mu: complete lines so far
	cut   bool                  // guarded by mu: the incomplete line is full
}

func newTail(line func([]byte)) *tail { return &tail{line: line} }

// write adds bytes of the stream. A carriage return ends a line too, so that a progress bar becomes
// several lines.
func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(b) > 0 {
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			t.extendLocked(b)
			return
		}
		t.extendLocked(b[:end])
		t.endLineLocked()
		b = b[end+1:]
	}
}

// endLine ends an incomplete last line.
func (t *tail) endLine() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
}

func (t *tail) extendLocked(b []byte) {
	if t.cut {
		return
	}
	line := &t.ring[t.ended%len(t.ring)]
	room := maxLine - len(cutMark) - len(*line)
	t.cut = len(b) > room
	*line = append(*line, b[:min(len(b), room)]...)
	if t.cut {
		*line = append(*line, cutMark...)
	}
}

// endLineLocked passes on the incomplete line, unless it is empty, and begins the next one.
func (t *tail) endLineLocked() {
	t.cut = false
	line := t.ring[t.ended%len(t.ring)]
	if len(line) == 0 {
		return
	}
	t.line(line)
	t.ended++
	next := &t.ring[t.ended%len(t.ring)]
	*next = (*next)[:0]
}

// String returns the last lines, sanitized, oldest first.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, lines := "", 0
	for i := t.ended; i >= 0 && i > t.ended-len(t.ring) && lines < tailLines; i-- {
		line := sanitize.Output(t.ring[i%len(t.ring)])
		if line == "" {
			continue
		}
		if lines++; lines > 1 {
			line += "\n"
		}
		if len(line)+len(text) > tailBytes {
			break
		}
		text = line + text
	}
	return text
}
