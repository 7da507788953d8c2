package budget

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Resource is something of which a client can hold a limited amount.
type Resource uint8

// The resources.
const (
	Bytes       Resource = iota // of messages, and of state that is kept for them
	Sessions                    // of MCP and of the bridge
	Streams                     // GET streams and subscriptions/listen
	Calls                       // requests without a response
	Processes                   // of servers that serve only this client
	Connections                 // of TCP
	resources                   // the number of resources
)

// String returns the key of the resource in the [http.limits] table.
func (r Resource) String() string {
	return [...]string{"bytes", "sessions", "streams", "calls", "processes", "connections"}[r]
}

// Limits say how much of each resource a client can hold. 0 means no limit.
type Limits [resources]int64

// Shared returns the limits for all clients without a credential together. The total numbers of
// sessions and connections are limited elsewhere.
func Shared() Limits {
	return Limits{Bytes: 256 << 20, Streams: 16384, Calls: 16384, Processes: 128}
}

// A LimitError says that a client has reached a limit.
type LimitError struct {
	Resource Resource
	Limit    int64
	Shared   bool // by all clients without a credential
}

// Error names the limit and the place where it is set.
func (e *LimitError) Error() string {
	if e.Shared {
		return fmt.Sprintf("the clients without a credential are at their limit of %d %s; try again when some are released, or give out tokens ([http.tokens])", e.Limit, e.noun())
	}
	return fmt.Sprintf("this client is at its limit of %d %s (%s in [http.limits]); try again when some are released", e.Limit, e.noun(), e.Resource)
}

func (e *LimitError) noun() string {
	switch e.Resource {
	case Bytes:
		return "bytes in memory"
	case Calls:
		return "calls in flight"
	case Processes:
		return "processes of its own"
	}
	return e.Resource.String()
}

// RetryAfter is the number of seconds that a client should wait before it tries again.
const RetryAfter = 5

// Budgets hold the accounts of all clients. They are safe for use by many goroutines.
type Budgets struct {
	each, shared Limits

	mu       sync.Mutex
	accounts map[Principal]*Account // guarded by mu: those that are open, by Principal.Client
}

// New makes Budgets. The limits each apply to each client with a credential, and the limits shared
// to all clients without one together.
func New(each, shared Limits) *Budgets {
	return &Budgets{each: each, shared: shared, accounts: map[Principal]*Account{}}
}

// Open returns the account of a principal's client. Close has to follow. While it is open, Open
// returns the same account for the same client.
func (b *Budgets) Open(p Principal) *Account {
	client := p.Client()
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[client]
	if a == nil {
		a = &Account{budgets: b, client: client, limits: b.each}
		if a.shared() {
			a.limits = b.shared
		}
		b.accounts[client] = a
	}
	a.open++
	return a
}

// Accounts returns how many accounts are open.
func (b *Budgets) Accounts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.accounts)
}

// An Account counts what one client holds. A nil Account has no limits. It is safe for use by many
// goroutines.
type Account struct {
	budgets *Budgets
	client  Principal
	limits  Limits
	open    int // guarded by budgets.mu

	mu       sync.Mutex
	used     Limits               // guarded by mu
	sessions map[Session]struct{} // guarded by mu: those that are open
}

// Close is the reverse of Open. After the last Close the account is removed.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.budgets.mu.Lock()
	defer a.budgets.mu.Unlock()
	if a.open--; a.open == 0 {
		delete(a.budgets.accounts, a.client)
	}
}

// shared reports whether the account belongs to all clients without a credential.
func (a *Account) shared() bool { return a == nil || a.client == Principal{} }

// Take takes n of a resource. If that is over the limit, it takes nothing and returns a
// *LimitError.
func (a *Account) Take(r Resource, n int64) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if limit := a.limits[r]; limit > 0 && a.used[r]+n > limit {
		return &LimitError{r, limit, a.shared()}
	}
	a.used[r] += n
	return nil
}

