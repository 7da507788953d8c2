package presence

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"toolman/router/budget"
	"toolman/router/httpd/caller"
)

// Why a session does not begin, or has ended.
var (
	ErrFull    = errors.New("toolman has as many sessions as it may have (max_sessions in [http]); try again later")
	ErrEnded   = errors.New("the session has ended; begin a new one")
	ErrRevoked = errors.New("the configuration no longer has the rights of this session; begin a new one, with another credential if this one is refused")
)

// A Front says how a front keeps its sessions.
type Front[S, C any] struct {
	Budgets     *budget.Budgets // nil: no limits
	MaxSessions int             // 0: 10,000
	Idle        time.Duration   // after this time without use a session ends; 0: 1 hour
	// Allowed reports whether a caller still has the rights that its session began with; nil: always.
	Allowed func(*caller.Caller) bool
	// New makes the front's session around a new one with this key, and its router.Session.
	New func(s *Session[S, C], key any) *S
	// Ended is called once for each session that has ended, with its requests that were open.
	Ended func(s *S, open []*C, why error)
}

// A Registry holds the sessions of a front.
type Registry[S, C any] struct {
	front Front[S, C]

	mu     sync.Mutex
	all    map[any]*Session[S, C] // guarded by mu
	closed bool                   // guarded by mu: no new ones
}

// NewRegistry makes a Registry without sessions.
func NewRegistry[S, C any](f Front[S, C]) *Registry[S, C] {
	f.MaxSessions = cmp.Or(f.MaxSessions, 10_000)
	f.Idle = cmp.Or(f.Idle, time.Hour)
	if f.Allowed == nil {
		f.Allowed = func(*caller.Caller) bool { return true }
	}
	if f.Budgets == nil {
		f.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	return &Registry[S, C]{front: f, all: map[any]*Session[S, C]{}}
}

// Account opens the account of a caller, for the time of a request.
func (r *Registry[S, C]) Account(c *caller.Caller) *budget.Account {
	c.Client.Account = r.front.Budgets.Open(c.Client.Principal)
	return c.Client.Account
}

// Len returns how many sessions there are.
func (r *Registry[S, C]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// Acquire returns the session with this key if it is the caller's; nil if there is none. The caller
// of Acquire calls Release.
func (r *Registry[S, C]) Acquire(key any, who *caller.Caller) *S {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.findLocked(key, who); s != nil {
		return s.owner
	}
	return nil
}

func (r *Registry[S, C]) findLocked(key any, who *caller.Caller) *Session[S, C] {
	if s := r.all[key]; s != nil && s.Caller.Key() == who.Key() && s.Acquire() {
		return s
	}
	return nil
}

// AcquireOrNew is Acquire that makes the session if there is none. Idle sessions of the same client
// make room. The error is ErrFull, ErrRevoked or a *budget.LimitError.
func (r *Registry[S, C]) AcquireOrNew(key any, who *caller.Caller) (*S, error) {
	if s := r.Acquire(key, who); s != nil {
		return s, nil
	}
	s, err := r.begin(key, who)
	if err != nil {
		return nil, err
	}
	if !r.front.Allowed(who) { // they were withdrawn before Recheck could find the session
		s.End(ErrRevoked)
		s.Release()
		return nil, ErrRevoked
	}
	return s.owner, nil
}

// begin makes a session, which is in use.
func (r *Registry[S, C]) begin(key any, who *caller.Caller) (*Session[S, C], error) {
	account := who.Client.Account
	if err := account.TakeSession(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.fullLocked() && !r.closed {
		r.mu.Unlock()
		ended := account.EndIdlest()
		r.mu.Lock()
		if !ended {
			break
		}
	}
	if s := r.findLocked(key, who); s != nil { // another request has begun it meanwhile
		account.Give(budget.Sessions, 1)
		return s, nil
	}
	if r.fullLocked() {
		account.Give(budget.Sessions, 1)
		return nil, ErrFull
	}
	s := r.make(key, who)
	s.mu.Lock()
	s.idle = time.AfterFunc(r.front.Idle, s.expire)
	s.mu.Unlock()
	r.all[key] = s
	account.Hold(s)
	return s, nil
}

func (r *Registry[S, C]) fullLocked() bool { return r.closed || len(r.all) >= r.front.MaxSessions }

// Temporary makes a session that no other request can find. It ends with Release.
func (r *Registry[S, C]) Temporary(who *caller.Caller) *S { return r.make(nil, who).owner }

// make makes a session that is used once.
func (r *Registry[S, C]) make(key any, who *caller.Caller) *Session[S, C] {
	s := &Session[S, C]{Caller: *who, Account: r.front.Budgets.Open(who.Client.Principal), registry: r, key: key,
		requests: map[string]request[C]{}, users: 1}
	s.owner = r.front.New(s, key)
	return s
}

// remove removes a session.
func (r *Registry[S, C]) remove(s *Session[S, C]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[s.key] == s {
		delete(r.all, s.key)
	}
}

// All returns the sessions.
func (r *Registry[S, C]) All() (all []*S) {
	for _, s := range r.list() {
		all = append(all, s.owner)
	}
	return all
}

func (r *Registry[S, C]) list() []*Session[S, C] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.all))
}

// Recheck ends the sessions of callers that have lost their rights.
func (r *Registry[S, C]) Recheck() {
	for _, s := range r.list() {
		if !r.front.Allowed(&s.Caller) {
			s.End(ErrRevoked)
		}
	}
}

// Stop allows no new sessions from now on.
func (r *Registry[S, C]) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// Close stops the registry and ends all sessions.
func (r *Registry[S, C]) Close() {
	r.Stop()
	for _, s := range r.list() {
		s.End(nil)
	}
}
