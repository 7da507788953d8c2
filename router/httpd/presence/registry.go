package presence

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"toolman/router/budget"
	"toolman/router/client"
)

// Reasons why a session cannot begin, or has ended.
var (
	ErrFull    = errors.New("toolman has as many sessions as it may have (max_sessions in [http]); try again later")
	ErrEnded   = errors.New("the session has ended; begin a new one")
	ErrRevoked = errors.New("the configuration no longer has the rights of this session; begin a new one, with another credential if this one is refused")
)

// A Caller is the client that sends a request. Only requests of the same caller can use its
// sessions.
type Caller struct {
	// View distinguishes the views of one principal. It is equal as long as the configuration and
	// the client's own settings are. It contains no secret.
	View   string
	Client client.Info // fronts set Sole and Many
	Addr   netip.Addr  // of the client
	// Dropped says what the client has sent of itself that does not count. It contains no values.
	Dropped []string
}

// A Key is equal for the requests of one caller.
type Key struct {
	principal budget.Principal
	view      string
}

// Key returns the key of the caller's sessions.
func (c *Caller) Key() Key { return Key{c.Client.Principal, c.View} }

// A Denial is the error of a request that is refused.
type Denial struct {
	Status int    // HTTP status code
	Text   string // what is wrong, and what to do
}

// Error implements error.
func (d *Denial) Error() string { return d.Text }

// Options are the options that all fronts have. The zero value serves all clients alike, with the
// default limits.
type Options struct {
	// Caller returns which client sends a request. It is called for every request. An error refuses
	// the request; it may be a *Denial. If Caller is nil, all requests have the same caller, and
	// there is no /mcp/NAME.
	Caller func(r *http.Request) (Caller, error)

	// Lasts reports whether the caller of an earlier request still has the same rights. It is
	// called for each new session, and for all of them by Recheck. Nil means always.
	Lasts func(c *Caller) bool

	// Dropped is called for each new session of a caller with something in Dropped. It may be nil.
	Dropped func(c *Caller)

	Budgets     *budget.Budgets // limit each client; nil: no limits
	MaxBody     int64           // bytes of the longest request body; 0: 16 MiB
	MaxSessions int             // at once; 0: 10,000
	Idle        time.Duration   // a session ends after this time without a request or stream; 0: 1 hour

	// Route is called for each request that names a session or a caller. Nil: every session is
	// here.
	Route  Route
	Keeper Keeper // keeps records of the sessions; nil: none
}

