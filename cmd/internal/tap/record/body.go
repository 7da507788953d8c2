package record

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
)

// A body is a framer of a stream that is one message.
type body struct {
	splitter
	missing int64  // bytes that are still to come; less than 0: not known
	coding  string // the Content-Encoding
}

func (b *body) write(p []byte, found func(*line)) {
	b.add(p)
	if b.missing < 0 {
		return
	}
	if b.missing -= int64(len(p)); b.missing <= 0 {
		b.end(found)
	}
}

func (b *body) end(found func(*line)) {
	b.splitter.end(func(l *line) { found(b.decoded(l)) })
}

// decoded returns a message without its compression, if it has one that is known.
func (b *body) decoded(l *line) *line {
	var r io.Reader
	var err error
	switch b.coding {
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(l.head))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(l.head))
	default:
		return l
	}
	if err != nil {
		return l
	}
	var plain splitter
	buf := make([]byte, 32<<10)
	for err == nil && plain.size <= 8*maxKept {
		var n int
		n, err = r.Read(buf)
		plain.add(buf[:n])
	}
	return &line{head: plain.head, tail: plain.tail, size: plain.size}
}

// Events is a framer of server-sent events: what it finds is the data of each.
type events struct {
	lines    splitter
	data     splitter // of the event so far
	name     []byte   // the type of the event
	endpoint func(uri string)
}

func (e *events) write(p []byte, found func(*line)) {
	e.lines.write(p, func(l *line) { e.line(l, found) })
}

func (e *events) line(l *line, found func(*line)) {
	text := bytes.TrimSuffix(l.head, []byte{'\r'})
	if len(text) == 0 {
		e.dispatch(found)
		return
	}
	field, value, _ := bytes.Cut(text, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.name = append(e.name[:0], value[:min(len(value), 64)]...)
	case "data":
		if e.data.size > 0 {
			e.data.add([]byte{'\n'})
		}
		e.data.add(value)
		if !l.whole() { // as if it were all there
			e.data.size += l.size - len(l.head)
			e.data.tail = append(e.data.tail[:0], bytes.TrimSuffix(l.tail, []byte{'\r'})...)
		}
	}
}

// dispatch ends an event. One of the transport of 2024-11-05 says where the client is to send its
// messages.
func (e *events) dispatch(found func(*line)) {
	if string(e.name) == "endpoint" {
		e.endpoint(string(e.data.head))
		e.data.reset()
	}
	e.data.end(found)
	e.name = e.name[:0]
}

func (e *events) end(func(*line)) {
	e.lines.reset() // an event without its end counts for nothing
	e.data.reset()
}

func (e *events) gap() {
	e.lines.gap()
	e.data.gap()
}

// opaque is a framer that finds nothing.
type opaque struct{}

func (opaque) write([]byte, func(*line)) {}
func (opaque) end(func(*line))           {}
func (opaque) gap()                      {}
