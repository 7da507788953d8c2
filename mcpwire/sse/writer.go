package sse

import (
	"net/http"
	"time"

	"toolman/mcpwire/httpheader"
)

// KeepAlive is a comment. Readers skip it; it shows proxies and clients that the stream is alive.
const KeepAlive = ": \n\n"

// Append appends an event. The data has no line breaks.
func Append(dst []byte, name string, data []byte) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: "...), data...)
	return append(dst, "\n\n"...)
}

// A Writer writes a response that is a stream of events. The response begins with the first write.
type Writer struct {
	*http.ResponseController
	w            http.ResponseWriter
	cacheControl string
	begun        bool
}

// NewWriter returns a Writer of this response, which has this header Cache-Control.
func NewWriter(w http.ResponseWriter, cacheControl string) Writer {
	return Writer{ResponseController: http.NewResponseController(w), w: w, cacheControl: cacheControl}
}

// Begun reports whether the response has begun.
func (w *Writer) Begun() bool { return w.begun }

// Write writes events and flushes. It fails if the client does not read.
func (w *Writer) Write(text []byte) error {
	if !w.begun {
		w.begun = true
		h := w.w.Header()
		h.Set("Content-Type", httpheader.EventStream)
		h.Set("Cache-Control", w.cacheControl)
		h.Set("X-Accel-Buffering", "no") // 2026-07-28, Receiving Messages: proxies must not keep events
	} else if len(text) == 0 {
		return nil
	}
	w.SetWriteDeadline(Deadline(len(text))) // fails only without a connection
	defer w.SetWriteDeadline(time.Time{})   // it would apply to the connection's next request, too
	if _, err := w.w.Write(text); err != nil {
		return err
	}
	return w.Flush()
}

// A client that is slower than this is considered gone. The limit is on the time of a write, and
// not on that of a stream.
const (
	writeTime = 30 * time.Second
	writeRate = 64 << 10 // bytes a second
)

// Deadline returns the time by which a client must have taken n bytes that are written now.
func Deadline(n int) time.Time {
	return time.Now().Add(writeTime + time.Duration(n)*time.Second/writeRate)
}
