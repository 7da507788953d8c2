package jsonrpc

import "sync"

// outbox holds what is to be written to a peer. In the usual case it is emptied
// in the same breath; only what a full pipe did not take stays.
type outbox struct {
	mu      sync.Mutex
	buf     []byte   // guarded by mu
	off     int      // guarded by mu: bytes of buf already written
	most    int      // guarded by mu: how many waited at most since none did
	pieces  [][]byte // guarded by mu: memory for those of a large frame, empty
	limit   int      // bytes that may wait; one frame may always go in when nothing waits
	lent    bool     // guarded by mu: what waits is being written without the lock
	blocked bool     // guarded by mu: the pipe is full, its writer goes on when it can
	ending  bool     // guarded by mu: close once everything is written
	closed  bool     // guarded by mu
	held    []*Peer  // guarded by mu: peers that stopped reading until this box is emptier
}

// keepCap is the capacity that an empty outbox keeps.
const keepCap = 1 << 20

func (o *outbox) waiting() int { return len(o.buf) - o.off }

// openLocked says whether the outbox takes frames at all.
func (o *outbox) openLocked() error {
	if o.closed || o.ending {
		return ErrClosed
	}
	return nil
}

// admits says whether n bytes may wait behind those that do.
func (o *outbox) admits(waiting, n int, pressure bool) bool {
	return pressure || waiting == 0 || waiting+n <= o.limit
}

// admitLocked says whether n more bytes may wait.
func (o *outbox) admitLocked(n int, pressure bool) error {
	if err := o.openLocked(); err != nil {
		return err
	}
	if !o.admits(o.waiting(), n, pressure) {
		return ErrQueueFull
	}
	return nil
}

// congestedLocked reports whether more than the limit waits.
func (o *outbox) congestedLocked() bool { return !o.closed && o.waiting() > o.limit }

// roomLocked moves down what waits when n more bytes would not fit behind it, and
// that costs no more than was written.
func (o *outbox) roomLocked(n int) {
	if o.off == 0 || o.off < o.waiting() || len(o.buf)+n <= cap(o.buf) {
		return
	}
	to := o.buf
	if o.lent {
		to = make([]byte, cap(o.buf))
	}
	o.buf, o.off = to[:copy(to, o.buf[o.off:])], 0
}

// wroteLocked notes that n bytes are out.
func (o *outbox) wroteLocked(n int) {
	o.most = max(o.most, o.waiting())
	if o.off += n; o.off < len(o.buf) {
		return
	}
	o.buf, o.off = o.buf[:0], 0
	if cap(o.buf) > keepCap && o.most < cap(o.buf)/4 {
		o.buf = nil
	}
	o.most = 0
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
