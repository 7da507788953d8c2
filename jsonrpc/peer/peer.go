package peer

import (
	"cmp"
	"time"

	"toolman/jsonrpc"
)

// Defaults of Options.
const (
	DefaultFrameLimit = 32 << 20
	DefaultQueueLimit = 64 << 20
)

// largeFrame is the size from which on a frame is written by a system call of its own instead of
// being copied to the outbox. A call of 1 MB over stdio takes 30 % less time that way
// (fixtures/bench, seq1m).
const largeFrame = 64 << 10

var newline = []byte{'\n'}

// lingerTimeout is how long a peer stays after writing to it has failed, if it sends nothing. It
// may still send a response.
const lingerTimeout = 200 * time.Millisecond

// Options are the limits of a peer. Zero values mean the defaults.
type Options struct {
	// FrameLimit is the size of the longest frame that is read, in bytes.
	FrameLimit int
	// QueueLimit is how many bytes may wait to be written.
	QueueLimit int
	// Pressure makes the peers whose handlers send to this one stop reading while more than
	// QueueLimit waits, so that no frame is lost. Frames are never refused; other senders should
	// look at Congested. Without Pressure, a full queue refuses frames with ErrQueueFull.
	Pressure bool
}

// A Handler gets the messages of a peer. Its methods are called one at a time and must not block,
// because on Linux all peers of a Loop share one goroutine. What they send through the Outgoing is
// written when they return, together with what other frames of the same read cause.
type Handler interface {
	// Message gets a valid message. m and its bytes are valid until Message returns.
	Message(m *jsonrpc.Message, out *Outgoing)
	// Bad gets a frame that is not a message, with a *SyntaxError or *FormError (m then has the
	// parts that were recognized), or a *TooLongError, without a frame.
	Bad(m *jsonrpc.Message, err error, out *Outgoing)
	// Closed is called once, after the last message, with the reason: the far end has closed its
	// side (io.EOF), reading failed, Close was called (ErrClosed), or writing failed and the far
	// end sent nothing more. The peer still has to be closed.
	Closed(err error)
}

// A Sender takes frames for a far end. Queue copies a frame with the edits applied, and Flush
// writes the queued frames. Neither of them blocks. Queue fails with ErrQueueFull, ErrLineBreak or
// ErrClosed, and has then queued nothing.
type Sender interface {
	Queue(frame []byte, edits []jsonrpc.Edit) error
	Flush()
}

// A MessageSender is a Sender that parses the messages it is sent.
type MessageSender interface {
	Sender
	// QueueMessage is Queue for a message that has been scanned already.
	QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error
}

// queueMessage queues a scanned message.
func queueMessage(to Sender, m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if r, ok := to.(MessageSender); ok {
		return r.QueueMessage(m, edits)
	}
	return to.Queue(m.Frame, edits)
}

// farEnd returns the Peer behind a sender, or nil.
func farEnd(to Sender) *Peer {
	switch to := to.(type) {
	case *Peer:
		return to
	case *BatchResponder:
		return to.peer
	}
	return nil
}

// Congested reports whether more than the limit waits for a far end, because it does not read and
// its Peer never refuses frames (Options.Pressure). Peers stop reading for such a receiver. Others
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

// A Peer is the far end of a pair of byte streams. Its methods are safe for concurrent use.
type Peer struct {
	handler  Handler
	pressure bool
	out      outbox
	wire     wire

	// owned by the reader
	frames   framer
	outgoing Outgoing
	scan     jsonrpc.Scanner
	msg      jsonrpc.Message
}

// A wire moves the bytes of a peer. Its methods whose names end in Locked are called with
// Peer.out.mu held.
type wire interface {
	// flushLocked writes what it can of the outbox without blocking, and has the rest written as
	// soon as the pipe takes it.
	flushLocked()
	// writeNowLocked writes what the pipe takes at once, and returns how many bytes that was.
	writeNowLocked(pieces [][]byte) int
	// start begins reading.
	start()
	// pause stops reading. The reader itself calls it, from deliver.
	pause()
	// resume reads on. It may be called at any time.
	resume()
	// closeLocked closes both directions, closeWriteLocked only the one to the far end.
	closeLocked()
	closeWriteLocked()
	// goneLocked reports whether the far end is known not to read any more.
	goneLocked() bool
}

