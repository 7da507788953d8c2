package streamhttp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	idleWorkers = 64              // goroutines that wait for a request
	closeTime   = 2 * time.Second // for the last messages, and again for the end of the session
)

// A Conn is a connection to a server over HTTP. It has the methods of a peer.Peer. They may be
// called from any goroutine, and do not block.
type Conn struct {
	o      Options
	server *endpoint.Endpoint
	in     dispatcher
	params httpheader.Table
	bodies httpbody.Pool
	ctx    context.Context // of everything in flight
	stop   context.CancelFunc
	slots  chan struct{} // holds an element for each request in flight
	work   chan *post    // to an idle worker
	idle   chan struct{} // holds an element for each idle worker
	done   chan struct{}

	lastID   atomic.Int64 // of the transport's own requests
	reviving sync.Mutex   // held while a session replaces another one; before mu

	mu      sync.Mutex
	out     outbox        // guarded by mu
	session legacySession // guarded by mu
}

// Dial returns a connection. Nothing is sent before the first message; errors are about the
// options.
func Dial(o Options) (*Conn, error) {
	o.fill()
	server, err := endpoint.New(o.URL, o.Header, o.Credential, o.CAFile)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		o: o, server: server, done: make(chan struct{}), slots: make(chan struct{}, o.Parallel),
		work: make(chan *post), idle: make(chan struct{}, idleWorkers),
		out: outbox{open: map[string]*post{}, drained: make(chan struct{})}, session: legacySession{replayable: map[string][]byte{}},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.in.ctx = c.ctx
	return c, nil
}

// Start sets the handler. It must be called before anything is sent.
func (c *Conn) Start(h peer.Handler) { c.in.handler = h }

// Done is closed when the connection has ended and the handler knows.
func (c *Conn) Done() <-chan struct{} { return c.done }

// String returns the server's URL without secrets.
func (c *Conn) String() string { return c.server.String() }

// Queue implements peer.Sender. Besides ErrQueueFull and ErrClosed it fails if the frame is no
// message.
func (c *Conn) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return fmt.Errorf("what is to be sent: %w", err)
	}
	return c.QueueMessage(&m, edits)
}

// QueueMessage implements peer.Reader.
func (c *Conn) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	p, err := newPost(m, edits)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.out.add(p, c.o.QueueLimit, false); err != nil {
		return err
	}
	p.ctx, p.cancel = context.WithCancel(c.ctx)
	c.out.queued = append(c.out.queued, p)
	return nil
}

// Flush implements peer.Sender.
func (c *Conn) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	queued := c.out.queued
	c.out.queued = nil
	for _, p := range queued {
		if !c.out.schedule(p) {
			continue
		}
		c.session.sent(p)
		if p.msg.Kind != jsonrpc.Request {
			go c.notify(p)
			continue
		}
		select {
		case c.work <- p:
		default:
			go c.worker(p)
		}
	}
}

// worker sends requests, one after another. A new goroutine for each would have to grow its stack
// first, which takes 8 % of the time of a small call (fixtures/bench, http100).
func (c *Conn) worker(p *post) {
	for {
		c.request(p)
		select {
		case c.idle <- struct{}{}:
		default:
			return
		}
		select {
		case p = <-c.work:
			<-c.idle
		case <-c.ctx.Done():
			return
		}
	}
}

// Answering returns the number of requests, not counting subscriptions, that have no answer yet.
func (c *Conn) Answering() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.out.open {
		if p.method != mcpwire.Listen {
			n++
		}
	}
	return n
}

// CloseWrite says that nothing more is sent. When the queued messages have arrived, the session
// ends, and then the connection. Requests without an answer get none.
func (c *Conn) CloseWrite() {
	c.Flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.out.closing {
		c.out.closing = true
		c.out.drain()
		go c.leave(c.out.drained, c.session.current)
	}
}

// leave ends the session when nothing is left to arrive, and then the connection.
func (c *Conn) leave(drained <-chan struct{}, s session) {
	select {
	case <-drained:
	case <-time.After(closeTime):
	case <-c.ctx.Done():
	}
	if s.ID != "" {
		c.server.Delete(s.Session)
	}
	c.end(io.EOF)
}

// Close ends the connection at once.
func (c *Conn) Close() {
	c.mu.Lock()
	c.out.closing = true
	c.mu.Unlock()
	c.end(jsonrpc.ErrClosed)
}

// end aborts everything in flight.
func (c *Conn) end(err error) {
	c.stop()
	go func() { // the handler may be the caller
		if c.in.close(err) {
			c.server.Close()
			close(c.done)
		}
	}()
}

// finish notes that nothing waits for a message any more.
func (c *Conn) finish(p *post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.finish(p)
}

// take returns whether a request may be answered.
func (c *Conn) take(p *post) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.take(p)
}

// explain returns the text of a failure for people.
func (c *Conn) explain(f *endpoint.Failure) string { return c.server.String() + ": " + f.Text }

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
