package jsonrpc

import "strconv"

// scratchCap is how much memory a batch keeps for copies.
const scratchCap = 4 << 10

// A Batch collects who was sent something, so that frames that came in one read
// go out in one write. The zero Batch is ready; outside a Handler, call Flush
// when done. It is not safe for concurrent use.
type Batch struct {
	touched []receiver // behind its end is memory for more
	stages  bool       // what Pass sends waits for the end of the read
	edits   []Edit
	scratch []byte
}

// Send queues frame for to.
func (b *Batch) Send(to Sender, frame []byte) error {
	return b.send(to, frame, nil)
}

// Edit adds an edit to the next Pass.
func (b *Batch) Edit(at Span, with []byte) {
	b.edits = append(b.edits, Edit{})
	e := &b.edits[len(b.edits)-1]
	e.Span, e.New = at, with
}

// SetEdits puts edits, which were appended to Edits, into the place of those.
func (b *Batch) SetEdits(edits []Edit) { b.edits = edits }

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

// Pass queues a message for to with the edits added since the last Pass. Within a
// Handler it waits in the batch until the whole read is handled: only then
// does to's Waiting count it, and CloseWrite wait for it. It keeps its place among
// what the batch sends there. A Reader need not scan it again.
func (b *Batch) Pass(to Sender, m *Message) error {
	err := b.pass(to, m)
	b.Forget()
	return err
}

func (b *Batch) pass(to Sender, m *Message) error {
	if !b.stages {
		return b.send(to, m.Frame, m)
	}
	r, n := b.find(to)
	if done, err := r.stage(m, b.edits); err != nil {
		return err
	} else if !done {
		return b.send(to, m.Frame, m)
	}
	b.touched = b.touched[:n]
	return nil
}

// Forget drops the edits added since the last Pass.
func (b *Batch) Forget() {
	b.edits, b.scratch = b.edits[:0], b.scratch[:0]
	if cap(b.scratch) > scratchCap {
		b.scratch = nil
	}
}

// send queues a frame at once, behind those that wait. If it is a message that is passed on,
// it gets the edits.
func (b *Batch) send(to Sender, frame []byte, passed *Message) error {
	r, n := b.find(to)
	r.commit()
	var err error
	if passed != nil {
		err = queueMessage(to, passed, b.edits)
	} else {
		err = to.Queue(frame, nil)
	}
	if err != nil {
		return err
	}
	b.touched = b.touched[:n]
	return nil
}

// find returns the receiver that is to, and how many there are with it: a new one
// counts only when it was sent something.
func (b *Batch) find(to Sender) (r *receiver, n int) {
	for i := range b.touched {
		if r := &b.touched[i]; r.to == to {
			return r, len(b.touched)
		}
	}
	n = len(b.touched)
	if n == cap(b.touched) {
		b.touched = append(b.touched, receiver{})[:n]
	}
	r = &b.touched[:n+1][n]
	r.to = to
	return r, n + 1
}

// Flush writes what was queued and empties the batch. It does not block.
func (b *Batch) Flush() {
	for i := range b.touched {
		b.touched[i].flush()
	}
	b.reset()
}

func (b *Batch) reset() {
	clear(b.edits[:cap(b.edits)]) // they may hold large results
	for i := range b.touched {
		r := &b.touched[i]
		r.to, r.peer = nil, nil
	}
	b.touched = b.touched[:0]
}

// Edits returns the edits added since the last Pass.
func (b *Batch) Edits() []Edit { return b.edits }

// Preview returns frame as the next Pass would send it.
func (b *Batch) Preview(frame []byte) []byte {
	size := len(frame)
	for i := range b.edits {
		size += len(b.edits[i].New) + b.edits[i].Span.Lo - b.edits[i].Span.Hi
	}
	return AppendSplice(make([]byte, 0, size), frame, b.edits...)
}
