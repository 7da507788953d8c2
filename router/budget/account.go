package budget

import (
	"fmt"
	"sync"

	"toolman/router/principal"
)

// A Resource is something of which a client can hold so much and no more.
type Resource uint8

// The resources.
const (
	Bytes       Resource = iota // of messages and what is remembered of them
	Sessions                    // of MCP, and of the plain HTTP API
	Streams                     // GET streams and subscriptions/listen
	Calls                       // requests without a response
	Processes                   // of servers that the client shares with no other
	Connections                 // of TCP
	resources                   // how many there are
)

// String returns the key of the resource in the [http.limits] table.
func (r Resource) String() string {
	return [...]string{"bytes", "sessions", "streams", "calls", "processes", "connections"}[r]
}

// Limits say how much of each resource one client can hold. 0 is no limit.
type Limits [resources]int64

// Shared returns the limits of all clients without a credential together. How many sessions and
// connections there are in all is limited elsewhere.
func Shared() Limits {
	return Limits{Bytes: 256 << 20, Streams: 16384, Calls: 16384, Processes: 128}
}

// A LimitError says that a client holds as much of a resource as it may.
type LimitError struct {
	Resource Resource
	Limit    int64
	Shared   bool // by all clients without a credential
}

// Error says what the limit is and where it is set.
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

// RetryAfter is how many seconds a client should wait before it tries again.
const RetryAfter = 5

// Budgets hold the accounts of all clients. They are safe for use by many goroutines.
type Budgets struct {
	each, shared Limits

	mu       sync.Mutex
	accounts map[principal.Principal]*Account // guarded by mu: those that are open, by Principal.Client
}

// New makes budgets. Each client with a credential has the limits each; all clients without one
// have the limits shared, together.
func New(each, shared Limits) *Budgets {
	return &Budgets{each: each, shared: shared, accounts: map[principal.Principal]*Account{}}
}

// Open returns the account of the client that a principal is, until Close. All that are open at a
// time are the same account.
func (b *Budgets) Open(p principal.Principal) *Account {
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

// An Account is what one client holds. A nil Account has no limits. It is safe for use by many
// goroutines.
type Account struct {
	budgets *Budgets
	client  principal.Principal
	limits  Limits
	open    int // guarded by budgets.mu

	mu       sync.Mutex
	used     Limits               // guarded by mu
	sessions map[Session]struct{} // guarded by mu: those that are open
}

// Close ends one Open. The account is forgotten with the last of them.
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

// shared reports whether the account is that of all clients without a credential.
func (a *Account) shared() bool { return a == nil || a.client == principal.Principal{} }

// Take takes n of a resource. The error is a *LimitError: nothing was taken then.
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

// Force takes n of a resource whatever the limit is, for what has to be kept in any case.
func (a *Account) Force(r Resource, n int64) { a.Give(r, -n) }

// Give gives n of a resource back.
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
