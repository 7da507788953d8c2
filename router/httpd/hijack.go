package httpd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"toolman/mcpwire/httpbody"
)

// A hijackedStream writes the rest of a stream that stays open on the connection itself. A handler
// of net/http costs 25 KB as long as it runs, even if nothing is sent; this costs a tenth of that
// (fixtures/soak, 10,000 idle streams: 120 MB instead of 430).
type hijackedStream struct {
	conn      net.Conn
	t         *stream
	keepAlive time.Duration
	expires   time.Time // when the client's credential expires; zero: never
	done      func(complete bool, bytes int64)

	ending  sync.Once
	bytes   atomic.Int64 // written
	writing bool         // guarded by t.mu: a goroutine writes
}

// hijack takes over the connection; false if that is not possible.
func (o *response) hijack(done func(complete bool)) bool {
	conn, _, err := o.Hijack()
	if err != nil {
		return false
	}
	e, s := o.Endpoint, o.s
	acquired := s.Acquire() // it fails if the session has ended: then the stream is about to
	e.hijacked.Add(1)
	ended := e.o.Outlive(o.r.Context())
	h := &hijackedStream{conn: conn, t: o.t, keepAlive: e.o.KeepAlive, done: func(complete bool, bytes int64) {
		done(complete)
		ended(bytes)
		if acquired {
			s.Release()
		}
		e.hijacked.Add(-1)
	}}
	h.expires, _ = o.r.Context().Deadline()
	h.t.mu.Lock()
	h.t.hijacked = h
	h.t.wakeLocked()
	h.t.mu.Unlock()
	go h.watch()
	return true
}

// watch sends keep-alives, and notices when the client disconnects or its credential expires. What
// the client sends is dropped: the response's header told it to use another connection.
func (h *hijackedStream) watch() {
	var buf [64]byte
	for {
		next := time.Now().Add(h.keepAlive)
		expires := !h.expires.IsZero() && h.expires.Before(next)
		if expires {
			next = h.expires
		}
		h.conn.SetReadDeadline(next)
		switch _, err := h.conn.Read(buf[:]); {
		case err == nil:
		case expires || !errors.Is(err, os.ErrDeadlineExceeded):
			h.end(false)
			return
		default:
			h.comment()
		}
	}
}

// comment sends a keep-alive, unless something is being written.
func (h *hijackedStream) comment() {
	h.t.mu.Lock()
	idle := h.t.hijacked == h && !h.writing
	h.writing = h.writing || idle
	h.t.mu.Unlock()
	if idle {
		if !h.send([]byte(httpbody.KeepAlive)) {
			h.end(false)
		}
		h.write()
	}
}

// wakeLocked starts to write what waits. It does not block.
func (h *hijackedStream) wakeLocked() {
	if !h.writing {
		h.writing = true
		go h.write()
	}
}

// write writes what waits, until nothing does.
func (h *hijackedStream) write() {
	for {
		p, ok := h.take()
		if !ok {
			return
		}
		sent := !p.overflowed && h.send(appendEvents(nil, p.frames))
		h.t.written(p)
		switch {
		case !sent:
			h.end(false)
			return
		case p.ended:
			_, err := h.conn.Write([]byte("0\r\n\r\n"))
			h.end(err == nil)
			return
		}
	}
}

// take returns what waits; false if there is nothing, and the goroutine is to end.
func (h *hijackedStream) take() (p portion, ok bool) {
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	if h.t.hijacked != h {
		return p, false
	}
	if h.writing = len(h.t.frames) > 0 || h.t.ended || h.t.overflowed; !h.writing {
		return p, false
	}
	return h.t.takeLocked(), true
}

// send writes text in the transfer coding that net/http has begun the body in (RFC 9112, 7.1).
func (h *hijackedStream) send(text []byte) bool {
	if len(text) == 0 {
		return true // an empty chunk would be the last
	}
	h.conn.SetWriteDeadline(httpbody.WriteDeadline(len(text)))
	n, err := fmt.Fprintf(h.conn, "%x\r\n%s\r\n", len(text), text)
	h.bytes.Add(int64(n))
	return err == nil
}

// end closes the connection. The stream may get another one.
func (h *hijackedStream) end(complete bool) {
	h.ending.Do(func() {
		h.t.mu.Lock()
		if h.t.hijacked == h {
			h.t.hijacked = nil
			h.t.wakeLocked()
		}
		h.t.mu.Unlock()
		h.conn.Close()
		h.done(complete, h.bytes.Load())
	})
}
