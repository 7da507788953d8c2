package peer

import (
	"sync"

	"toolman/jsonrpc"
)

// An outbox holds the bytes to be written to a peer. Usually they are written at once, and only
// those stay that a full pipe did not take.
type outbox struct {
	mu      sync.Mutex
	buf     []byte   // guarded by mu
	off     int      // guarded by mu: bytes of buf already written
	most    int      // guarded by mu: the most bytes that waited since the outbox was empty
	pieces  [][]byte // guarded by mu: empty; memory for the pieces of a large frame
	limit   int      // bytes that may wait; an empty outbox takes a frame of any size
	lent    bool     // guarded by mu: the waiting bytes are being written without the lock
	blocked bool     // guarded by mu: the pipe is full
	ending  bool     // guarded by mu: close once all is written
	closed  bool     // guarded by mu
	paused  []*Peer  // guarded by mu: peers that do not read until the outbox is emptier
}

// keepCap is the capacity that an empty outbox keeps.
const keepCap = 1 << 20

func (o *outbox) waiting() int { return len(o.buf) - o.off }

// openLocked returns an error if the outbox takes no more frames.
func (o *outbox) openLocked() error {
	if o.closed || o.ending {
		return jsonrpc.ErrClosed
	}
	return nil
}

// admits reports whether n bytes may wait in addition to those that wait.
func (o *outbox) admits(waiting, n int, pressure bool) bool {
	return pressure || waiting == 0 || waiting+n <= o.limit
}

// admitLocked returns an error if n more bytes may not wait.
func (o *outbox) admitLocked(n int, pressure bool) error {
	if err := o.openLocked(); err != nil {
		return err
	}
	if !o.admits(o.waiting(), n, pressure) {
		return jsonrpc.ErrQueueFull
	}
	return nil
}

// congestedLocked reports whether more than the limit waits.
func (o *outbox) congestedLocked() bool { return !o.closed && o.waiting() > o.limit }

// roomLocked moves the waiting bytes to the start of the memory if n more would not fit behind them
// and there are fewer of them than were written.
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

// wroteLocked records that n bytes were written.
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

// releaseLocked returns the peers that may read again.
func (o *outbox) releaseLocked() []*Peer {
	if len(o.paused) == 0 || !o.closed && o.waiting() > o.limit/2 {
		return nil
	}
	paused := o.paused
	o.paused = nil
	return paused
}
