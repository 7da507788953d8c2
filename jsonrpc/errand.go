package jsonrpc

// A Courier is a Sender that spends a goroutine on each request, which waits for the
// answer: over HTTP. It takes that of whoever has a request to send, if it may.
type Courier interface {
	Sender
	// Entrust is QueueMessage for somebody who runs the errand after the next Flush. There is
	// none, nil, where the message is sent without.
	Entrust(m *Message, edits []Edit) (Errand, error)
}

// A Reader is a Sender that looks into what it is sent.
type Reader interface {
	Sender
	// QueueMessage is Queue for a message that was scanned.
	QueueMessage(m *Message, edits []Edit) error
}

// An Errand is a request that is to be sent, and waited for.
type Errand interface {
	// Run returns when the answer has been handed on, or somebody else sees to that.
	Run(l Lender)
}

// A Lender is who lends the goroutine that it calls Flush on. What it else does there is
// not done while it is away.
type Lender interface {
	// Away is called before waiting, and again when there is more to wait for after Back.
	Away()
	// Back is called before what was waited for is handed on.
	Back()
}

// Lend has the next Flush run the first request passed that a Courier gets. It may
// take as long as the answer does. A Handler's batch lends nothing: others wait for its
// goroutine.
func (b *Batch) Lend(l Lender) { b.lender = l }

// queue gives a frame to its receiver.
func (b *Batch) queue(to Sender, frame []byte, passed *Message) (err error) {
	if passed == nil {
		return to.Queue(frame, nil)
	}
	if c, ok := to.(Courier); ok && b.lender != nil && b.errand == nil {
		b.errand, err = c.Entrust(passed, b.edits)
		return err
	}
	return queueMessage(to, passed, b.edits)
}

// queueMessage gives a message to its receiver.
func queueMessage(to Sender, m *Message, edits []Edit) error {
	if r, ok := to.(Reader); ok {
		return r.QueueMessage(m, edits)
	}
	return to.Queue(m.Frame, edits)
}

// run runs the errand, if there is one. The batch is empty before that.
func (b *Batch) run() {
	if errand := b.errand; errand != nil {
		b.errand = nil
		errand.Run(b.lender)
	}
}
