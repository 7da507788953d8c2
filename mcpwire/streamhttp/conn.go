package streamhttp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	idleWorkers     = 64 // goroutines that wait for a request
	defaultParallel = 512
	closeTime       = 2 * time.Second // for the last messages, and again for the end of the session
)

// Options configure a connection.
type Options struct {
	// URL is the server's MCP endpoint, http or https.
	URL string
	// Header is sent with every request. Headers of the transport itself take precedence.
	Header http.Header
	// Credential, if any, authorizes every request.
	Credential Credential
	// CAFile names a file of PEM certificates that are trusted in addition to the system's.
	CAFile string
	// FrameLimit is the size of the longest message that is read, in bytes. 0 means
	// peer.DefaultFrameLimit.
	FrameLimit int
	// Parallel is how many requests may be in flight, not counting subscriptions. 0 means 512.
	Parallel int
	// Log, if any, gets information for users that is in no message. It must not block.
	Log func(text string)
}

// A Credential authorizes requests.
type Credential = endpoint.Credential

// A Verdict is what a Credential says of a response with the status 401 or 403.
type Verdict = endpoint.Verdict

// A Passing is an error of a Credential that another try may not have.
type Passing = endpoint.Passing

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
	slots  chan struct{} // has an element for each request in flight
	work   chan *post    // to an idle worker
	idle   chan struct{} // has an element for each idle worker
	done   chan struct{}

	lastID   atomic.Int64                     // of the transport's own requests
	refusal  atomic.Pointer[endpoint.Failure] // set by expire: why the server takes no requests
	reviving sync.Mutex                       // held while a session replaces another one; locked before mu

	mu      sync.Mutex
	out     outbox        // guarded by mu
	session legacySession // guarded by mu
}

// Dial returns a connection. It sends nothing. It fails if an option is invalid.
func Dial(o Options) (*Conn, error) {
	o.FrameLimit = cmp.Or(o.FrameLimit, peer.DefaultFrameLimit)
	o.Parallel = cmp.Or(o.Parallel, defaultParallel)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	server, err := endpoint.New(o.URL, o.Header, o.Credential, o.CAFile)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		o: o, server: server, done: make(chan struct{}), slots: make(chan struct{}, o.Parallel),
		work: make(chan *post), idle: make(chan struct{}, idleWorkers),
		out:     outbox{limit: peer.DefaultQueueLimit, open: map[string]*post{}, answering: map[*post]bool{}, drained: make(chan struct{})},
		session: legacySession{replayable: map[string][]byte{}},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.in.ctx = c.ctx
	return c, nil
}

// Start sets the handler. Call it before anything is sent.
func (c *Conn) Start(h peer.Handler) { c.in.handler = h }

// Done returns a channel that is closed when the connection has ended and the handler knows it.
func (c *Conn) Done() <-chan struct{} { return c.done }

// String returns the server's URL without secrets.
func (c *Conn) String() string { return c.server.String() }

// Queue implements peer.Sender. It fails with ErrQueueFull or ErrClosed, or if the frame is not a
// message.
func (c *Conn) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return fmt.Errorf("the frame to be sent: %w", err)
	}
	return c.QueueMessage(&m, edits)
}

// QueueMessage implements peer.MessageSender.
func (c *Conn) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	p, err := newPost(m, edits)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.out.add(p); err != nil {
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

// worker sends requests, one after another. A new goroutine for each request would first have to
// grow its stack, which takes 8 % of the time of a small call (fixtures/bench, http100).
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

// Answering returns the number of requests whose response the handler does not have, not counting
// subscriptions and cancelled requests.
func (c *Conn) Answering() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out.answering)
}

// CloseWrite ends the session and then the connection, once the queued messages have arrived.
// Requests that have no response by then get none.
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

// finish calls outbox.finish.
func (c *Conn) finish(p *post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.finish(p)
}

// take calls outbox.take.
func (c *Conn) take(p *post) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.take(p)
}

// explain returns the text of a failure for users.
func (c *Conn) explain(f *endpoint.Failure) string { return c.server.String() + ": " + f.Text }

// sleep waits. It returns false if ctx ends first.
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
