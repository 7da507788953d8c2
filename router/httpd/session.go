package httpd

import (
	"bytes"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/budget"
)

// A session is a router.Session whose requests come by HTTP. It is its Sender.
type session struct {
	e       *Endpoint
	router  *router.Session
	id      string // of the legacy era: what its client calls it
	who     Caller
	caller  CallerKey       // its key
	many    bool            // it is of the modern era
	push    *stream         // what belongs to no request; nil in the modern era
	account *budget.Account // of the client, open until the session ends

	mu       sync.Mutex
	calls    map[uint64]*call // guarded by mu: open requests by our id
	last     uint64           // guarded by mu: of our ids
	revision string           // guarded by mu: what initialize has agreed on
	busy     int              // guarded by mu: requests of HTTP that are being served
	left     time.Time        // guarded by mu: when busy became 0
	idle     *time.Timer      // looks whether that is long ago, and ends the session then
	listened bool             // guarded by mu: a GET hears push
	ended    bool             // guarded by mu
}

// A call is an open request. It is the Sender of what belongs to it.
type call struct {
	s         *session
	n         uint64 // our id, and our progress token
	id, token []byte // the client's own, as they came; token may be nil
	method    mcpwire.Method
	to        *stream
	size      int64 // bytes of the account that the request keeps
}

// open notes a request, which keeps the bytes of its body until it is open no more. The error says
// why it is not taken.
func (s *session) open(m *jsonrpc.Message, method mcpwire.Method, token jsonrpc.Span, to *stream, in *budget.Reader) (*call, error) {
	if err := mcpwire.CheckID(m); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errEnded
	}
	if err := s.account.Take(budget.Calls, 1); err != nil {
		return nil, err
	}
	s.last++
	c := &call{s: s, n: s.last, id: bytes.Clone(m.Bytes(m.ID)), method: method, to: to, size: in.Detach()}
	if token.Present() {
		c.token = bytes.Clone(m.Bytes(token))
	}
	s.calls[c.n] = c
	return c, nil
}

// closeLocked makes a request one that is open no more; false when it was not.
func (s *session) closeLocked(n uint64) (c *call, open bool) {
	if c, open = s.calls[n]; open {
		delete(s.calls, n)
		s.account.Give(budget.Calls, 1)
		s.account.Give(budget.Bytes, c.size)
	}
	return c, open
}

// take returns the open request of ours with this id, which is open no more; nil if
// there is none.
func (s *session) take(id []byte) *call {
	n, ok := jsonrpc.ParseID(id)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _ := s.closeLocked(n)
	return c
}

// find is take that leaves the request open.
func (s *session) find(id []byte) *call {
	n, ok := jsonrpc.ParseID(id)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[n]
}

// drop forgets a request; it reports whether that was open still.
func (s *session) drop(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.closeLocked(c.n)
	return open
}

// ours returns the newest open request that the client calls by this id.
func (s *session) ours(id []byte) (newest *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if string(c.id) == string(id) && (newest == nil || c.n > newest.n) {
			newest = c
		}
	}
	return newest
}

// handle has the router handle a message, which is not used any more when it returns.
func (s *session) handle(m *jsonrpc.Message) {
	var b jsonrpc.Batch
	s.router.Message(m, &b)
	b.Flush()
}

// deliver is handle for a frame.
func (s *session) deliver(frame []byte) {
	var m jsonrpc.Message
	var b jsonrpc.Batch
	if err := jsonrpc.Scan(frame, &m); err != nil {
		s.router.Bad(&m, err, &b) // an array: all else was scanned before
	} else {
		s.router.Message(&m, &b)
	}
	b.Flush()
}

// cancel tells the router that nobody waits for the answer any more.
func (s *session) cancel(c *call) {
	if s.drop(c) {
		s.deliver(cancellation(c.n))
	}
}

// agreed returns the revision that initialize has agreed on; "" before that.
func (s *session) agreed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}