func newPeer(o Options) *Peer {
	p := &Peer{pressure: o.Pressure}
	p.out.limit = cmp.Or(o.QueueLimit, DefaultQueueLimit)
	p.frames.limit = cmp.Or(o.FrameLimit, DefaultFrameLimit)
	p.outgoing.stages = true
	return p
}

// Start begins reading. h gets all that is read.
func (p *Peer) Start(h Handler) {
	p.handler = h
	p.wire.start()
}

// Queue implements Sender.
func (p *Peer) Queue(frame []byte, edits []jsonrpc.Edit) error {
	return p.QueueMessage(&jsonrpc.Message{Frame: frame}, edits)
}

// QueueMessage implements MessageSender.
func (p *Peer) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if !m.IsOneLine(edits) {
		return jsonrpc.ErrLineBreak
	}
	frame := m.Frame
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if err := p.out.admitLocked(len(frame)+1, p.pressure); err != nil {
		return err
	}
	if len(frame) >= largeFrame && !p.out.blocked {
		p.queueLargeLocked(frame, edits)
	} else {
		p.out.roomLocked(len(frame) + 1)
		p.out.buf = append(jsonrpc.AppendSplice(p.out.buf, frame, edits...), '\n')
	}
	return nil
}

// queueLargeLocked writes what it can of a frame from where it lies, and queues the rest.
func (p *Peer) queueLargeLocked(frame []byte, edits []jsonrpc.Edit) {
	pieces := append(p.out.pieces[:0], p.out.buf[p.out.off:])
	pieces = append(jsonrpc.AppendPieces(pieces, frame, edits), newline)
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

// Waiting returns how many bytes are queued and not yet written.
func (p *Peer) Waiting() int {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.waiting()
}

// Gone reports whether the far end is known not to read any more.
func (p *Peer) Gone() bool {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.wire.goneLocked()
}

// CloseWrite closes the direction to the far end once all queued bytes are written.
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

// Close closes both directions at once. Queued bytes are lost. Messages of the last read may still
// come before the handler's Closed.
func (p *Peer) Close() {
	p.out.mu.Lock()
	p.out.closed, p.out.ending = true, true
	p.wire.closeLocked()
	paused := p.out.releaseLocked()
	p.out.mu.Unlock()
	resume(paused)
}

// pauseIfCongested makes reader stop reading if p is congested, until it is not.
func (p *Peer) pauseIfCongested(reader *Peer) {
	if !p.pressure {
		return
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.out.congestedLocked() {
		p.out.paused = append(p.out.paused, reader)
		reader.wire.pause()
	}
}

func resume(peers []*Peer) {
	for _, p := range peers {
		p.wire.resume()
	}
}

// deliver gives the handler every complete frame that has been read.
func (p *Peer) deliver() {
	for {
		line, err := p.frames.next()
		if line == nil && err == nil {
			break
		}
		p.frame(line, err)
	}
	p.frames.rest()
	p.endRead()
}

// end reports the end of the input. Unless Close was called, it first delivers the text behind the
// last newline.
func (p *Peer) end(cause error) {
	line, err := p.frames.last()
	if cause != jsonrpc.ErrClosed && (len(line) > 0 || err != nil) {
		p.frame(line, err)
		p.endRead()
	}
	p.handler.Closed(cause)
}

func (p *Peer) frame(line []byte, err error) {
	if err != nil {
		p.msg = jsonrpc.Message{}
	} else {
		err = p.scan.Scan(line, &p.msg)
	}
	if err != nil {
		p.handler.Bad(&p.msg, err, &p.outgoing)
		return
	}
	p.msg.OneLine() // a CR may stand between values
	p.handler.Message(&p.msg, &p.outgoing)
}

// endRead writes what the frames of the read have caused, and stops reading if a receiver is
// congested.
func (p *Peer) endRead() {
	for i := range p.outgoing.destinations {
		d := &p.outgoing.destinations[i]
		d.flush()
		if d.peer != nil {
			d.peer.pauseIfCongested(p)
		}
	}
	p.outgoing.reset()
}
