package presence

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/budget"
)

// A Session is the session of a caller. S is the front's own session type, a pointer to what
// embeds this one, and C is its type of an open request, a pointer too.
type Session[S, C any] struct {
	Caller  Caller
	Router  *router.Session
	Account *budget.Account // of the client, open until the session ends

	registry *Registry[S, C]
	key      any
	owner    S
	kept     *kept // nil without a Keeper, and for a temporary session

	mu       sync.Mutex
	requests map[string]request[C] // guarded by mu: open ones, by the ID for the router
	renamed  int                   // guarded by mu: requests whose ID was taken
	users    int                   // guarded by mu: HTTP requests that are being served
	streams  int                   // guarded by mu: those that are streams
	idleFrom time.Time             // guarded by mu: when users became 0
	idle     *time.Timer           // ends the session after Front.Idle; nil for a temporary session
	ended    bool                  // guarded by mu
	why      error                 // guarded by mu: the reason of the end
}

// A request is an entry of the call table.
type request[C any] struct {
	of   C     // nil unless it is open
	open bool  // false while it is being cancelled: no other request may get its ID
	size int64 // bytes of the account that it holds
}

// Acquire marks the session as used until Release. It fails if the session has ended.
func (s *Session[S, C]) Acquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.users++
	}
	return !s.ended
}

// Release is the reverse of Acquire.
func (s *Session[S, C]) Release() {
	s.SaveChanges()
	s.mu.Lock()
	s.users--
	s.idleFrom = time.Now()
	s.mu.Unlock()
	if s.idle == nil {
		s.End(nil)
	}
}

// IdleSince implements budget.Session.
func (s *Session[S, C]) IdleSince() (since time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idleFrom, s.ended || s.busyLocked()
}

// busyLocked reports whether an HTTP request uses the session, or a request is open.
func (s *Session[S, C]) busyLocked() bool { return s.users > 0 || len(s.requests) > 0 }

// EndIdle implements budget.Session.
func (s *Session[S, C]) EndIdle() { s.endIf(func() bool { return !s.busyLocked() }, nil) }

// expire ends the session if it has not been used for Front.Idle, or sets the timer again.
// Resetting the timer with each request would cost more.
func (s *Session[S, C]) expire() {
	s.endIf(func() bool {
		rest := s.registry.front.Idle
		if s.users == 0 {
			rest -= time.Since(s.idleFrom)
		}
		if rest > 0 {
			s.idle.Reset(rest)
		}
		return rest <= 0
	}, nil)
}

// End ends the session. Front.Ended gets the reason, which may be nil.
func (s *Session[S, C]) End(why error) { s.endIf(func() bool { return true }, why) }

// endIf ends the session if a condition holds. It is called with mu held.
func (s *Session[S, C]) endIf(condition func() bool, why error) {
	s.mu.Lock()
	first := !s.ended && condition()
	if first {
		s.ended, s.why = true, why
	}
	s.mu.Unlock()
	if !first {
		return
	}
	s.registry.remove(s)
	s.Router.End()
	s.registry.front.Ended(s.owner, s.closeAll(), why)
	if s.idle != nil {
		s.idle.Stop()
		s.Account.GiveSession(s)
	}
	if s.kept != nil {
		s.endKept()
	}
	s.Account.Close()
}

// Ended reports whether the session has ended.
func (s *Session[S, C]) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Open adds a request. If another open request has its ID, which is JSON, the router gets it under
// a new one. The request takes over the bytes that body has counted until it is closed; body may be
// nil. The error is ErrEnded or a *budget.LimitError.
func (s *Session[S, C]) Open(id string, body *budget.Reader, newRequest func(id string) C) (none C, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return none, ErrEnded
	}
	if err := s.Account.Take(budget.Calls, 1); err != nil {
		return none, err
	}
	own := strings.Trim(id, `"`)
	for _, taken := s.requests[id]; taken; _, taken = s.requests[id] {
		s.renamed++
		id = fmt.Sprintf(`"%d-%s"`, s.renamed, own)
	}
	r := request[C]{of: newRequest(id), open: true}
	if body != nil {
		r.size = body.Detach()
	}
	s.requests[id] = r
	return r.of, nil
}

// Close removes a request and returns it; nil if it was not open.
func (s *Session[S, C]) Close(id []byte) C {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked(string(id))
}

func (s *Session[S, C]) closeLocked(id string) C {
	r := s.requests[id]
	if r.open {
		delete(s.requests, id)
		s.Account.Give(budget.Calls, 1)
		s.Account.Give(budget.Bytes, r.size)
	}
	return r.of
}

// closeAll removes all requests and returns them.
func (s *Session[S, C]) closeAll() (open []C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.requests {
		if s.requests[id].open {
			open = append(open, s.closeLocked(id))
		}
	}
	return open
}

// Find returns an open request; nil if there is none.
func (s *Session[S, C]) Find(id []byte) C {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[string(id)].of
}

// Requests returns the open requests.
func (s *Session[S, C]) Requests() (open []C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.open {
			open = append(open, r.of)
		}
	}
	return open
}

// Handle passes a message to the router. The router does not use it after Handle returns.
func (s *Session[S, C]) Handle(m *jsonrpc.Message) {
	var out peer.Outgoing
	s.Router.Entry().Message(m, &out)
	out.Flush()
}

// Cancel closes a request if it is still open, and cancels it in the router. id is the one that the
// router knows; another request may have got it meanwhile.
func (s *Session[S, C]) Cancel(id string, c C) {
	s.mu.Lock()
	open := any(s.requests[id].of) == any(c)
	if open {
		s.closeLocked(id)
		s.requests[id] = request[C]{}
	}
	s.mu.Unlock()
	if !open {
		return
	}
	params := `{"requestId":` + id + `,"reason":"the client has closed the stream of the answer"}`
	var m jsonrpc.Message
	if jsonrpc.Scan(jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), []byte(params)), &m) == nil {
		s.Handle(&m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
}