// A Front is what a Registry needs of a front. S is its type of a session, and C that of an open
// request. Both are pointers: fronts share the code for them.
type Front[S, C any] struct {
	Options
	Name string // begins the texts of keys
	// New makes the front's session around a new one with this key, and its router.Session.
	New func(s *Session[S, C], key any) S
	// Ended is called once for each session that has ended, with its open requests.
	Ended func(s S, open []C, why error)

	// With a Keeper: Record returns what another process needs to make the session again, and
	// Restore makes a new session what a record says. StaysOpen reports whether an open request is
	// a subscription.
	Record    func(s S) []byte
	Restore   func(s S, record []byte)
	StaysOpen func(c C) bool
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
	f.MaxBody = cmp.Or(f.MaxBody, 16<<20)
	f.MaxSessions = cmp.Or(f.MaxSessions, 10_000)
	f.Idle = cmp.Or(f.Idle, time.Hour)
	if f.Caller == nil {
		f.Caller = func(r *http.Request) (c Caller, err error) {
			if r.PathValue("name") != "" {
				err = &Denial{http.StatusNotFound, "there is no endpoint of this name here"}
			}
			return c, err
		}
	}
	if f.Lasts == nil {
		f.Lasts = func(*Caller) bool { return true }
	}
	if f.Dropped == nil {
		f.Dropped = func(*Caller) {}
	}
	if f.Budgets == nil {
		f.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	return &Registry[S, C]{front: f, all: map[any]*Session[S, C]{}}
}

// Admit returns which client sends a request. It opens the account of the client for the time of
// the request.
func (r *Registry[S, C]) Admit(req *http.Request) (Caller, error) {
	c, err := r.front.Caller(req)
	if err == nil {
		c.Client.Account = r.front.Budgets.Open(c.Client.Principal)
	}
	return c, err
}

// Body returns the body of a request of a caller that has been admitted. Its bytes count against
// the account of the client.
func (r *Registry[S, C]) Body(w http.ResponseWriter, req *http.Request, c *Caller) *budget.Reader {
	return c.Client.Account.Reader(http.MaxBytesReader(w, req.Body, r.front.MaxBody))
}

// Len returns how many sessions there are.
func (r *Registry[S, C]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// Acquire returns the session with this key if it belongs to the caller; nil if there is none. It
// does not look for a record. Release has to follow.
func (r *Registry[S, C]) Acquire(key any, who *Caller) (owner S) {
	if s := r.acquire(key, who); s != nil {
		owner = s.owner
	}
	return owner
}

func (r *Registry[S, C]) acquire(key any, who *Caller) *Session[S, C] {
	r.mu.Lock()
	s := r.findLocked(key, who)
	r.mu.Unlock()
	if s != nil && s.kept != nil {
		<-s.kept.restored
	}
	return s
}

// AcquireKept is Acquire, but it makes the session again if there is a record of it. The error is
// one of AcquireOrNew, or of Keeper.Load.
func (r *Registry[S, C]) AcquireKept(ctx context.Context, key any, who *Caller) (none S, err error) {
	if s := r.acquire(key, who); s != nil {
		return s.owner, nil
	}
	record, err := r.load(ctx, key, who)
	if err != nil || record == nil {
		return none, err
	}
	return r.new(key, who, record)
}

func (r *Registry[S, C]) findLocked(key any, who *Caller) *Session[S, C] {
	if s := r.all[key]; s != nil && s.Caller.Key() == who.Key() && s.Acquire() {
		return s
	}
	return nil
}

// AcquireOrNew is AcquireKept, but it makes the session if there is none. Idle sessions of the same
// client end to make room. The error is ErrFull, ErrRevoked, a *budget.LimitError, or one of
// Keeper.Load.
func (r *Registry[S, C]) AcquireOrNew(ctx context.Context, key any, who *Caller) (none S, err error) {
	if s := r.acquire(key, who); s != nil {
		return s.owner, nil
	}
	record, err := r.load(ctx, key, who)
	if err != nil {
		return none, err
	}
	return r.new(key, who, record)
}

// New makes a session with a key that no other session has ever had.
func (r *Registry[S, C]) New(key any, who *Caller) (S, error) { return r.new(key, who, nil) }

// new makes a session, from a record if that is not nil, unless another request has made it
// meanwhile.
func (r *Registry[S, C]) new(key any, who *Caller, record []byte) (none S, err error) {
	s, first, err := r.begin(key, who)
	switch {
	case err != nil:
		return none, err
	case first:
		r.noteDropped(who)
		s.restore(record)
	case s.kept != nil:
		<-s.kept.restored
	}
	if !r.front.Lasts(who) { // its rights were withdrawn before Recheck could find the session
		s.End(ErrRevoked)
		s.Release()
		return none, ErrRevoked
	}
	return s.owner, nil
}

// noteDropped reports what does not count of what a caller has sent.
func (r *Registry[S, C]) noteDropped(who *Caller) {
	if len(who.Dropped) > 0 {
		r.front.Dropped(who)
	}
}

// begin makes a session, unless another request makes it meanwhile: first is false then. The
// session is in use until Release.
func (r *Registry[S, C]) begin(key any, who *Caller) (s *Session[S, C], first bool, err error) {
	account := who.Client.Account
	if err := account.TakeSession(); err != nil {
		return nil, false, err
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
		return s, false, nil
	}
	if r.fullLocked() {
		account.Give(budget.Sessions, 1)
		return nil, false, ErrFull
	}
	s = r.make(key, who)
	s.mu.Lock()
	s.idle = time.AfterFunc(r.front.Idle, s.expire)
	s.mu.Unlock()
	r.all[key] = s
	account.Hold(s)
	return s, true, nil
}

func (r *Registry[S, C]) fullLocked() bool { return r.closed || len(r.all) >= r.front.MaxSessions }

// Temporary makes a session that no other request can find. It ends with Release.
func (r *Registry[S, C]) Temporary(who *Caller) S {
	r.noteDropped(who)
	return r.make(nil, who).owner
}

// make makes a session with one user.
func (r *Registry[S, C]) make(key any, who *Caller) *Session[S, C] {
	s := &Session[S, C]{Caller: *who, Account: r.front.Budgets.Open(who.Client.Principal), registry: r, key: key,
		requests: map[string]request[C]{}, users: 1}
	if r.front.Keeper != nil && key != nil {
		s.kept = &kept{restored: make(chan struct{})}
	}
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
func (r *Registry[S, C]) All() (all []S) {
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
		if !r.front.Lasts(&s.Caller) {
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

// Close stops the registry and ends all sessions. Their records stay.
func (r *Registry[S, C]) Close() {
	r.Stop()
	var why error
	if r.front.Keeper != nil {
		why = ErrMoved
	}
	for _, s := range r.list() {
		s.End(why)
	}
}
