package httpd

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/router"
	"toolman/router/budget"
)

// sessions are those that an endpoint has.
type sessions struct {
	limit int

	mu     sync.Mutex
	byName map[string]*session    // guarded by mu: of the legacy era, by id
	byWho  map[CallerKey]*session // guarded by mu: of the modern era
	closed bool                   // guarded by mu: no new ones
}

func newSessions(limit int) sessions {
	return sessions{limit: limit, byName: map[string]*session{}, byWho: map[CallerKey]*session{}}
}

func (x *sessions) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.byName) + len(x.byWho)
}

// fresh begins a session of the legacy era, busy.
func (e *Endpoint) fresh(who Caller) (*session, error) {
	return e.begin(who, rand.Text()) // 2025-11-25: "globally unique and cryptographically secure"; of 130 bits
}

// shared returns the caller's session of the modern era, busy.
func (e *Endpoint) shared(who Caller) (*session, error) {
	e.sessions.mu.Lock()
	s := e.sessions.ofLocked(who.Key())
	e.sessions.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return e.begin(who, "")
}

// begin makes a session, of the legacy era if it has a name. The error is a *budget.LimitError or
// a refusal.
func (e *Endpoint) begin(who Caller, name string) (*session, error) {
	s, err := e.make(who, name)
	if err == nil && !e.o.Lasts(&who) { // a reload has come between the credential and Recheck's look at the sessions
		e.endIf(s, func() bool { return true }, errRevoked)
		e.leave(s)
		return nil, errRevoked
	}
	return s, err
}

// make is begin without a look at the caller's rights. It counts the session with its client's account.
// Where there is no room, those of the client that have been idle for longest make room.
func (e *Endpoint) make(who Caller, name string) (*session, error) {
	account, x := who.Client.Account, &e.sessions
	if err := account.TakeSession(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.fullLocked() && !x.closed {
		x.mu.Unlock()
		ended := account.EndIdlest()
		x.mu.Lock()
		if !ended {
			break
		}
	}
	var s *session
	if name == "" {
		s = x.ofLocked(who.Key()) // another request has begun it meanwhile
	}
	switch {
	case s != nil:
		account.Give(budget.Sessions, 1)
		return s, nil
	case x.fullLocked():
		account.Give(budget.Sessions, 1)
		return nil, errFull
	}
	s = e.newSession(who, name)
	if name == "" {
		x.byWho[s.caller] = s
	} else {
		x.byName[name] = s
	}
	account.Hold(s)
	return s, nil
}

// fullLocked reports whether there can be no further session.
func (x *sessions) fullLocked() bool { return x.closed || len(x.byName)+len(x.byWho) >= x.limit }

// ofLocked returns a caller's session of the modern era, busy; nil if there is none.
func (x *sessions) ofLocked(who CallerKey) *session {
	if s := x.byWho[who]; s != nil && s.enter() {
		return s
	}
	return nil
}

// IdleSince implements budget.Session.
func (s *session) IdleSince() (since time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left, s.ended || s.isBusyLocked()
}

// EndIdle implements budget.Session.
func (s *session) EndIdle() { s.e.endIf(s, func() bool { return !s.isBusyLocked() }, nil) }

// isBusyLocked reports whether the session serves a request or waits for a response.
func (s *session) isBusyLocked() bool { return s.busy > 0 || len(s.calls) > 0 }

// named returns a session of the legacy era, busy, if it is this caller's.
func (x *sessions) named(name string, who Caller) *session {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.byName[name]; s != nil && s.caller == who.Key() && s.enter() {
		return s
	}
	return nil
}

// remove forgets a session.
func (x *sessions) remove(s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byName, s.id)
	if x.byWho[s.caller] == s {
		delete(x.byWho, s.caller)
	}
}

// close allows no new sessions, and returns those that there are.
func (x *sessions) close() []*session {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	return x.list()
}

// list returns all sessions.
func (x *sessions) list() (all []*session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.byName {
		all = append(all, s)
	}
	for _, s := range x.byWho {
		all = append(all, s)
	}
	return all
}

// newSession makes a session, busy: of the legacy era, if it has a name.
func (e *Endpoint) newSession(who Caller, name string) *session {
	s := &session{e: e, id: name, who: who, caller: who.Key(), many: name == "", calls: map[uint64]*call{}, busy: 1,
		account: e.o.Budgets.Open(who.Client.Principal)}
	if !s.many {
		s.push = e.newStream(0, s.account)
		s.push.patient = true
	}
	s.mu.Lock()
	s.idle = time.AfterFunc(e.o.Idle, func() { e.expire(s) })
	s.mu.Unlock()
	client := who.Client
	client.Sole, client.Many = false, s.many
	s.router = e.r.NewSession(s, client)
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
	return true
}

// leave notes that a request is not served any more.
func (e *Endpoint) leave(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 {
		s.left = time.Now()
	}
}

// expire ends a session of which nothing was heard for long, or comes back when that may be so.
// (To stop and to start a timer with each request would cost more.)
func (e *Endpoint) expire(s *session) {
	e.endIf(s, func() bool {
		rest := e.o.Idle
		if s.busy == 0 {
			rest -= time.Since(s.left)
		}
		if rest > 0 {
			s.idle.Reset(rest)
		}
		return rest <= 0
	}, nil)
}

// end ends a session, and all that its client listens to.
func (e *Endpoint) end(s *session) { e.endIf(s, func() bool { return true }, nil) }

// Recheck ends the sessions whose callers are not let in any more, or have other rights, with all that
// is open in them.
func (e *Endpoint) Recheck() {
	for _, s := range e.sessions.list() {
		if !e.o.Lasts(&s.who) {
			e.endIf(s, func() bool { return true }, errRevoked)
		}
	}
}

// endIf ends a session if that is so, which is asked with its lock held. Open requests are told why,
// unless that is nil.
func (e *Endpoint) endIf(s *session, so func() bool, why error) {
	s.mu.Lock()
	first := !s.ended && so()
	s.ended = s.ended || first
	s.mu.Unlock()
	if !first {
		return
	}
	s.idle.Stop()
	e.sessions.remove(s)
	s.router.End()
	s.endStreams(why)
	s.account.GiveSession(s)
	s.account.Close()
}

// endStreams ends the streams of all that is open.
func (s *session) endStreams(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, c := range s.calls {
		if why == nil {
			c.to.end()
		} else {
			c.to.answer(jsonrpc.AppendError(nil, c.id, codeInvalidRequest, why.Error(), nil), 1, http.StatusUnauthorized)
		}
		s.closeLocked(n)
	}
	if s.push == nil {
		return
	}
	s.push.end()
	if !s.listened {
		s.push.leave()
	}
}

var _ router.Streams = (*session)(nil)
