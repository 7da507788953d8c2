package streamhttp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/bodies"
	"toolman/mcpwire/streamhttp/internal/h1"
)

const (
	maxPending      = 4096            // messages that the server does not have yet, or has not answered
	defaultParallel = 512             // requests under way at once, subscriptions not counted
	lateTime        = 5 * time.Second // a cancelled request of the legacy era may still be answered
	noteTime        = 30 * time.Second
	settleTime      = 2 * time.Second // what follows a change of the session waits for it
	goodbye         = 2 * time.Second // for what is to be said at the end
)

// A Conn is a server that is spoken to over HTTP. It has the methods of a jsonrpc.Peer,
// and they may be called from any goroutine; none blocks.
type Conn struct {
	// immutable
	o      Options
	url    *url.URL // as configured
	where  string   // the URL, for people
	client *http.Client
	header http.Header // that every request has
	host   string      // that every request names, "" for the URL's
	in     inlet
	params paramHeaders
	bodies bodies.Pool
	ctx    context.Context // of everything under way
	stop   context.CancelFunc
	slots  chan struct{}
	work   chan *post    // to an idle worker
	idle   chan struct{} // holds an element for each idle worker
	done   chan struct{}

	asked    atomic.Int64 // requests of its own
	reviving sync.Mutex   // held while the session is made anew; before mu

	mu          sync.Mutex
	place       *url.URL           // guarded by mu: where the server is; url, until it says for good that it is elsewhere
	queued      []*post            // guarded by mu: not flushed yet
	open        map[string]*post   // guarded by mu: requests without an answer, by id
	pending     int                // guarded by mu: messages that are not done
	waiting     int                // guarded by mu: bytes that are not written
	gate        <-chan struct{}    // guarded by mu: closed when the handshake is done
	lane        <-chan struct{}    // guarded by mu: closed when the last notification in the lane has arrived
	notes       int                // guarded by mu: notifications that have not arrived
	drained     milestone          // guarded by mu: no notification is left to arrive, and the connection ends
	revision    string             // guarded by mu: that the last modern request claimed
	session     session            // guarded by mu
	hello       []byte             // guarded by mu: the initialize that was sent
	welcome     []byte             // guarded by mu: the result of it
	initialized []byte             // guarded by mu: the notification after it
	standing    map[string][]byte  // guarded by mu: requests whose effect lasts as long as a session
	hush        context.CancelFunc // guarded by mu: ends the GET stream
	old         *url.URL           // guarded by mu: where to POST to, on the transport of 2024-11-05
	ending      bool               // guarded by mu
}

// Dial makes a connection. Nothing goes over the network before the first message does;
// errors are about the options.
func Dial(o Options) (*Conn, error) {
	u, err := CheckURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be used: %w", err)
	}
	if err := checkHeader(o.Header); err != nil {
		return nil, err
	}
	o.fill()
	transport, err := newTransport(&o)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: h1.New(transport, u), CheckRedirect: checkRedirect}
	c := &Conn{
		o: o, url: u, place: u, where: Shown(u), client: client, done: make(chan struct{}),
		slots: make(chan struct{}, cmp.Or(o.Parallel, defaultParallel)), work: make(chan *post), idle: make(chan struct{}, idleWorkers),
		open: map[string]*post{}, standing: map[string][]byte{},
	}
	c.header, c.host = commonHeader(o.Header, u)
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

// Start says who gets what comes. It has to be called before anything is sent.
func (c *Conn) Start(h jsonrpc.Handler) { c.in.handler = h }

// Done is closed when the connection is over and the handler knows.
func (c *Conn) Done() <-chan struct{} { return c.done }

// String returns the server's URL, without what may be secret in it.
func (c *Conn) String() string { return c.where }

// Queue implements jsonrpc.Sender. Besides ErrQueueFull and ErrClosed it fails where the
// frame is no message.
func (c *Conn) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return fmt.Errorf("what is to be sent: %w", err)
	}
	return c.QueueMessage(&m, edits)
}

// QueueMessage implements jsonrpc.Reader.
func (c *Conn) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	p, err := newPost(m, edits)
	if err != nil {
		return err
	}
	return c.queue(p)
}

func (c *Conn) queue(p *post) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ending:
		return jsonrpc.ErrClosed
	case c.pending >= maxPending || c.waiting > 0 && c.waiting+len(p.frame) > c.o.QueueLimit:
		return jsonrpc.ErrQueueFull
	}
	p.ctx, p.cancel = context.WithCancel(c.ctx)
	c.pending++
	c.waiting += len(p.frame)
	c.queued = append(c.queued, p)
	return nil
}

// Flush implements jsonrpc.Sender.
func (c *Conn) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	queued := c.queued
	c.queued = nil
	for _, p := range queued {
		c.launchLocked(p)
	}
}

// Send queues a frame and flushes.
func (c *Conn) Send(frame []byte) error {
	err := c.Queue(frame, nil)
	c.Flush()
	return err
}

// Waiting returns how many bytes are queued and not yet written.
func (c *Conn) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}

// Pending returns how many messages the server does not have yet, or has not answered.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending
}

