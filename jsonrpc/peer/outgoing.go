package peer

import (
	"strconv"

	"toolman/jsonrpc"
)

// scratchCap is how much memory a batch keeps for copies.
const scratchCap = 4 << 10

// A Batch sends frames, and remembers to whom, so that those that one read causes go out in one
// write for each receiver. The zero Batch is ready for use. Outside a Handler, call Flush when
// done. It is not safe for concurrent use.
type Batch struct {
	to      []destination // the memory behind its end is used again
	stages  bool          // Pass keeps frames until the end of the read
	edits   []jsonrpc.Edit
	scratch []byte
}

// Edit adds an edit to the next Pass.
func (b *Batch) Edit(at jsonrpc.Span, with []byte) {
	b.edits = append(b.edits, jsonrpc.Edit{})
	e := &b.edits[len(b.edits)-1]
	e.Span, e.New = at, with
}

// Edits returns the edits added since the last Pass.
func (b *Batch) Edits() []jsonrpc.Edit { return b.edits }

// SetEdits replaces the edits. The new ones were appended to Edits.
func (b *Batch) SetEdits(edits []jsonrpc.Edit) { b.edits = edits }

// Copy returns a copy of text that is valid until the next Pass.
func (b *Batch) Copy(text []byte) []byte {
	from := len(b.scratch)
	b.scratch = append(b.scratch, text...)
	return b.scratch[from:]
}

// Number returns n in decimal, valid until the next Pass.
func (b *Batch) Number(n uint64) []byte {
	from := len(b.scratch)
	b.scratch = strconv.AppendUint(b.scratch, n, 10)
	return b.scratch[from:]
}

// Preview returns frame as the next Pass would send it.
func (b *Batch) Preview(frame []byte) []byte {
	return jsonrpc.AppendSplice(make([]byte, 0, len(frame)+64), frame, b.edits...)
}

// Forget drops the edits added since the last Pass.
func (b *Batch) Forget() {
	b.edits, b.scratch = b.edits[:0], b.scratch[:0]
	if cap(b.scratch) > scratchCap {
		b.scratch = nil
	}
}

// Send queues a frame at once.
func (b *Batch) Send(to Sender, frame []byte) error {
	d, n := b.find(to)
	d.commit() // what was passed earlier comes first
	err := to.Queue(frame, nil)
	if err == nil {
		b.to = b.to[:n]
	}
	return err
}

// Pass queues a message with the edits added since the last Pass. Within a Handler, the batch keeps
// messages for a Peer until the whole read is handled. Until then Peer.Waiting does not count them,
// and Peer.CloseWrite does not wait for them. What the batch sends to one receiver stays in order.
func (b *Batch) Pass(to Sender, m *jsonrpc.Message) error {
	err := b.pass(to, m)
	b.Forget()
	return err
}

func (b *Batch) pass(to Sender, m *jsonrpc.Message) (err error) {
	d, n := b.find(to)
	if b.stages && len(m.Frame) < largeFrame && d.peer != nil && !answersBatch(to) {
		err = d.stage(m, b.edits)
	} else {
		d.commit()
		err = queueMessage(to, m, b.edits)
	}
	if err == nil {
		b.to = b.to[:n]
	}
	return err
}

// find returns the destination for a sender, and how many there are with it. A new one counts only
// once something was sent to it.
func (b *Batch) find(to Sender) (d *destination, n int) {
	peer := farEnd(to)
	if peer != nil {
		to = peer
	}
	for i := range b.to {
		if d := &b.to[i]; d.to == to {
			return d, len(b.to)
		}
	}
	n = len(b.to)
	if n == cap(b.to) {
		b.to = append(b.to, destination{})[:n]
	}
	d = &b.to[:n+1][n]
	d.to, d.peer = to, peer
	return d, n + 1
}

// Congested returns those receivers of something since the last Flush that are congested, nil for
// none.
func (b *Batch) Congested() []Sender {
	var all []Sender
	for i := range b.to {
		if to := b.to[i].to; Congested(to) {
			all = append(all, to)
		}
	}
	return all
}

// Flush writes what was queued and empties the batch. It does not block.
func (b *Batch) Flush() {
	for i := range b.to {
		b.to[i].flush()
	}
	b.reset()
}

func (b *Batch) reset() {
	clear(b.edits[:cap(b.edits)]) // they may hold large results
	for i := range b.to {
		d := &b.to[i]
		d.to, d.peer = nil, nil
	}
	b.to = b.to[:0]
}

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
func (d *destination) stage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
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
		return jsonrpc.ErrQueueFull
	}
	if !m.IsOneLine(edits) {
		return jsonrpc.ErrLineBreak
	}
	d.staged = append(jsonrpc.AppendSplice(d.staged, m.Frame, edits...), '\n')
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
