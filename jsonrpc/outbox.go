package jsonrpc

import "sync"

// outbox holds what is to be written to a peer. In the usual case it is emptied
// in the same breath; only what a full pipe did not take stays.
type outbox struct {
	mu      sync.Mutex
	buf     []byte  // guarded by mu
	off     int     // guarded by mu: bytes of buf already written
	limit   int     // bytes that may wait; one frame may always go in when nothing waits
	blocked bool    // guarded by mu: the pipe is full, its writer goes on when it can
	ending  bool    // guarded by mu: close once everything is written
	closed  bool    // guarded by mu
	held    []*Peer // guarded by mu: peers that stopped reading until this box is emptier
}

// keepCap is the capacity that an empty outbox keeps.
const keepCap = 1 << 20

func (o *outbox) waiting() int { return len(o.buf) - o.off }

// admitLocked says whether n more bytes may wait.
func (o *outbox) admitLocked(n int, pressure bool) error {
	switch {
	case o.closed || o.ending:
		return ErrClosed
	case !pressure && o.waiting() > 0 && o.waiting()+n > o.limit:
		return ErrQueueFull
	}
	return nil
}

// wroteLocked notes that n bytes are out.
func (o *outbox) wroteLocked(n int) {
	o.off += n
	if o.off < len(o.buf) {
		return
	}
	if cap(o.buf) > keepCap && len(o.buf) < cap(o.buf)/4 {
		o.buf = nil
	}
	o.buf, o.off = o.buf[:0], 0
}

// releaseLocked returns the peers that may read again, if any.
func (o *outbox) releaseLocked() []*Peer {
	if len(o.held) == 0 || !o.closed && o.waiting() > o.limit/2 {
		return nil
	}
	held := o.held
	o.held = nil
	return held
}
