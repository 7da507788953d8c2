package httpd

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"toolman/mcpwire/sse"
)

// detached writes the rest of a stream that stays open on the connection itself. A
// response of net/http costs 25 KB as long as its handler runs, even if nothing is ever
// said; this costs a tenth.
type detached struct {
	conn      net.Conn
	t         *stream
	keepAlive time.Duration
	tick      *time.Timer
	expiry    *time.Timer                   // guarded by t.mu: ends it with the client's credential; nil: that has no end
	over      func(whole bool, bytes int64) // called once

	ending  sync.Once
	written atomic.Int64 // bytes
	writing bool         // guarded by t.mu: a goroutine writes
}

// detachable has the response, once it is a stream of events, go on without its handler
// where that can be: in HTTP/1.1. over is called when it has ended if that happens.
func (e *Endpoint) detachable(o *response, r *http.Request, s *session, t *stream, over func(whole bool)) {
	if r.ProtoMajor != 1 || !r.ProtoAtLeast(1, 1) {
		return // in HTTP/2 connections are not for one response
	}
	o.detach = func() bool {
		conn, _, err := o.Hijack()
		if err != nil {
			return false
		}
		entered := s.enter() // unless it has ended: then the stream is about to
		e.tails.Add(1)
		outlived := e.o.Outlive(r.Context())
		d := &detached{conn: conn, t: t, keepAlive: e.o.KeepAlive, over: func(whole bool, bytes int64) {
			over(whole)
			outlived(bytes)
			if entered {
				e.leave(s)
			}
			e.tails.Add(-1)
		}}
		d.start()
		if until, ok := r.Context().Deadline(); ok {
			d.limit(until)
		}
		return true
	}
}

// start begins to write what comes, and to see whether the client is still there.
func (d *detached) start() {
	d.t.mu.Lock()
	d.t.tail = d
	d.tick = time.AfterFunc(d.keepAlive, d.beat) // beat finds the tail, however soon it comes
	d.t.wakeUp()
	d.t.mu.Unlock()
	go d.watch()
}

// limit ends the stream at some time.
func (d *detached) limit(until time.Time) {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if d.t.tail == d {
		d.expiry = time.AfterFunc(time.Until(until), func() { d.end(false) })
	}
}

// watch notices the client's end. What it sends is of no interest: its next request is
// for another connection, as the header said.
func (d *detached) watch() {
	var one [1]byte
	if n, _ := d.conn.Read(one[:]); n == 0 {
		d.end(false)
	}
}

// wakeLocked has what waits be written. It does not block.
func (d *detached) wakeLocked() {
	if !d.writing {
		d.writing = true
		go d.write()
	}
}

// write writes what there is, until there is nothing.
func (d *detached) write() {
	for {
		p, ok := d.take()
		if !ok {
			return
		}
		sent := !p.slow && d.send(chunk(appendEvents(nil, p.frames)))
		if d.t.wrote(p); !sent {
			d.end(false)
			return
		}
		if p.ended {
			d.end(d.send("0\r\n\r\n"))
			return
		}
	}
}

// take returns what there is to write; false: nothing, and nobody writes until the next beat.
func (d *detached) take() (p portion, ok bool) {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if d.t.tail != d {
		return p, false
	}
	if len(d.t.frames) == 0 && !d.t.ended && !d.t.slow {
		d.writing = false
		d.tick.Reset(d.keepAlive) // from here on, as no beat writes while something else does
		return p, false
	}
	return d.t.takeLocked(), true
}

// beat tells the client that the stream is still there.
func (d *detached) beat() {
	d.t.mu.Lock()
	idle := d.t.tail == d && !d.writing
	d.writing = d.writing || idle
	d.t.mu.Unlock()
	if !idle {
		return // what is being written says it, too
	}
	if !d.send(chunk([]byte(sse.KeepAlive))) {
		d.end(false)
		return
	}
	d.write()
}

// chunk returns text in the coding that net/http has begun the body in (RFC 9112, 7.1).
func chunk(text []byte) string {
	if len(text) == 0 {
		return "" // an empty chunk would be the last
	}
	return fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
}

func (d *detached) send(text string) bool {
	d.conn.SetWriteDeadline(sse.Deadline(len(text)))
	n, err := d.conn.Write([]byte(text))
	d.written.Add(int64(n))
	return err == nil
}

// end closes the connection. The stream may find another one.
func (d *detached) end(whole bool) {
	d.ending.Do(func() {
		d.t.mu.Lock()
		if d.t.tail == d {
			d.t.tail = nil
			d.t.wakeUp()
		}
		if d.expiry != nil {
			d.expiry.Stop()
		}
		d.t.mu.Unlock()
		d.tick.Stop()
		d.conn.Close()
		d.over(whole, d.written.Load())
	})
}
