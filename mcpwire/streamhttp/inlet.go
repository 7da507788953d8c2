package streamhttp

import (
	"sync"

	"toolman/jsonrpc"
)

// An inlet hands the handler what comes in on many streams, one message at a time.
type inlet struct {
	handler jsonrpc.Handler

	mu     sync.Mutex
	batch  jsonrpc.Batch // guarded by mu
	closed bool          // guarded by mu
}

// message delivers a message.
func (in *inlet) message(m *jsonrpc.Message) {
	oneLine(m.Frame)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.handler.Message(m, &in.batch)
	in.batch.Flush()
}

// frame delivers a message of our own making.
func (in *inlet) frame(frame []byte) {
	var m jsonrpc.Message
	if jsonrpc.Scan(frame, &m) == nil {
		in.message(&m)
	}
}

// bad delivers what is no message.
func (in *inlet) bad(m *jsonrpc.Message, err error) {
	oneLine(m.Frame)
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
