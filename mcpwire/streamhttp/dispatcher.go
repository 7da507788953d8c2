package streamhttp

import (
	"context"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
)

// A dispatcher hands the messages of many streams to a handler, one at a time.
type dispatcher struct {
	handler peer.Handler
	ctx     context.Context // of the connection

	mu     sync.Mutex
	out    peer.Outgoing // guarded by mu
	closed bool          // guarded by mu
}

// backpressurePause is the time between two checks of a receiver that does not read.
const backpressurePause = 5 * time.Millisecond

// message delivers a message, and returns when its receivers can take another one. Until then, the
// stream that the message came on waits.
func (d *dispatcher) message(m *jsonrpc.Message) {
	m.OneLine()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	d.handler.Message(m, &d.out)
	congested := d.out.Congested()
	d.out.Flush()
	d.mu.Unlock()
	for _, to := range congested {
		for peer.Congested(to) && sleep(d.ctx, backpressurePause) {
		}
	}
}

// frames delivers messages that the transport itself made.
func (d *dispatcher) frames(frames ...[]byte) {
	for _, frame := range frames {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			d.message(&m)
		}
	}
}

// bad delivers a frame that is not a message.
func (d *dispatcher) bad(m *jsonrpc.Message, err error) {
	m.OneLine()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.handler.Bad(m, err, &d.out)
		d.out.Flush()
	}
}

// close reports the end to the handler. It returns false if that was done before.
func (d *dispatcher) close(err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.closed = true
	if d.handler != nil {
		d.handler.Closed(err)
	}
	return true
}
