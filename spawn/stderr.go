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
	"toolman/spawn/internal/tail"
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
	tail  *tail.Tail
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
	s.tail = tail.New(func(line []byte) { s.queue.Put(line, len(line)+lineOverhead) })
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
	s.tail.EndLine()
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
