package jsonrpc

// A Batch collects who was sent something, so that frames that came in one read
// go out in one write. The zero Batch is ready; outside a Handler, call Flush
// when done. It is not safe for concurrent use.
type Batch struct {
	touched []Sender
	edits   [4]Edit
	n       int
	scratch []byte
}

// Send queues frame for to.
func (b *Batch) Send(to Sender, frame []byte) error {
	return b.send(to, frame, nil)
}

// Edit adds an edit to the next Splice, which takes four at most.
func (b *Batch) Edit(at Span, with []byte) {
	b.edits[b.n] = Edit{at, with}
	b.n++
}

// Scratch returns an empty buffer for building small things in, valid until the
// next Splice; give it back grown with Keep.
func (b *Batch) Scratch() []byte { return b.scratch[:0] }

// Keep keeps the memory of what Scratch returned for the next time.
func (b *Batch) Keep(s []byte) { b.scratch = s }

// Splice queues frame for to with the edits added since the last Splice.
func (b *Batch) Splice(to Sender, frame []byte) error {
	err := b.send(to, frame, b.edits[:b.n])
	b.n = 0
	return err
}

func (b *Batch) send(to Sender, frame []byte, edits []Edit) error {
	if err := to.Queue(frame, edits); err != nil {
		return err
	}
	for _, t := range b.touched {
		if t == to {
			return nil
		}
	}
	b.touched = append(b.touched, to)
	return nil
}

// Flush writes what was queued and empties the batch.
func (b *Batch) Flush() {
	for _, to := range b.touched {
		to.Flush()
	}
	b.reset()
}

func (b *Batch) reset() {
	clear(b.touched)
	b.touched = b.touched[:0]
}

// Edits returns the edits added since the last Splice.
func (b *Batch) Edits() []Edit { return b.edits[:b.n] }

// Preview returns frame as the next Splice would send it.
func (b *Batch) Preview(frame []byte) []byte {
	return AppendSplice(nil, frame, b.edits[:b.n]...)
}
