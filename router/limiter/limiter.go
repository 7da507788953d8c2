package limiter

import (
	"cmp"
	"slices"
	"sync"

	"toolman/router/budget"
)

// Limits on what one client can have at a limiter.
const (
	MaxQueued  = 1024     // calls that wait
	maxBytes   = 64 << 20 // of those; one call may wait whatever its size
	MaxControl = 64       // open requests that are not limited calls
)

// A Place is what a call occupies at a limiter.
type Place uint8

const (
	None      Place = iota // nothing
	Active                 // one of the limiter's places
	Lingering              // one in its client's share: it was cancelled, but its request is still open
	Control                // one for requests that are not limited calls
)

// An Admission is what a limiter does with a call.
type Admission uint8

const (
	Admitted Admission = iota
	Queued
	Rejected
)

// A Limiter limits the calls of one server. T is what it keeps of a call that waits. All methods can be
// used concurrently.
type Limiter[T any] struct {
	limit int

	mu     sync.Mutex
	active int                            // guarded by mu: calls that have a place
	queued int                            // guarded by mu: calls that wait
	last   uint64                         // guarded by mu: number of the last call that had to wait
	shares map[budget.Principal]*share[T] // guarded by mu: of the clients that have anything here
	closed bool                           // guarded by mu: no call waits any more
}

// A share is what one client has at a limiter.
type share[T any] struct {
	active, lingering, control int
	queue                      []waiting[T] // in the order in which they came
	bytes                      int          // of those
}

type waiting[T any] struct {
	call   T
	number uint64
	size   int
}

// New returns a limiter for most calls at once; nil, which limits nothing, if most is not positive.
func New[T any](most int) *Limiter[T] {
	if most <= 0 {
		return nil
	}
	return &Limiter[T]{limit: most, shares: map[budget.Principal]*share[T]{}}
}

// NewClosed returns a limiter for one call at a time, which admits none before Open.
func NewClosed[T any]() *Limiter[T] {
	l := New[T](1)
	l.active = 1
	return l
}

// Open lets a limiter of NewClosed admit calls. Next returns those that have waited.
func (l *Limiter[T]) Open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// Limit is how many calls can be under way at once.
func (l *Limiter[T]) Limit() int { return l.limit }

// Load is how many calls are under way or wait.
func (l *Limiter[T]) Load() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active + l.queued
}

// shareLocked returns the share of a client.
func (l *Limiter[T]) shareLocked(client budget.Principal) *share[T] {
	x := l.shares[client]
	if x == nil {
		x = &share[T]{}
		l.shares[client] = x
	}
	return x
}

// forgetLocked forgets a client that has nothing here.
func (l *Limiter[T]) forgetLocked(client budget.Principal) {
	if x := l.shares[client]; x != nil && x.active == 0 && x.lingering == 0 && x.control == 0 && len(x.queue) == 0 {
		delete(l.shares, client)
	}
}

// anonymous reports whether a client is all those without a credential.
func anonymous(client budget.Principal) bool { return client == budget.Principal{} }

// roomLocked reports whether one more call of a client may go on.
func (l *Limiter[T]) roomLocked(client budget.Principal, x *share[T]) bool {
	if l.active >= l.limit {
		return false
	}
	free, has := l.limit-l.active-x.lingering, x.active+x.lingering
	return anonymous(client) || l.limit == 1 || has == 0 || has+1 <= 3*(free-1)
}

// Admit gives a call of a client the place Active, or has it wait: then keep returns what to keep of it,
// and its size in bytes. A closed limiter admits every call, without a place.
func (l *Limiter[T]) Admit(client budget.Principal, size int, keep func() T) (Place, Admission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.forgetLocked(client)
	x := l.shareLocked(client)
	switch {
	case l.closed:
		return None, Admitted
	case l.roomLocked(client, x) && l.nextLocked() == nil:
		l.active++
		x.active++
		return Active, Admitted
	case len(x.queue) >= MaxQueued || len(x.queue) > 0 && x.bytes+size > maxBytes:
		return None, Rejected
	}
	l.last++
	l.queued++
	x.bytes += size
	x.queue = append(x.queue, waiting[T]{keep(), l.last, size})
	return None, Queued
}

// AdmitControl gives a request that is not a limited call the place Control, unless its client has too
// many of them.
func (l *Limiter[T]) AdmitControl(client budget.Principal) (Place, Admission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.forgetLocked(client)
	x := l.shareLocked(client)
	switch {
	case l.closed:
		return None, Admitted
	case x.control >= MaxControl && !anonymous(client):
		return None, Rejected
	}
	x.control++
	return Control, Admitted
}

// nextLocked returns the share whose call gets the next place; nil: there is no place, or no call.
func (l *Limiter[T]) nextLocked() (first *share[T]) {
	if l.queued == 0 || l.active >= l.limit {
		return nil
	}
	for client, x := range l.shares {
		if len(x.queue) == 0 || !l.roomLocked(client, x) {
			continue
		}
		if first == nil || x.active < first.active || x.active == first.active && x.queue[0].number < first.queue[0].number {
			first = x
		}
	}
	return first
}

// Next gives the next call that waits the place Active, and returns it; false: there is no place, or
// no call.
func (l *Limiter[T]) Next() (call T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.nextLocked()
	if x == nil {
		return call, false
	}
	call = x.queue[0].call
	x.bytes -= x.queue[0].size
	x.queue[0] = waiting[T]{}
	if x.queue = x.queue[1:]; len(x.queue) == 0 {
		x.queue = nil
	}
	l.queued--
	l.active++
	x.active++
	return call, true
}

// Leave takes back the place of a call that is over.
func (l *Limiter[T]) Leave(client budget.Principal, place Place) {
	if place == None {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch x := l.shareLocked(client); place {
	case Active:
		l.active--
		x.active--
	case Lingering:
		x.lingering--
	case Control:
		x.control--
	}
	l.forgetLocked(client)
}

// Linger makes the place of a call, which is Active, Lingering: it is free for other clients.
func (l *Limiter[T]) Linger(client budget.Principal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.shareLocked(client)
	l.active--
	x.active--
	x.lingering++
}

// Each calls f for all calls that wait. f must not use the limiter. A nil limiter has none.
func (l *Limiter[T]) Each(f func(*T)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.shares {
		for i := range x.queue {
			f(&x.queue[i].call)
		}
	}
}

// Remove removes the waiting calls that match, and returns them in the order in which they came. The
// caller answers them. A nil limiter has none.
func (l *Limiter[T]) Remove(match func(*T) bool) []T {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queued == 0 {
		return nil
	}
	var removed []waiting[T]
	for client, x := range l.shares {
		x.queue = slices.DeleteFunc(slices.Clone(x.queue), func(w waiting[T]) bool {
			if !match(&w.call) {
				return false
			}
			x.bytes -= w.size
			removed = append(removed, w)
			return true
		})
		l.forgetLocked(client)
	}
	l.queued -= len(removed)
	slices.SortFunc(removed, func(a, b waiting[T]) int { return cmp.Compare(a.number, b.number) })
	calls := make([]T, len(removed))
	for i := range removed {
		calls[i] = removed[i].call
	}
	return calls
}

// Close has no call wait any more, and returns those that do. The caller answers them.
func (l *Limiter[T]) Close() []T {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.Remove(func(*T) bool { return true })
}

// Counts are what a limiter has, for tests and metrics.
type Counts struct {
	Active, Queued, Clients int
	Closed                  bool
}

// Counts returns what the limiter has now.
func (l *Limiter[T]) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{l.active, l.queued, len(l.shares), l.closed}
}
