package presence

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd/caller"
)

// A Session is the session of a caller. S is the front's own session, which embeds this one, and C
// an open request of it.
type Session[S, C any] struct {
	Caller  caller.Caller
	Router  *router.Session
	Account *budget.Account // of the client, open until the session ends

	registry *Registry[S, C]
	key      any
	owner    *S

	mu       sync.Mutex
	requests map[uint64]request[C] // guarded by mu: those that are open
	last     uint64                // guarded by mu: number of the newest request
	users    int                   // guarded by mu: HTTP requests that are being served
	idleFrom time.Time             // guarded by mu: when users became 0
	idle     *time.Timer           // ends the session when that is long ago; nil if it is not registered
	ended    bool                  // guarded by mu
}

// A request is open until it is answered or dropped.
type request[C any] struct {
	of   *C
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

// busyLocked reports whether the session serves a request or waits for a response.
func (s *Session[S, C]) busyLocked() bool { return s.users > 0 || len(s.requests) > 0 }

// EndIdle implements budget.Session.
func (s *Session[S, C]) EndIdle() { s.endIf(func() bool { return !s.busyLocked() }, nil) }

// expire ends a session that has not been used for long, or runs again when that may be so. To
// stop and start a timer with each request would cost more.
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

// End ends the session. The front is told why, nil if there is no special reason.
func (s *Session[S, C]) End(why error) { s.endIf(func() bool { return true }, why) }

// endIf ends the session if the condition is true, which is called with mu held.
func (s *Session[S, C]) endIf(condition func() bool, why error) {
	s.mu.Lock()
	first := !s.ended && condition()
	s.ended = s.ended || first
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
	s.Account.Close()
}

// Ended reports whether the session has ended.
func (s *Session[S, C]) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Open adds a request, which holds the bytes that in has counted, if any, until it is closed. The
// error is ErrEnded or a *budget.LimitError.
func (s *Session[S, C]) Open(in *budget.Reader, newRequest func(n uint64) *C) (*C, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, ErrEnded
	}
	if err := s.Account.Take(budget.Calls, 1); err != nil {
		return nil, err
	}
	s.last++
	r := request[C]{of: newRequest(s.last)}
	if in != nil {
		r.size = in.Detach()
	}
	s.requests[s.last] = r
	return r.of, nil
}

// Close removes a request, and returns it; nil if it was not open.
func (s *Session[S, C]) Close(n uint64) *C {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked(n)
}

func (s *Session[S, C]) closeLocked(n uint64) *C {
	r, open := s.requests[n]
	if open {
		delete(s.requests, n)
		s.Account.Give(budget.Calls, 1)
		s.Account.Give(budget.Bytes, r.size)
	}
	return r.of
}

// closeAll removes all requests, and returns them.
func (s *Session[S, C]) closeAll() (open []*C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.requests {
		open = append(open, s.closeLocked(n))
	}
	return open
}

// Find returns an open request; nil if there is none.
func (s *Session[S, C]) Find(n uint64) *C {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[n].of
}

// Requests returns the open requests, the oldest first.
func (s *Session[S, C]) Requests() (open []*C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(s.requests)) {
		open = append(open, s.requests[n].of)
	}
	return open
}

// Number returns the number of a request that an ID starts with, as a number or in a string; 0 if
// there is none.
func Number(id []byte) (n uint64) {
	digits, _, _ := bytes.Cut(bytes.Trim(id, `"`), []byte{'-'})
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Handle passes a message to the router, which does not use it any more afterwards.
func (s *Session[S, C]) Handle(m *jsonrpc.Message) {
	var b jsonrpc.Batch
	s.Router.Message(m, &b)
	b.Flush()
}

// Cancel closes a request, and tells the router that nothing waits for its answer any more.
func (s *Session[S, C]) Cancel(n uint64, id []byte) {
	if s.Close(n) == nil {
		return
	}
	params := append([]byte(`{"requestId":`), id...)
	params = append(params, `,"reason":"the client has closed the stream of the answer"}`...)
	var m jsonrpc.Message
	if jsonrpc.Scan(jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params), &m) == nil {
		s.Handle(&m)
	}
}
