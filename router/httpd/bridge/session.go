package bridge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/httpd"
)

// maxOpen is how many calls a caller may have open at once.
const maxOpen = 1 << 14

// A session is a caller's router.Session. It is its Sender, router.Ledger and router.Streams.
type session struct {
	router *router.Session
	agent  string
	first  *call // which is answered when the servers are there
	begun  sync.Once

	mu    sync.Mutex
	calls map[uint64]*call // guarded by mu: open ones by our number
	last  uint64           // guarded by mu
	busy  int              // guarded by mu: requests that are being served
	idle  *time.Timer      // guarded by mu: ends the session when busy has been 0 for long
	ended bool             // guarded by mu
}

// enter returns the session of a request's caller, for which leave is called when the
// request is served, and waits until its servers are there.
func (b *Bridge) enter(r *http.Request) (*session, *Failure) {
	who, err := b.o.Caller(r)
	if err != nil {
		return nil, denied(err)
	}
	return b.join(r.Context(), who)
}

// join is enter for a caller.
func (b *Bridge) join(ctx context.Context, who httpd.Caller) (*session, *Failure) {
	s := b.session(who)
	if s == nil {
		f := fail(Unavailable, "there are too many clients; try again later")
		f.retry = 5
		return nil, f
	}
	s.begun.Do(func() { s.first = s.begin(&ask{method: mcpwire.PromptsList}) })
	select {
	case <-s.first.done:
		return s, nil
	case <-ctx.Done():
		b.leave(s)
		return nil, fail(Unavailable, "the client is gone")
	}
}

// denied is the failure of a request that is nobody's.
func denied(why error) *Failure {
	f := fail(Forbidden, why.Error())
	if d, ok := errors.AsType[*httpd.Denial](why); ok {
		switch d.Status {
		case http.StatusNotFound:
			f.Code = NotFound
		case http.StatusBadRequest:
			f.Code = BadRequest
		}
	}
	return f
}

// session returns the session of a caller, busy; nil if there are too many.
func (b *Bridge) session(who httpd.Caller) *session {
	key := who.Key()
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sessions[key]; s != nil && s.enter() {
		return s
	}
	if b.closed || len(b.sessions) >= b.o.MaxSessions {
		return nil
	}
	s := &session{agent: who.Client.Agent, calls: map[uint64]*call{}, busy: 1}
	s.idle = time.AfterFunc(b.o.Idle, func() { b.endIf(key, s, func() bool { return s.busy == 0 }) })
	s.idle.Stop()
	client := who.Client
	client.Sole, client.Many, client.AllActive = false, true, !b.o.ActiveOnly
	client.Static, client.MetaTools = "http.bridge_active_only", &router.MetaTools{NoActivate: true} // programs cannot call toolman's own tools
	client.Lists = cmp.Or(client.Lists, "GET /tools")
	s.router = b.r.NewSession(s, client)
	b.sessions[key] = s
	return s
}

// enter notes that a request is being served; it fails when the session has ended.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.busy++
	s.idle.Stop()
	return true
}

// leave notes that a request is not served any more.
func (b *Bridge) leave(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 && !s.ended {
		s.idle.Reset(b.o.Idle)
	}
}

// Close ends all sessions; what is under way is answered as unavailable.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	all := map[httpd.CallerKey]*session{}
	for key, s := range b.sessions {
		all[key] = s
	}
	b.mu.Unlock()
	for key, s := range all {
		b.endIf(key, s, func() bool { return true })
	}
}

// endIf ends a session if that is so, which is asked with its lock held.
func (b *Bridge) endIf(key httpd.CallerKey, s *session, so func() bool) {
	s.mu.Lock()
	first := !s.ended && so()
	s.ended = s.ended || first
	s.mu.Unlock()
	if !first {
		return
	}
	b.mu.Lock()
	if b.sessions[key] == s {
		delete(b.sessions, key)
	}
	b.mu.Unlock()
	s.router.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		c.end(fail(Unavailable, "toolman is ending, or the session has; this was not answered in time"))
	}
	clear(s.calls)
}

// begin makes a request. It is answered when its done is closed.
func (s *session) begin(a *ask) *call {
	s.mu.Lock()
	if s.ended || len(s.calls) >= maxOpen {
		ended := s.ended
		s.mu.Unlock()
		c := newCall(a, 0)
		c.end(full(ended))
		return c
	}
	s.last++
	c := newCall(a, s.last)
	s.calls[c.n] = c
	s.mu.Unlock()
	s.deliver(a.frame(c.id))
	return c
}

func full(ended bool) *Failure {
	f := fail(Overloaded, "too many calls are open; wait for their answers")
	if ended {
		f = fail(Unavailable, "toolman is ending")
	}
	f.retry = 1
	return f
}

// deliver has the router handle a message of ours.
func (s *session) deliver(frame []byte) {
	var m jsonrpc.Message
	var b jsonrpc.Batch
	if err := jsonrpc.Scan(frame, &m); err != nil {
		s.router.Bad(&m, err, &b)
	} else {
		s.router.Message(&m, &b)
	}
	b.Flush()
}

// cancel takes a request back that nobody waits for any more.
func (s *session) cancel(c *call) {
	s.mu.Lock()
	_, open := s.calls[c.n]
	delete(s.calls, c.n)
	s.mu.Unlock()
	if open {
		params := append([]byte(`{"requestId":`), jsonrpc.AppendQuoted(nil, c.id)...)
		s.deliver(jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), append(params, `,"reason":"the client of the bridge is gone"}`...)))
	}
}

// find returns an open request by its id; with take, it is open no more. Nil: there is none.
func (s *session) find(id []byte, take bool) *call {
	id = bytes.Trim(id, `"`)
	digits, _, _ := bytes.Cut(id, []byte{'-'})
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[n]
	if take {
		delete(s.calls, n)
	}
	return c
}
