package sse

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
)

const (
	fieldSpace = 64       // how much longer than the limit of its event a line may be: a field's name
	maxID      = 1 << 10  // IDs are sent back in a header
	headBytes  = 4 << 10  // kept of the start of an event that is too long
	tailBytes  = 256      // and of its end
	readBytes  = 16 << 10 // read at once
)

// An Event is one event of a stream.
type Event struct {
	Name string // MCP's messages have "message" or ""
	ID   string // "" if it has none
	Data []byte // without the last line break; valid until the next event is read
}

// A Reader reads a stream of events. It takes any line break, holds no more than its limit, and
// skips events that are longer.
type Reader struct {
	in     *bufio.Reader
	limit  int
	skipLF bool // the last line ended with CR

	line     []byte
	longData bool // the line is a data field over the limit, and line no longer holds it

	data []byte // each data field with a line break
	name string
	id   string
	long *jsonrpc.TooLongError // the event is over the limit

	lastID string
	retry  time.Duration
}

// NewReader returns a Reader of events with up to limit bytes of data.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, readBytes), limit: limit}
}

// LastID returns the ID to resume the stream with, "" if the server gave none.
func (r *Reader) LastID() string { return r.lastID }

// Retry returns how long the server wants clients to wait before they reconnect, 0 if it did not
// say.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event that has data or an ID. An event over the limit is a
// *jsonrpc.TooLongError, after which the stream goes on; any other error ends it, io.EOF at its
// end. An event that the end of the stream cuts off is dropped.
func (r *Reader) Next() (Event, error) {
	for {
		if err := r.readLine(); err != nil {
			return Event{}, err
		}
		if len(r.line) > 0 {
			r.field()
			continue
		}
		e, err := r.event()
		if err != nil || len(e.Data) > 0 || e.ID != "" {
			return e, err
		}
	}
}

// event returns the event that a blank line ends.
func (r *Reader) event() (Event, error) {
	e := Event{Name: r.name, ID: r.id, Data: bytes.TrimSuffix(r.data, []byte{'\n'})}
	if r.id != "" {
		r.lastID = r.id
	}
	long := r.long
	r.name, r.id, r.long, r.data = "", "", nil, r.data[:0]
	if cap(r.data) > 64*readBytes && len(e.Data) < cap(r.data)/4 {
		r.data = nil // a large event had it grown
	}
	if long != nil {
		return Event{}, long
	}
	return e, nil
}

// field reads one line that is not blank.
func (r *Reader) field() {
	name, value, _ := bytes.Cut(r.line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		r.addData(value)
	case "event":
		r.name = string(value[:min(len(value), fieldSpace)])
	case "id":
		if len(value) <= maxID && httpheader.Visible(value) {
			r.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// addData adds a data field to the event.
func (r *Reader) addData(value []byte) {
	if r.long == nil && len(r.data)+len(value) <= r.limit {
		r.data = append(append(r.data, value...), '\n')
		return
	}
	if r.long == nil {
		r.long = &jsonrpc.TooLongError{Limit: int64(r.limit)}
		r.skip(r.data)
		r.data = r.data[:0]
	}
	r.skip(value)
}

// skip counts a part of an event that is too long.
func (r *Reader) skip(part []byte) {
	long := r.long
	long.Size += int64(len(part))
	long.Head = append(long.Head, part[:min(len(part), headBytes-len(long.Head))]...)
	long.Tail = append(long.Tail, part[max(0, len(part)-tailBytes):]...)
	long.Tail = long.Tail[max(0, len(long.Tail)-tailBytes):]
}

// readLine reads a line without its end.
func (r *Reader) readLine() error {
	r.line, r.longData = r.line[:0], false
	for {
		if _, err := r.in.Peek(1); err != nil {
			return err
		}
		part, _ := r.in.Peek(r.in.Buffered())
		if r.skipLF {
			r.skipLF = false
			if part[0] == '\n' {
				r.in.Discard(1)
				continue
			}
		}
		end := indexOr(part, '\n', len(part))
		end = indexOr(part[:end], '\r', end)
		r.addToLine(part[:end])
		if end == len(part) {
			r.in.Discard(end)
			continue
		}
		r.skipLF = part[end] == '\r'
		r.in.Discard(end + 1)
		return nil
	}
}

func indexOr(text []byte, c byte, otherwise int) int {
	if i := bytes.IndexByte(text, c); i >= 0 {
		return i
	}
	return otherwise
}

// addToLine adds a part to the line. What is over the limit is counted if it is data, and dropped
// otherwise: the line becomes a comment.
func (r *Reader) addToLine(part []byte) {
	if len(r.line) == 0 || r.line[0] != ':' {
		fits := min(len(part), r.limit+fieldSpace-len(r.line))
		r.line = append(r.line, part[:fits]...)
		if part = part[fits:]; len(part) == 0 {
			return
		}
		if value, ok := bytes.CutPrefix(r.line, []byte("data:")); ok {
			r.addData(bytes.TrimPrefix(value, []byte{' '}))
			r.longData = true
		}
		r.line = append(r.line[:0], ':')
	}
	if r.longData {
		r.skip(part)
	}
}
