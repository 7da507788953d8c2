package record

import (
	"fmt"
	"io"
	"time"

	"toolman/jsonrpc/asyncwriter"
	"toolman/jsonrpc/trace"
)

const (
	queueBytes = 16 << 20 // bytes that may wait to be read
	pieceBytes = 128      // what a piece costs beside its bytes
	maxText    = 64 << 10 // bytes of a line of standard error, or of junk, that are kept of a long one
)

// A Recorder writes a trace of a tap.
type Recorder struct {
	w      *trace.Writer
	server string
	calls  uint64 // owned by the queue's goroutine
	queue  *asyncwriter.Writer[piece]
}

// A piece is a part of a stream, or something to do in the order of the pieces.
type piece struct {
	stream *Stream
	at     time.Time
	data   []byte
	do     func(at time.Time) // nil: data is the next part of the stream
}

// New returns a Recorder that writes to w. The server is called name.
func New(w *trace.Writer, name string) *Recorder {
	r := &Recorder{w: w, server: name}
	r.queue = asyncwriter.New(io.Discard, asyncwriter.Options[piece]{
		Name: "tap", Limit: queueBytes, Report: true, Append: r.take,
		Keep: func(p *piece, to *asyncwriter.Bytes) { p.data = to.Copy(p.data) },
	})
	return r
}

// Close traces what is queued, and ends the trace, which has that long for each.
func (r *Recorder) Close(timeout time.Duration) {
	r.queue.Close(timeout)
	r.w.Close(timeout)
}

// Event traces an event of the server, after all that was queued before it.
func (r *Recorder) Event(event, text string) {
	r.Do(func(at time.Time) { r.w.Event(trace.Event{Event: event, Peer: r.server, Text: text, At: at}) })
}

// Do calls do after all that was queued before it, with the time of this call. It returns false if
// there is no room in the queue.
func (r *Recorder) Do(do func(at time.Time)) bool {
	return r.queue.Put(piece{at: time.Now(), do: do}, pieceBytes)
}

// take takes a piece from the queue.
func (r *Recorder) take(dst []byte, e *asyncwriter.Entry[piece]) []byte {
	if e.Lost > 0 {
		r.w.Event(trace.Event{Event: trace.EventDrop, Peer: r.server, At: e.Item.at,
			Text: fmt.Sprintf("%d parts of the streams are missing here: there was more than the tap could trace", e.Lost)})
	}
	switch p := &e.Item; {
	case e.Empty:
	case p.do != nil:
		p.do(p.at)
	default:
		p.stream.take(p.at, p.data)
	}
	return dst
}
