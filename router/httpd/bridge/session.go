package bridge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd"
	"toolman/router/view"
)

// A session is a caller's router.Session. It is its Sender, router.Ledger and router.Streams.
type session struct {
	b       *Bridge
	router  *router.Session
	who     httpd.Caller
	account *budget.Account // of the client, open until the session ends
	first   *call           // which is answered when the servers are there
	begun   sync.Once

	mu    sync.Mutex
	calls map[uint64]*call // guarded by mu: open ones by our number
	last  uint64           // guarded by mu
	busy  int              // guarded by mu: requests that are being served
	left  time.Time        // guarded by mu: when busy became 0 last
	idle  *time.Timer      // guarded by mu: ends the session when busy has been 0 for long
	ended bool             // guarded by mu

	looking bool // it is for one GET /tools, and nothing is asked of its router.Session
}

// admit finds out who makes a request, for which done is called when it is served.
func (b *Bridge) admit(r *http.Request) (who httpd.Caller, done func(), f *Failure) {
	who, err := b.o.Caller(r)
	if err != nil {
		return who, nil, denied(err)
	}
	who.Client.Account = b.o.Budgets.Open(who.Client.Principal)
	return who, who.Client.Account.Close, nil
}

// enter returns a caller's session, for which leave is called when the request is served, and waits
// until its servers are there.
func (b *Bridge) enter(ctx context.Context, who httpd.Caller) (*session, *Failure) {
	s, f := b.session(who)
	if f != nil {
		return nil, f
	}
	return b.ready(ctx, s)
}

// expired reports whether the credential of a request has come to its end.
func expired(ctx context.Context) bool { return ctx.Err() == context.DeadlineExceeded }

// ready waits until the servers of a session are there.
func (b *Bridge) ready(ctx context.Context, s *session) (*session, *Failure) {
	s.begun.Do(func() { s.first = s.begin(&ask{method: mcpwire.PromptsList}) })
	select {
	case <-s.first.done:
		return s, nil
	case <-ctx.Done():
		b.leave(s)
		return nil, gone(ctx)
	}
}

// gone is why a request was not answered whose context has ended.
func gone(ctx context.Context) *Failure {
	if expired(ctx) {
		return fail(Unauthenticated, context.Cause(ctx).Error())
	}
	return fail(Unavailable, "the client was gone before the answer came")
}

// look is enter for a request that starts no servers. A caller that has no session gets one for this
// request alone.
func (b *Bridge) look(ctx context.Context, who httpd.Caller) (*session, *Failure) {
	b.mu.Lock()
	s := b.sessions[who.Key()]
	found := s != nil && s.enter()
	b.mu.Unlock()
	if found {
		return b.ready(ctx, s)
	}
	select {
	case <-b.r.Started():
	case <-ctx.Done():
		return nil, gone(ctx)
	}
	s = b.newSession(who)
	s.looking = true
	return s, nil
}

// unstarted is the failure of a request that would have to start a server first; nil where it has
// not. server is the one that the request is about, or "" for all.
func (s *session) unstarted(server string) *Failure {
	if !s.looking {
		return nil
	}
	name := s.router.Unstarted(server)
	if name == "" {
		return nil
	}
	return fail(WrongMethod, fmt.Sprintf("server %s is another for each client, and GET starts no server: send POST /tools with the same query, which does", sanitize.Cut(name, maxShown)))
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

// session returns the session of a caller, busy.
func (b *Bridge) session(who httpd.Caller) (*session, *Failure) {
	s, fresh, f := b.obtain(who)
	if fresh && !b.o.Lasts(&who) { // a reload has come between the credential and Recheck's look at the sessions
		s.endIf(func() bool { return true }, errRevoked)
		b.leave(s)
		return nil, errRevoked
	}
	return s, f
}

// obtain is session without a look at the caller's rights. Where there is no room for a fresh one,
// those of the client that have been idle for longest make room.
func (b *Bridge) obtain(who httpd.Caller) (s *session, fresh bool, f *Failure) {
	key, account := who.Key(), who.Client.Account
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sessions[key]; s != nil && s.enter() {
		return s, false, nil
	}
	b.mu.Unlock()
	err := account.TakeSession()
	b.mu.Lock()
	if err != nil {
		return nil, false, limited(err)
	}
	if s := b.sessions[key]; s != nil && s.enter() { // another request has begun it meanwhile
		account.Give(budget.Sessions, 1)
		return s, false, nil
	}
	if b.closed || len(b.sessions) >= b.o.MaxSessions {
		account.Give(budget.Sessions, 1)
		f = fail(Unavailable, "toolman has as many clients as it may have (max_sessions in [http]); try again later")
		f.retry = budget.RetryAfter
		return nil, false, f
	}
	s = b.newSession(who)
	b.sessions[key] = s
	account.Hold(s)
	return s, true, nil
}

// newSession makes a session, busy.
func (b *Bridge) newSession(who httpd.Caller) *session {
	s := &session{b: b, who: who, account: b.o.Budgets.Open(who.Client.Principal), calls: map[uint64]*call{}, busy: 1}
	s.idle = time.AfterFunc(b.o.Idle, s.EndIdle)
	s.idle.Stop()
	client := who.Client
	client.Sole, client.Many, client.AllActive = false, true, !b.o.ActiveOnly
	client.Static, client.MetaTools = "http.bridge_active_only", &view.MetaTools{NoActivate: true} // programs cannot call toolman's own tools
	client.Lists = cmp.Or(client.Lists, "GET /tools")
	s.router = b.r.NewSession(s, client)
	return s
}

// IdleSince implements budget.Session.
func (s *session) IdleSince() (since time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left, s.ended || s.busy > 0
}

// EndIdle implements budget.Session.
func (s *session) EndIdle() { s.endIf(func() bool { return s.busy == 0 }, errEnding) }

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
	if s.looking {
		s.router.End()
		s.account.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 && !s.ended {
		s.left = time.Now()
		s.idle.Reset(b.o.Idle)
	}
}

// Close ends all sessions; what is under way is answered as unavailable.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	all := slices.Collect(maps.Values(b.sessions))
	b.mu.Unlock()
	for _, s := range all {
		s.endIf(func() bool { return true }, errEnding)
	}
}

