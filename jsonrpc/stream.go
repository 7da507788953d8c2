package jsonrpc

import (
	"io"
	"sync"
)

// streamWire moves the bytes of a peer with a goroutine for each direction.
type streamWire struct {
	peer *Peer
	in   io.ReadCloser
	out  io.WriteCloser
	more *sync.Cond // on peer.out.mu: there is something to write, or the end

	mu       sync.Mutex
	unpaused *sync.Cond
	paused   bool // guarded by mu
	closed   bool // guarded by mu
}

// NewStreamPeer makes a peer on any pair of streams, and owns both. Where it
// can, use a Loop's peers: they are twice as fast.
func NewStreamPeer(in io.ReadCloser, out io.WriteCloser, o PeerOptions) *Peer {
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
	for w.mayRead() {
		buf := f.space(shared)
		n, err := w.in.Read(buf)
		if n > 0 {
			f.fill(buf, n)
			w.peer.deliver()
		}
		if err != nil {
			w.peer.end(w.cause(err))
			return
		}
	}
	w.peer.end(ErrClosed)
}

// mayRead waits while the peer is paused; it is false when the peer is closed.
func (w *streamWire) mayRead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.paused && !w.closed {
		w.unpaused.Wait()
	}
	return !w.closed
}

func (w *streamWire) cause(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return err
}

func (w *streamWire) writeAll() {
	o := &w.peer.out
	var spare []byte
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for o.waiting() == 0 && !o.ending && !o.closed {
			w.more.Wait()
		}
		if o.closed || o.waiting() == 0 {
			break
		}
		full := o.buf
		o.buf = spare[:0]
		o.mu.Unlock()
		_, err := w.out.Write(full)
		o.mu.Lock()
		if spare = full; cap(spare) > keepCap {
			spare = nil
		}
		if err != nil {
			o.closed = true
		}
		held := o.releaseLocked()
		resume(held)
	}
	o.closed = true
	w.out.Close()
}

func (w *streamWire) flushLocked()      { w.more.Signal() }
func (w *streamWire) closeWriteLocked() { w.more.Signal() }

func (w *streamWire) closeLocked() {
	w.more.Signal()
	w.mu.Lock()
	w.closed = true
	w.unpaused.Broadcast()
	w.mu.Unlock()
	w.in.Close()
	w.out.Close()
}

func (w *streamWire) pause() { w.set(true) }

func (w *streamWire) resume() { w.set(false) }

func (w *streamWire) set(paused bool) {
	w.mu.Lock()
	w.paused = paused
	w.unpaused.Broadcast()
	w.mu.Unlock()
}
