package streamhttp

import (
	"sync"
	"time"

	"toolman/jsonrpc"
)

// An inlet hands the handler what comes in on many streams, one message at a time.
type inlet struct {
	handler jsonrpc.Handler

	mu     sync.Mutex
	batch  jsonrpc.Batch // guarded by mu
	closed bool          // guarded by mu
}

// message delivers a message. It returns who got something of it and should not get more
// for a while.
func (in *inlet) message(m *jsonrpc.Message) (congested []jsonrpc.Sender) {
	m.OneLine()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	in.handler.Message(m, &in.batch)
	congested = in.batch.Congested()
	in.batch.Flush()
	return congested
}

// congestionPause is between looks at a receiver that does not read.
const congestionPause = 5 * time.Millisecond

// message delivers a message, and comes back when its receivers can take another: what
// comes on the same stream waits so long.
func (c *Conn) message(m *jsonrpc.Message) {
	for _, to := range c.in.message(m) {
		for jsonrpc.Congested(to) && sleep(c.ctx, congestionPause) {
		}
	}
}

// frame delivers a message of our own making.
func (c *Conn) frame(frame []byte) {
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil {
		c.message(&m)
	}
}

// bad delivers what is no message.
func (in *inlet) bad(m *jsonrpc.Message, err error) {
	m.OneLine()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.handler.Bad(m, err, &in.batch)
	in.batch.Flush()
}

// close tells the handler that nothing follows; false when it knows.
func (in *inlet) close(err error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.closed = true
	if in.handler != nil {
		in.handler.Closed(err)
	}
	return true
}