// Recheck ends the sessions whose callers are not let in any more, or have other rights.
func (b *Bridge) Recheck() {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.sessions))
	b.mu.Unlock()
	for _, s := range all {
		if !b.o.Lasts(&s.who) {
			s.endIf(func() bool { return true }, errRevoked)
		}
	}
}

// Why sessions end.
var (
	errEnding  = &Failure{Code: Unavailable, Message: "toolman is ending, or the session has; this was not answered in time"}
	errRevoked = &Failure{Code: Unauthenticated, Message: "the rights of this request are not in the configuration any more; send it again, with another credential if this one is refused"}
)

// endIf ends the session if that is so, which is asked with its lock held. Open calls are told why.
func (s *session) endIf(so func() bool, why *Failure) {
	s.mu.Lock()
	first := !s.ended && so()
	s.ended = s.ended || first
	s.mu.Unlock()
	if !first {
		return
	}
	s.idle.Stop()
	b, key := s.b, s.who.Key()
	b.mu.Lock()
	if b.sessions[key] == s {
		delete(b.sessions, key)
	}
	b.mu.Unlock()
	s.router.End()
	s.mu.Lock()
	for n, c := range s.calls {
		c.end(why)
		s.closeLocked(n)
	}
	s.mu.Unlock()
	s.account.GiveSession(s)
	s.account.Close()
}

// begin makes a request. It is answered when its done is closed.
func (s *session) begin(a *ask) *call {
	c, f := s.open(a)
	if f == nil {
		if err := s.deliver(a.frame(c.id)); err != nil {
			s.find([]byte(c.id), true)
			f = fail(BadRequest, "the request cannot be passed on as a message to a server: "+err.Error())
		}
	}
	if f != nil {
		c.end(f)
	}
	return c
}

// open notes a request. With a failure it is not noted.
func (s *session) open(a *ask) (*call, *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		f := fail(Unavailable, "toolman is ending, or the session has")
		f.retry = 1
		return newCall(a, 0), f
	}
	if err := s.account.Take(budget.Calls, 1); err != nil {
		return newCall(a, 0), limited(err)
	}
	s.last++
	c := newCall(a, s.last)
	s.calls[c.n] = c
	return c, nil
}

// closeLocked makes a request one that is open no more, and returns it; nil when it was not.
func (s *session) closeLocked(n uint64) *call {
	c := s.calls[n]
	if c != nil {
		delete(s.calls, n)
		s.account.Give(budget.Calls, 1)
	}
	return c
}

// deliver has the router handle a message of ours. An error says why it is no message.
func (s *session) deliver(frame []byte) error {
	var m jsonrpc.Message
	var b jsonrpc.Batch
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return err
	}
	s.router.Message(&m, &b)
	b.Flush()
	return nil
}

// cancel takes a request back that nobody waits for any more.
func (s *session) cancel(c *call) {
	s.mu.Lock()
	open := s.closeLocked(c.n) != nil
	s.mu.Unlock()
	if open {
		params := append([]byte(`{"requestId":`), jsonrpc.AppendQuoted(nil, c.id)...)
		s.deliver(jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), append(params, `,"reason":"the client of the bridge is gone"}`...))) // is a message
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
	if take {
		return s.closeLocked(n)
	}
	return s.calls[n]
}
