package jsonrpc

import "time"

// Defaults of PeerOptions.
const (
	DefaultFrameLimit = 32 << 20
	DefaultQueueLimit = 64 << 20
)

// largeFrame is from which size on a frame is rather written by a system call of
// its own than copied to the outbox.
const largeFrame = 64 << 10

var newline = []byte{'\n'}

// lastWords is how long a far end that does not read any more may be silent
// before it is taken for gone. It may have an answer under way.
const lastWords = 200 * time.Millisecond

// PeerOptions says how much a peer may cost. The zero value is the defaults.
type PeerOptions struct {
	// FrameLimit is the longest frame read, in bytes.
	FrameLimit int
	// QueueLimit is how many bytes may wait to be written.
	QueueLimit int
	// Pressure makes the peers whose handlers send to this one stop reading while
	// more than QueueLimit waits, so that nothing is lost. Whoever else sends is
	// never refused and should look at Waiting. Without Pressure a full queue is
	// ErrQueueFull.
	Pressure bool
}

// A Handler gets what a peer sends. Its methods are called one at a time and must
// not block: on Linux all peers of a Loop share one goroutine. What they send
// through the Batch is written when they return, together with what other
// frames of the same read caused.
type Handler interface {
	// Message gets a valid message; m and its bytes are valid until it returns.
	Message(m *Message, b *Batch)
	// Bad gets a frame that is no message, with a *SyntaxError or *FormError (m
	// then holds what was recognised), or a *TooLongError without a frame.
	Bad(m *Message, err error, b *Batch)
	// Closed is called once, after the last message: the far end has closed its
	// side (io.EOF), reading failed, Close was called (ErrClosed), or writing
	// failed and the far end had no more to say. Close the peer all the same.
	Closed(err error)
}

// A Sender takes frames for a far end. Queue copies a frame, with edits
// applied, and Flush writes what is queued; neither ever blocks. Queue fails with
// ErrQueueFull, ErrLineBreak or ErrClosed, and then has taken nothing.
type Sender interface {
	Queue(frame []byte, edits []Edit) error
	Flush()
}

// A Reader is a Sender that parses the messages it is sent.
type Reader interface {
	Sender
	// QueueMessage is Queue for a message that has been scanned already.
	QueueMessage(m *Message, edits []Edit) error
}

// queueMessage queues a scanned message.
func queueMessage(to Sender, m *Message, edits []Edit) error {
	if r, ok := to.(Reader); ok {
		return r.QueueMessage(m, edits)
	}
	return to.Queue(m.Frame, edits)
}

// farEnd returns the Peer behind a sender, or nil.
func farEnd(to Sender) *Peer {
	switch to := to.(type) {
	case *Peer:
		return to
	case *Gatherer:
		return to.peer
	}
	return nil
}

