package jsonrpc

// stagedCap is how much memory a destination keeps for staged frames.
const stagedCap = 256 << 10

// A destination is a receiver of a batch. The frames that a handler passes on wait here and go to
// the outbox together at the end of the read, so that its lock is taken once and not for each
// frame.
type destination struct {
	to      Sender // the peer itself, if there is one
	peer    *Peer
	staged  []byte // frames with their newlines
	waiting int    // bytes in the outbox when the first frame was staged
}

// stage adds a frame to those that wait.
func (d *destination) stage(m *Message, edits []Edit) error {
	p := d.peer
	if len(d.staged) == 0 {
		p.out.mu.Lock()
		err := p.out.openLocked()
		d.waiting = p.out.waiting()
		p.out.mu.Unlock()
		if err != nil {
			return err
		}
	}
	if !p.out.admits(d.waiting+len(d.staged), len(m.Frame)+1, p.pressure) {
		return ErrQueueFull
	}
	if !m.IsOneLine(edits) {
		return ErrLineBreak
	}
	d.staged = append(AppendSplice(d.staged, m.Frame, edits...), '\n')
	return nil
}

// commit moves the staged frames to the outbox. If the peer was closed since, they are lost, as
// they would be in its outbox.
func (d *destination) commit() {
	if len(d.staged) > 0 {
		d.peer.out.mu.Lock()
		d.commitLocked()
		d.peer.out.mu.Unlock()
	}
}

func (d *destination) commitLocked() {
	o := &d.peer.out
	switch {
	case o.closed:
	case o.waiting() == 0:
		o.buf, d.staged = d.staged, o.buf
	default:
		o.roomLocked(len(d.staged))
		o.buf = append(o.buf, d.staged...)
	}
	if d.staged = d.staged[:0]; cap(d.staged) > stagedCap {
		d.staged = nil
	}
}

// flush writes what is staged or queued.
func (d *destination) flush() {
	if len(d.staged) == 0 {
		d.to.Flush()
		return
	}
	d.peer.out.mu.Lock()
	d.commitLocked()
	d.peer.sendLocked()
	d.peer.out.mu.Unlock()
}
