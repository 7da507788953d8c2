package streamhttp

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"toolman/jsonrpc"
)

const (
	fieldSpace = 64       // how much longer than its event's limit a line may be: a field's name
	maxEventID = 1 << 10  // ids go back in a header
	headBytes  = 4 << 10  // what is kept of the start of an event that is too long
	tailBytes  = 256      // and of its end
	readBytes  = 16 << 10 // how much is read at once
)

// An EventReader cuts a stream of events. It takes any line end, holds no more than its
// limit, and goes on behind what is longer.
type EventReader struct {
	in     *bufio.Reader
	limit  int
	skipLF bool // the last line ended with CR

	line    []byte
	cut     bool // the line is too long
	cutData bool // and is data

	data []byte // with a line end behind each data field
	name string
	id   string // of the event that is being read
	long *jsonrpc.TooLongError

	lastID string
	retry  time.Duration
}

// NewEventReader makes a reader of events with up to limit bytes of data.
func NewEventReader(in io.Reader, limit int) *EventReader {
	return &EventReader{in: bufio.NewReaderSize(in, readBytes), limit: limit}
}

// LastID returns the id that the stream can be resumed with, "" when it gave none.
func (r *EventReader) LastID() string { return r.lastID }

// Retry returns how long the server wants clients to wait before they connect again; 0
// when it did not say.
func (r *EventReader) Retry() time.Duration { return r.retry }

// Next returns the next event. One without data counts if it has an id. An event over
// the limit is a *jsonrpc.TooLongError, and the stream goes on behind it; any other error
// ends it, io.EOF where the stream ended. What comes after the last blank line is no event.
func (r *EventReader) Next() (Event, error) {
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

// event ends the event that was being read.
func (r *EventReader) event() (Event, error) {
	e := Event{Name: r.name, ID: r.id, Data: bytes.TrimSuffix(r.data, []byte{'\n'})}
	if r.id != "" {
		r.lastID = r.id
	}
	long := r.long
	r.name, r.id, r.long, r.data = "", "", nil, r.data[:0]
	if cap(r.data) > 64*readBytes && len(e.Data) < cap(r.data)/4 {
		r.data = nil // do not keep what one large event has grown
	}
	if long != nil {
		return Event{}, long
	}
	return e, nil
}

// field takes one line that is not blank.
func (r *EventReader) field() {
	name, value, _ := bytes.Cut(r.line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		r.take(value)
	case "event":
		r.name = string(value[:min(len(value), fieldSpace)])
	case "id":
		if len(value) <= maxEventID && visible(value) {
			r.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// take adds a line to the event's data.
func (r *EventReader) take(line []byte) {
	if r.long == nil && len(r.data)+len(line) <= r.limit {
		r.data = append(append(r.data, line...), '\n')
		return
	}
	r.skip(r.data)
	r.skip(line)
	r.data = r.data[:0]
}

// skip counts a part of an event that is too long.
func (r *EventReader) skip(part []byte) {
	if r.long == nil {
		r.long = &jsonrpc.TooLongError{Limit: int64(r.limit)}
	}
	long := r.long
	long.Size += int64(len(part))
	long.Head = append(long.Head, part[:min(len(part), headBytes-len(long.Head))]...)
	long.Tail = append(long.Tail, part[max(0, len(part)-tailBytes):]...)
	long.Tail = long.Tail[max(0, len(long.Tail)-tailBytes):]
}

// readLine reads a line without its end. One that is over the limit is cut, and counts
// as data that is too long.
func (r *EventReader) readLine() error {
	r.line, r.cut, r.cutData = r.line[:0], false, false
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
		i := bytes.IndexAny(part, "\r\n")
		ended := i >= 0
		if !ended {
			i = len(part)
		}
		r.addToLine(part[:i])
		r.skipLF = ended && part[i] == '\r'
		if ended {
			i++
		}
		r.in.Discard(i)
		if ended {
			return nil
		}
	}
}

// addToLine adds a part to the line. What does not fit is counted where it is data, and
// dropped where not.
func (r *EventReader) addToLine(part []byte) {
	if !r.cut {
		fits := min(len(part), r.limit+fieldSpace-len(r.line))
		r.line = append(r.line, part[:fits]...)
		if part = part[fits:]; len(part) == 0 {
			return
		}
		r.cut = true
		if value, ok := bytes.CutPrefix(r.line, []byte("data:")); ok {
			r.skip(r.data)
			r.skip(bytes.TrimPrefix(value, []byte{' '}))
			r.data, r.cutData = r.data[:0], true
		}
		r.line = append(r.line[:0], ':') // what is left is a comment
	}
	if r.cutData {
		r.skip(part)
	}
}

// visible reports whether text is visible ASCII, as ids of sessions and events are to be.
func visible[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < 0x21 || text[i] > 0x7e {
			return false
		}
	}
	return len(text) > 0
}