// Congested reports whether more waits for a far end than should, because it does not read and its
// Peer never refuses frames (PeerOptions.Pressure). Peers stop reading for such a receiver. Others
// that pass messages on should wait until it is no longer congested.
func Congested(to Sender) bool {
	p := farEnd(to)
	if p == nil || !p.pressure {
		return false
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.congestedLocked()
}

// A Peer is the far end of one pair of byte streams. Its methods may be called
// from any goroutine.
type Peer struct {
	handler  Handler
	pressure bool
	out      outbox
	wire     wire

	// owned by the reader
	frames framer
	batch  Batch
	scan   Scanner
	msg    Message
}

// wire moves the bytes of a peer.
type wire interface {
	// flushLocked writes what it can of the peer's outbox without blocking,
	// and has the rest written when the pipe takes it. Called with out.mu held.
	flushLocked()
	// writeNowLocked writes what the pipe takes at once of the pieces, and returns
	// how many bytes that was. Called with out.mu held.
	writeNowLocked(pieces [][]byte) int
	// start begins reading.
	start()
	// pause stops reading; the reader itself calls it, from deliver. resume
	// goes on; it may come at any time.
	pause()
	resume()
	// close ends both directions; closeWrite only ours. Called with out.mu held.
	closeLocked()
	// deafLocked reports whether the far end is known not to read any more.
	deafLocked() bool
	closeWriteLocked()
}

func newPeer(o PeerOptions) *Peer {
	if o.FrameLimit == 0 {
		o.FrameLimit = DefaultFrameLimit
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = DefaultQueueLimit
	}
	p := &Peer{pressure: o.Pressure}
	p.out.limit = o.QueueLimit
	p.frames.limit = o.FrameLimit
	p.batch.stages = true
	return p
}

// Start begins reading; h gets everything that comes.
func (p *Peer) Start(h Handler) {
	p.handler = h
	p.wire.start()
}

// Queue implements Sender.
func (p *Peer) Queue(frame []byte, edits []Edit) error {
	return p.QueueMessage(&Message{Frame: frame}, edits)
}

// QueueMessage implements Reader.
func (p *Peer) QueueMessage(m *Message, edits []Edit) error {
	if !m.IsOneLine(edits) {
		return ErrLineBreak
	}
	frame := m.Frame
	p.out.mu.Lock()
	err := p.out.admitLocked(len(frame)+1, p.pressure)
	switch {
	case err != nil:
	case len(frame) >= largeFrame && !p.out.blocked:
		p.queueLargeLocked(frame, edits)
	default:
		p.out.roomLocked(len(frame) + 1)
		p.out.buf = append(AppendSplice(p.out.buf, frame, edits...), '\n')
	}
	p.out.mu.Unlock()
	return err
}

// queueLargeLocked writes what it can of a frame from where it lies, and queues
// the rest.
func (p *Peer) queueLargeLocked(frame []byte, edits []Edit) {
	pieces := append(p.out.pieces[:0], p.out.buf[p.out.off:])
	pieces = append(AppendPieces(pieces, frame, edits), newline)
	p.out.pieces = pieces[:0]
	n := p.wire.writeNowLocked(pieces)
	waited := min(n, p.out.waiting())
	if n -= waited; waited > 0 {
		p.out.wroteLocked(waited)
	}
	p.out.roomLocked(len(frame) + 1 - min(n, len(frame)))
	for _, piece := range pieces[1:] {
		skip := min(n, len(piece))
		n -= skip
		p.out.buf = append(p.out.buf, piece[skip:]...)
	}
	clear(pieces)
}

// Flush implements Sender.
func (p *Peer) Flush() {
	p.out.mu.Lock()
	p.sendLocked()
	p.out.mu.Unlock()
}

func (p *Peer) sendLocked() {
	if !p.out.blocked && !p.out.closed {
		p.wire.flushLocked()
	}
}

// Send queues a frame and flushes.
func (p *Peer) Send(frame []byte) error {
	err := p.Queue(frame, nil)
	p.Flush()
	return err
}

// Waiting returns how many bytes are queued and not yet written.
func (p *Peer) Waiting() int {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.waiting()
}

// Deaf reports whether the far end is known not to read any more.
func (p *Peer) Deaf() bool {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.wire.deafLocked()
}

// CloseWrite closes our direction once all that is queued is written.
func (p *Peer) CloseWrite() {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.out.closed || p.out.ending {
		return
	}
	p.out.ending = true
	switch {
	case p.out.waiting() == 0:
		p.out.closed = true
		p.wire.closeWriteLocked()
	case !p.out.blocked:
		p.wire.flushLocked()
	}
}

// Close ends both directions at once. What is queued is lost; messages of the
// last read may still come before Closed does.
func (p *Peer) Close() {
	p.out.mu.Lock()
	p.out.closed, p.out.ending = true, true
	p.wire.closeLocked()
	held := p.out.releaseLocked()
	p.out.mu.Unlock()
	resume(held)
}

// hold makes reader stop reading until p's queue is emptier, if it is too full.
func (p *Peer) hold(reader *Peer) {
	if !p.pressure {
		return
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.out.congestedLocked() {
		p.out.held = append(p.out.held, reader)
		reader.wire.pause()
	}
}

func resume(peers []*Peer) {
	for _, p := range peers {
		p.wire.resume()
	}
}

// deliver hands the handler every whole frame that has been read.
func (p *Peer) deliver() {
	for {
		line, err := p.frames.next()
		if line == nil && err == nil {
			break
		}
		p.frame(line, err)
	}
	p.frames.rest()
	p.settle()
}

// end delivers what stands after the last newline, unless it was us who ended
// it there, and reports the end.
func (p *Peer) end(cause error) {
	line, err := p.frames.last()
	if cause != ErrClosed && (len(line) > 0 || err != nil) {
		p.frame(line, err)
		p.settle()
	}
	p.handler.Closed(cause)
}

func (p *Peer) frame(line []byte, err error) {
	if err != nil {
		p.msg = Message{}
	} else {
		err = p.scan.Scan(line, &p.msg)
	}
	if err != nil {
		p.handler.Bad(&p.msg, err, &p.batch)
		return
	}
	p.msg.OneLine()
	p.handler.Message(&p.msg, &p.batch)
}

// settle writes what the frames just handled have caused, and stops reading
// when a receiver cannot follow.
func (p *Peer) settle() {
	for i := range p.batch.to {
		d := &p.batch.to[i]
		d.flush()
		if d.peer != nil {
			d.peer.hold(p)
		}
	}
	p.batch.reset()
}