// Answering returns how many requests, subscriptions not counted, have no answer yet.
func (c *Conn) Answering() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.open {
		if p.method != mcpwire.Listen {
			n++
		}
	}
	return n
}

// launchLocked sends a message on its way.
func (c *Conn) launchLocked(p *post) {
	switch p.msg.Kind {
	case jsonrpc.Request:
		p.after = []<-chan struct{}{c.gate}
		c.open[p.id] = p
		switch {
		case p.era == mcpwire.Modern:
			c.revision = p.version
		case p.method == mcpwire.Initialize:
			c.hello, c.gate, c.lane = p.frame, p.done.wait(), p.done.wait()
		case p.changesSession():
			c.gate = c.soonLocked(p)
		}
		select {
		case c.work <- p:
		default:
			go c.worker(p)
		}
	case jsonrpc.Response:
		p.after = []<-chan struct{}{c.gate}
		go c.notify(p)
	default:
		c.launchNotificationLocked(p)
	}
}

// idleWorkers is how many workers wait for another request at most.
const idleWorkers = 64

// worker sends requests, one after the other. A new goroutine for each would have to grow its stack
// first, which costs 8 % of the time of a small call (fixtures/bench, http100).
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

// soonLocked returns what is closed when a message is done, or has not been for a while.
func (c *Conn) soonLocked(p *post) <-chan struct{} {
	soon, done := make(chan struct{}), p.done.wait()
	go func() {
		limit := time.NewTimer(settleTime)
		defer limit.Stop()
		select {
		case <-done:
		case <-limit.C:
		}
		close(soon)
	}()
	return soon
}

// launchNotificationLocked keeps notifications in their order: each waits in the lane for the one
// before it. The one that ends the handshake holds up everything else. The cancellation of an open
// request follows that request, and waits for nothing else.
func (c *Conn) launchNotificationLocked(p *post) {
	c.notes++
	if p.era != mcpwire.Modern && c.hello == nil && c.revision != "" {
		p.era, p.version = mcpwire.Modern, c.revision
	}
	if id, ok := p.cancels(); ok && !c.calledOffLocked(p, id) {
		c.finishLocked(p)
		p.cancel()
		return
	}
	if p.cancelled != nil {
		p.after = []<-chan struct{}{p.cancelled.written.wait()}
	} else {
		p.after = []<-chan struct{}{c.gate, c.lane}
		c.lane = p.done.wait()
	}
	if p.method == mcpwire.Initialized && p.era == mcpwire.Legacy {
		c.initialized, c.gate = p.frame, p.done.wait()
	}
	go c.notify(p)
}

// calledOffLocked ends an open request that a notification takes back, and reports
// whether that still has to be sent: in the modern era the end of its POST says so
// (2026-07-28, Streamable HTTP, Cancellation).
func (c *Conn) calledOffLocked(p *post, id string) bool {
	of := c.open[id]
	if of == nil {
		return p.era == mcpwire.Legacy
	}
	c.overLocked(of)
	if of.era == mcpwire.Modern {
		of.cancel()
		return false
	}
	p.cancelled, p.reacted = of, of.begun.wait()
	time.AfterFunc(lateTime, of.cancel)
	return true
}

// overLocked makes a request one that nobody waits for; false when it was before.
func (c *Conn) overLocked(p *post) bool {
	if p.over {
		return false
	}
	p.over = true
	if c.open[p.id] == p {
		delete(c.open, p.id)
	}
	return true
}

// take is the right to answer a request.
func (c *Conn) take(p *post) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overLocked(p)
}

// wrote notes that a message is out.
func (c *Conn) wrote(p *post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wroteLocked(p)
}

func (c *Conn) wroteLocked(p *post) {
	if !p.written.passed {
		p.writtenAt = time.Now()
		p.written.pass()
		c.waiting -= len(p.frame)
	}
}

// began notes that the server reacts to a message.
func (c *Conn) began(p *post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wroteLocked(p)
	p.begun.pass()
}

// finish notes that nothing waits for a message any more.
func (c *Conn) finish(p *post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishLocked(p)
}

func (c *Conn) finishLocked(p *post) {
	if p.done.pass() {
		c.wroteLocked(p)
		p.begun.pass()
		c.pending--
		if p.msg.Kind == jsonrpc.Notification {
			c.notes--
			c.drainedLocked()
		}
	}
}

// drainedLocked lets the connection end when nothing is left to arrive.
func (c *Conn) drainedLocked() {
	if c.ending && c.notes == 0 {
		c.drained.pass()
	}
}

// CloseWrite says that nothing more is sent: when what is queued has arrived, the server is told
// that the session ends, and the handler that the connection has. Requests without an
// answer get none.
func (c *Conn) CloseWrite() {
	c.Flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	c.ending = true
	c.drainedLocked()
	go c.leave(c.drained.wait(), c.session)
}

// Close ends the connection at once.
func (c *Conn) Close() {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	c.end(jsonrpc.ErrClosed)
}

// end breaks off all that is under way.
func (c *Conn) end(err error) {
	c.stop()
	go func() { // may be called by the handler
		if c.in.close(err) {
			c.client.CloseIdleConnections()
			close(c.done)
		}
	}()
}
