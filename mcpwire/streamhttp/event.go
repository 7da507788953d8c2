package streamhttp

import (
	"bytes"
	"strconv"
	"time"
)

// EventStream is the media type of a stream of events.
const EventStream = "text/event-stream"

// An Event is one event of a stream (HTML Living Standard, 9.2, Server-sent events).
type Event struct {
	Name string // what the event field says; MCP's messages have "message" or ""
	ID   string // of this event; "" when it has none
	Data []byte // without the last line end; of a read event valid until the next is read
}

// AppendEvent appends an event as it goes over the wire. Each line of Data becomes a data
// field of its own; the reader joins them again.
func AppendEvent(dst []byte, e Event) []byte {
	if e.Name != "" {
		dst = append(append(append(dst, "event: "...), e.Name...), '\n')
	}
	if e.ID != "" {
		dst = append(append(append(dst, "id: "...), e.ID...), '\n')
	}
	for rest, more := e.Data, true; more; {
		var line []byte
		line, rest, more = cutLine(rest)
		dst = append(append(append(dst, "data: "...), line...), '\n')
	}
	return append(dst, '\n')
}

// AppendMessage appends a JSON-RPC message as an event, the way servers send it.
func AppendMessage(dst, frame []byte) []byte {
	return AppendEvent(dst, Event{Name: "message", Data: frame})
}

// AppendRetry appends how long a client should wait before it connects again.
func AppendRetry(dst []byte, d time.Duration) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, d.Milliseconds(), 10)
	return append(dst, "\n\n"...)
}

// AppendKeepAlive appends a comment, which readers pass over; it shows proxies that the
// stream is alive.
func AppendKeepAlive(dst []byte) []byte { return append(dst, ": \n\n"...) }

// cutLine cuts text behind its first line end: LF, CR or both.
func cutLine(text []byte) (line, rest []byte, more bool) {
	i := bytes.IndexAny(text, "\r\n")
	if i < 0 {
		return text, nil, false
	}
	rest = text[i+1:]
	if text[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return text[:i], rest, true
}
