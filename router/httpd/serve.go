package httpd

import (
	"context"
	"net/http"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/sse"
)

// largeAnswer is from which size on an answer might not fit into what the system keeps
// for a client that does not read.
const largeAnswer = 64 << 10

// statusGone is what the access log tells of clients that have not waited for their
// answer, as other servers do.
const statusGone = 499

// A response writes a stream to a client.
type response struct {
	e          *Endpoint
	w          http.ResponseWriter
	sse.Writer // begun if the response is a stream of events
	buf        []byte
	detach     func() bool // has the stream of events go on without this response; nil: it cannot
}

// An outcome is what has become of a stream.
type outcome uint8

const (
	broken    outcome = iota // the client is gone or does not read
	complete                 // all of it was written
	continued                // it goes on without its handler
)

func newResponse(w http.ResponseWriter, e *Endpoint) *response {
	return &response{e: e, w: w, Writer: sse.NewWriter(w, "no-cache, no-transform")}
}

// serve writes the stream until it has ended, or can go on by itself. What has come by
// then and is one answer goes out as JSON.
func (o *response) serve(ctx context.Context, t *stream) outcome {
	if !o.Begun() {
		select {
		case <-t.wake:
			if end, ended := o.next(t); ended {
				return end
			}
		case <-o.e.waiting.whenLong():
		case <-ctx.Done():
			return o.gone(ctx)
		}
	}
	keepAlive := time.NewTimer(o.e.o.KeepAlive)
	defer keepAlive.Stop()
	for {
		if o.Begun() && o.detach != nil {
			if o.detach() {
				return continued
			}
			o.detach = nil
		}
		select {
		case <-t.wake:
			if end, ended := o.next(t); ended {
				return end
			}
		case <-keepAlive.C:
			if o.write([]byte(sse.KeepAlive)) != nil {
				return broken
			}
		case <-ctx.Done():
			return o.gone(ctx)
		}
		keepAlive.Reset(o.e.o.KeepAlive)
	}
}

// next writes what is in the stream, and reports whether that was the last.
func (o *response) next(t *stream) (end outcome, ended bool) {
	p := t.take()
	defer t.wrote(p)
	return o.carry(p)
}

// longWait is after which time, or twice that, a response gets a timer of its own.
const longWait = 100 * time.Millisecond

// waiting tells responses that they have waited for long. With a timer for each, a small call
// would take 4 % more processor time (fixtures/bench, http100).
type waiting struct {
	mu   sync.Mutex
	long chan struct{} // guarded by mu: closed by a timer; nil: there is none
}

// whenLong returns a channel that is closed within longWait.
func (x *waiting) whenLong() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.long == nil {
		long := make(chan struct{})
		x.long = long
		time.AfterFunc(longWait, func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.long = nil
			close(long)
		})
	}
	return x.long
}

// gone is the outcome when the client has not waited for it, or its credential has come to an end.
func (o *response) gone(ctx context.Context) outcome {
	switch {
	case o.Begun():
	case ctx.Err() == context.DeadlineExceeded:
		refuse(o.w, http.StatusUnauthorized, nil, codeInvalidRequest, context.Cause(ctx).Error())
	default:
		o.w.WriteHeader(statusGone) // net/http would say that all is well
	}
	return broken
}

// carry writes a portion, and reports whether it was the last.
func (o *response) carry(p portion) (end outcome, ended bool) {
	switch {
	case p.slow:
		return broken, true
	case p.isAnswer() && !o.Begun():
		if n := len(p.frames[0]); n >= largeAnswer {
			o.SetWriteDeadline(sse.Deadline(n))
			defer o.SetWriteDeadline(time.Time{})
		}
		answer(o.w, p.status, p.frames[0])
		defer o.e.bodies.Put(p.frames[0])
		if len(p.frames[0]) >= largeAnswer && o.Flush() != nil {
			return broken, true
		}
		return complete, true
	case o.write(o.asEvents(p.frames)) != nil:
		return broken, true
	}
	return complete, p.ended
}

// write writes to the stream of events, which begins with it at the latest.
func (o *response) write(text []byte) error {
	if !o.Begun() && o.detach != nil {
		o.w.Header().Set("Connection", "close")
	}
	return o.Write(text)
}

// asEvents returns frames in the form of server-sent events, valid until it is called again.
func (o *response) asEvents(frames [][]byte) []byte {
	o.buf = appendEvents(o.buf[:0], frames)
	return o.buf
}

func appendEvents(dst []byte, frames [][]byte) []byte {
	for _, frame := range frames {
		jsonrpc.OneLine(frame)
		dst = sse.Append(dst, "message", frame)
	}
	return dst
}
