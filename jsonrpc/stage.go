package jsonrpc

// stageCap is how much memory for frames that wait for the end of a read is kept.
const stageCap = 256 << 10

// A receiver is somebody to whom a batch sends. The frames that a peer's reader
// passes on wait in its own memory and go into the outbox all at once, which
// takes the outbox's lock once and not for each frame.
type receiver struct {
	to      Sender
	peer    *Peer  // whom staged is for
	staged  []byte // frames with their newlines
	waiting int    // in the outbox, when the first frame was staged
}

// A passer is a Sender that may hand frames to a peer as they are.
type passer interface {
	// passes returns that peer, or nil if Queue has to see the next frame.
	passes() *Peer
}

func (p *Peer) passes() *Peer { return p }

func (g *Gatherer) passes() *Peer {
	if g.open.Load() == 0 {
		return g.peer
	}
	return nil
}

// stage puts a frame behind those that wait, if it can wait.
func (r *receiver) stage(m *Message, edits []Edit) (done bool, err error) {
	to, ok := r.to.(passer)
	if !ok || len(m.Frame) >= largeFrame {
		return false, nil
	}
	p := to.passes()
	if p == nil {
		return false, nil
	}
	if len(r.staged) == 0 {
		r.peer = p
		if r.waiting, err = p.open(); err != nil {
			return false, err
		}
	}
	if !p.out.admits(r.waiting+len(r.staged), len(m.Frame)+1, p.pressure) {
		return false, ErrQueueFull
	}
	if !isOneLine(m.Frame, m.oneLine, edits) {
		return false, ErrLineBreak
	}
	r.staged = append(AppendSplice(r.staged, m.Frame, edits...), '\n')
	return true, nil
}

// open returns how much waits to be written, or that the peer takes no more.
func (p *Peer) open() (waiting int, err error) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.waiting(), p.out.openLocked()
}

// commit gives what is staged to the outbox. Frames for a peer that was closed
// since are lost, as they would be in its outbox.
func (r *receiver) commit() {
	if len(r.staged) > 0 {
		r.peer.out.mu.Lock()
		r.commitLocked()
		r.peer.out.mu.Unlock()
	}
}

func (r *receiver) commitLocked() {
	o := &r.peer.out
	switch {
	case o.closed:
	case o.waiting() == 0:
		o.buf, r.staged = r.staged, o.buf
	default:
		o.roomLocked(len(r.staged))
		o.buf = append(o.buf, r.staged...)
	}
	if r.staged = r.staged[:0]; cap(r.staged) > stageCap {
		r.staged = nil
	}
}

// flush writes what is staged, and what was queued.
func (r *receiver) flush() {
	if len(r.staged) == 0 {
		r.to.Flush()
		return
	}
	r.peer.out.mu.Lock()
	r.commitLocked()
	r.peer.sendLocked()
	r.peer.out.mu.Unlock()
}
