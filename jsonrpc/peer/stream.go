package peer

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
)

// streamWire moves the bytes of a peer with a goroutine for each direction.
type streamWire struct {
	peer *Peer
	in   io.ReadCloser
	out  io.WriteCloser
	more *sync.Cond // on peer.out.mu: there is something to write, or the end
	due  bool       // guarded by peer.out.mu: flushed, not only queued

	reading, writing atomic.Bool // a Read or Write is under way; none begins when the peer is closed

	mu       sync.Mutex
	unpaused *sync.Cond
	paused   bool        // guarded by mu
	closed   bool        // guarded by mu
	broken   error       // guarded by mu: why writing failed
	linger   *time.Timer // guarded by mu: for a pipe of Windows, which has no deadlines
}

// NewStream makes a peer on any pair of streams, and owns both. The peers of a Loop are twice as
// fast.
func NewStream(in io.ReadCloser, out io.WriteCloser, o Options) *Peer {
	p := newPeer(o)
	w := &streamWire{peer: p, in: in, out: out, more: sync.NewCond(&p.out.mu)}
	w.unpaused = sync.NewCond(&w.mu)
	p.wire = w
	return p
}

func (w *streamWire) start() {
	go w.readAll()
	go w.writeAll()
}

func (w *streamWire) readAll() {
	shared := make([]byte, readSize)
	f := &w.peer.frames
	for again := true; w.mayRead(); {
		buf := f.space(shared)
		n, err := w.in.Read(buf)
		w.reading.Store(false)
		if n > 0 {
			f.fill(buf, n)
			w.peer.deliver()
		}
		if err != nil && !(again && errors.Is(err, os.ErrDeadlineExceeded)) {
			w.peer.end(w.cause(err))
			return
		}
		again = err == nil
	}
	w.peer.end(jsonrpc.ErrClosed)
}

// mayRead waits while the peer is paused. It returns false when the peer is closed.
func (w *streamWire) mayRead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.paused && !w.closed {
		w.unpaused.Wait()
	}
	w.armLingerLocked()
	w.reading.Store(!w.closed)
	return !w.closed
}

func (w *streamWire) cause(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return jsonrpc.ErrClosed
	case w.broken != nil && err != io.EOF: // the deadline, or what it is on Windows
		return w.broken
	}
	return err
}

func (w *streamWire) writeAll() {
	o := &w.peer.out
	o.mu.Lock()
	for {
		for !w.due && !o.closed {
			w.more.Wait()
		}
		if o.closed {
			break
		}
		w.due = false
		part := o.buf[o.off:] // other goroutines only append to buf
		o.lent = true
		w.writing.Store(true)
		o.mu.Unlock()
		n, err := w.out.Write(part)
		w.writing.Store(false)
		o.mu.Lock()
		o.lent = false
		o.wroteLocked(n)
		w.due = w.due && o.waiting() > 0
		if err != nil {
			o.closed = true
			w.fail(err)
		}
		if o.ending && o.waiting() == 0 {
			o.closed = true
		}
		resume(o.releaseLocked())
	}
	o.mu.Unlock()
	w.out.Close()
}

// fail records that writing failed. Reading then ends once the far end sends nothing any more.
func (w *streamWire) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = err
	w.armLingerLocked()
}

// armLingerLocked starts the time that a peer has left once writing to it has failed. Each read
// starts it again. A read that fails because the time is over is tried once more: the time may have
// been over before the read began. There is no limit where the system cannot interrupt a read.
func (w *streamWire) armLingerLocked() {
	if w.broken == nil {
		return
	}
	if in, ok := w.in.(interface{ SetReadDeadline(time.Time) error }); ok && in.SetReadDeadline(time.Now().Add(lingerTimeout)) == nil {
		return
	}
	if w.linger != nil {
		w.linger.Stop()
	}
	w.linger = time.AfterFunc(lingerTimeout, func() { interrupt(w.in, &w.reading) })
}

func (w *streamWire) flushLocked() {
	w.due = w.peer.out.waiting() > 0
	w.more.Signal()
}

// writeNowLocked leaves all to the writing goroutine, which may block.
func (w *streamWire) writeNowLocked([][]byte) int { return 0 }

func (w *streamWire) closeWriteLocked() { w.more.Signal() }

func (w *streamWire) closeLocked() {
	w.more.Signal()
	w.mu.Lock()
	w.closed = true
	w.unpaused.Signal()
	w.mu.Unlock()
	closeBusy(w.in, &w.reading)
	closeBusy(w.out, &w.writing)
}

func (w *streamWire) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
}

func (w *streamWire) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	w.unpaused.Signal()
}

// goneLocked only knows whether writing has failed.
func (w *streamWire) goneLocked() bool { return w.peer.out.closed }
