package record

import (
	"bytes"
	"time"

	"toolman/jsonrpc/trace"
)

// A Stream is one direction of a connection, or the server's standard error. Its methods are for
// one goroutine, and never wait.
type Stream struct {
	r    *Recorder
	lost bool // the last piece had no room in the queue

	// owned by the queue's goroutine
	framer framer
	line   func(at time.Time, l *line)
}

// Messages returns a stream of messages on lines.
func (c *Conn) Messages(dir trace.Dir) *Stream {
	return &Stream{r: c.r, framer: new(splitter), line: func(at time.Time, l *line) { c.message(dir, at, l) }}
}

// Stderr returns the stream of the server's standard error.
func (r *Recorder) Stderr() *Stream {
	return &Stream{r: r, framer: new(splitter), line: func(at time.Time, l *line) {
		r.text(trace.EventStderr, at, bytes.TrimSuffix(l.head, []byte{'\r'}), !l.whole())
	}}
}

// text traces a line that is no message, or the start of one.
func (r *Recorder) text(event string, at time.Time, text []byte, cut bool) {
	kept := text[:min(len(text), maxText)]
	r.w.Event(trace.Event{Event: event, Peer: r.server, Text: string(kept), Cut: cut || len(kept) < len(text), At: at})
}

// Put queues the next bytes of the stream. It copies them.
func (s *Stream) Put(p []byte) {
	if s.lost { // the start of a line is missing
		s.lost = !s.r.Do(func(time.Time) { s.framer.gap() })
	}
	if s.lost || !s.r.queue.Put(piece{stream: s, at: time.Now(), data: p}, pieceBytes+len(p)) {
		s.lost = true
	}
}

// End says that the stream has ended.
func (s *Stream) End() { s.r.Do(s.end) }

func (s *Stream) end(at time.Time) { s.framer.end(func(l *line) { s.line(at, l) }) }

func (s *Stream) take(at time.Time, p []byte) {
	s.framer.write(p, func(l *line) { s.line(at, l) })
}
