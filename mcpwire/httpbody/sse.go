package httpbody

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
)

const (
	fieldSpace = 64       // how much longer than the limit of its event a line may be: a field's name
	maxID      = 1 << 10  // IDs are sent back in a header
	readBytes  = 16 << 10 // read at once
)

// An Event is one event of a stream.
type Event struct {
	Name string // MCP's messages have "message" or ""
	ID   string // "" if it has none
	Data []byte // without the last line break; valid until the next event is read
}

// An EventReader reads a stream of events. It accepts any line break, holds no more than its limit,
// and skips events that are longer.
type EventReader struct {
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

// NewEventReader returns an EventReader of events with up to limit bytes of data.
func NewEventReader(in io.Reader, limit int) *EventReader {
	return &EventReader{in: bufio.NewReaderSize(in, readBytes), limit: limit}
}

// LastID returns the ID with which to resume the stream, or "" if the server has sent none.
func (r *EventReader) LastID() string { return r.lastID }

// Retry returns how long clients must wait before they reconnect, or 0 if the server has not set
// it.
func (r *EventReader) Retry() time.Duration { return r.retry }

// Next returns the next event that has data or an ID. For an event over the limit it returns a
// *jsonrpc.TooLongError, and the stream continues. Any other error ends the stream: io.EOF at its
// end. Next drops an event that the end of the stream cuts off.
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

// event returns the event that a blank line ends.
func (r *EventReader) event() (Event, error) {
	e := Event{Name: r.name, ID: r.id, Data: bytes.TrimSuffix(r.data, []byte{'\n'})}
	if r.id != "" {
		r.lastID = r.id
	}
	long := r.long
	r.name, r.id, r.long, r.data = "", "", nil, r.data[:0]
	if cap(r.data) > 64*readBytes && len(e.Data) < cap(r.data)/4 {
		r.data = nil // a large event has made it grow
	}
	if long != nil {
		return Event{}, long
	}
	return e, nil
}

// field reads one line that is not blank.
func (r *EventReader) field() {
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
func (r *EventReader) addData(value []byte) {
	if r.long == nil && len(r.data)+len(value) <= r.limit {
		r.data = append(append(r.data, value...), '\n')
		return
	}
	if r.long == nil {
		r.long = &jsonrpc.TooLongError{Limit: int64(r.limit)}
		r.long.Add(r.data)
		r.data = r.data[:0]
	}
	r.long.Add(value)
}

// readLine reads a line without its end.
func (r *EventReader) readLine() error {
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

// addToLine adds a part to the line. It only counts the part of a data field that is over the
// limit, and turns any other line that is too long into a comment.
func (r *EventReader) addToLine(part []byte) {
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
		r.long.Add(part)
	}
}

// KeepAlive is a comment. Readers skip it. It shows proxies and clients that the stream is alive.
const KeepAlive = ": \n\n"

// AppendEvent appends an event. The data has no line breaks.
func AppendEvent(dst []byte, name string, data []byte) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: "...), data...)
	return append(dst, "\n\n"...)
}

// AppendEventID appends the ID of the next event.
func AppendEventID(dst []byte, id string) []byte {
	return append(append(append(dst, "id: "...), id...), '\n')
}

// EndID is the ID of an event that ends a stream, if clients can resume the stream: there is
// nothing to resume then. Clients do not always see that the event is the answer that they wait
// for.
const EndID = "end"

// An EventWriter writes a response that is a stream of events. The response begins with the first
// write.
type EventWriter struct {
	*http.ResponseController
	w            http.ResponseWriter
	cacheControl string
	begun        bool
}

// NewEventWriter returns an EventWriter for this response, which has this header Cache-Control.
func NewEventWriter(w http.ResponseWriter, cacheControl string) EventWriter {
	return EventWriter{ResponseController: http.NewResponseController(w), w: w, cacheControl: cacheControl}
}

// Begun reports whether the response has begun.
func (w *EventWriter) Begun() bool { return w.begun }

// Write writes events and flushes. It fails if the client does not read.
func (w *EventWriter) Write(text []byte) error {
	if !w.begun {
		w.begun = true
		h := w.w.Header()
		h.Set("Content-Type", httpheader.EventStream)
		h.Set("Cache-Control", w.cacheControl)
		h.Set("X-Accel-Buffering", "no") // 2026-07-28, Receiving Messages: proxies must not keep events
	} else if len(text) == 0 {
		return nil
	}
	w.SetWriteDeadline(WriteDeadline(len(text))) // fails only without a connection
	defer w.SetWriteDeadline(time.Time{})        // it would apply to the connection's next request, too
	if _, err := w.w.Write(text); err != nil {
		return err
	}
	return w.Flush()
}

// Writing to a client that is slower than this fails. The limit applies to each write, not to the
// whole stream.
const (
	writeTime = 30 * time.Second
	writeRate = 64 << 10 // bytes a second
)

// WriteDeadline returns the deadline for a write of n bytes that starts now.
func WriteDeadline(n int) time.Time {
	return time.Now().Add(writeTime + time.Duration(n)*time.Second/writeRate)
}