// Room reports whether n of a resource can be taken now.
func (a *Account) Room(r Resource, n int64) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limits[r] == 0 || a.used[r]+n <= a.limits[r]
}

// Scarce reports whether more than half of a resource is taken.
func (a *Account) Scarce(r Resource) bool {
	return a != nil && a.limits[r] > 0 && a.Used(r) > a.limits[r]/2
}

// Force takes n of a resource, even beyond the limit.
func (a *Account) Force(r Resource, n int64) { a.Give(r, -n) }

// Give returns n of a resource.
func (a *Account) Give(r Resource, n int64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used[r] -= n
}

// Used returns how much of a resource is taken.
func (a *Account) Used(r Resource) int64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used[r]
}

// A Session is one of a client's sessions.
type Session interface {
	// IdleSince returns since when the session has neither served a request nor waited for a
	// response. busy means that it does so now.
	IdleSince() (since time.Time, busy bool)
	// EndIdle ends the session if it is still idle.
	EndIdle()
}

// TakeSession takes one of Sessions for a new session. Hold follows when that has begun. If the
// client is at its limit of sessions, or has few Processes left, its session that has been idle for
// longest ends first: it may have processes. The caller must not hold a lock that EndIdle needs.
// The error is a *LimitError.
func (a *Account) TakeSession() error {
	if a == nil {
		return nil
	}
	if !a.Room(Processes, a.limits[Processes]/4+1) {
		a.EndIdlest()
	}
	for {
		err := a.Take(Sessions, 1)
		if err == nil || !a.EndIdlest() {
			return err
		}
	}
}

// Hold adds the session for which one of Sessions was taken.
func (a *Account) Hold(s Session) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions == nil {
		a.sessions = map[Session]struct{}{}
	}
	a.sessions[s] = struct{}{}
}

// GiveSession removes a session that has ended.
func (a *Account) GiveSession(s Session) {
	if a == nil {
		return
	}
	a.mu.Lock()
	delete(a.sessions, s)
	a.mu.Unlock()
	a.Give(Sessions, 1)
}

// EndIdlest ends the session that has been idle for longest. It reports whether there was an idle
// one.
func (a *Account) EndIdlest() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	all := slices.Collect(maps.Keys(a.sessions))
	a.mu.Unlock()
	var idlest Session
	var earliest time.Time
	for _, s := range all { // without the lock, because sessions hold their own when they call Take
		if since, busy := s.IdleSince(); !busy && (idlest == nil || since.Before(earliest)) {
			idlest, earliest = s, since
		}
	}
	if idlest == nil {
		return false
	}
	idlest.EndIdle()
	return true
}

// A Reader reads the body of a request. Until Close, the bytes that it has read count against an
// account. Its methods except Read are safe for use by many goroutines.
type Reader struct {
	from    io.Reader
	account *Account

	mu     sync.Mutex
	n      int64 // guarded by mu
	closed bool  // guarded by mu
}

// Reader returns a Reader for a body. The error of its Read is a *LimitError when the account is
// full.
func (a *Account) Reader(from io.Reader) *Reader { return &Reader{from: from, account: a} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if n > 0 {
		full := r.Take(n)
		if full != nil && r.account.EndIdlest() { // the session held some
			full = r.Take(n)
		}
		if full != nil {
			return 0, full
		}
	}
	return n, err
}

// Take counts n more bytes that are kept for the request. The error is a *LimitError. A nil Reader
// counts nothing.
func (r *Reader) Take(n int) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := r.account.Take(Bytes, int64(n)); err != nil {
		return err
	}
	r.n += int64(n)
	return nil
}

// Give is the reverse of Take.
func (r *Reader) Give(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.n -= int64(n)
		r.account.Give(Bytes, int64(n))
	}
}

// Detach returns the number of bytes that are counted. The caller has to give them back.
func (r *Reader) Detach() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.n
	r.n = 0
	return n
}

// Close gives back all bytes. Later bytes are not counted.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account.Give(Bytes, r.n)
	r.n, r.closed = 0, true
}
