package limiter

import (
	"maps"
	"slices"
	"sync"

	"toolman/router/budget"
)

// Limits for one client.
const (
	MaxQueued  = 1024     // queued calls
	maxBytes   = 64 << 20 // of queued calls; a single call may exceed it
	MaxControl = 64       // open requests that are not limited calls
)

// A Place is what a call occupies at a limiter.
type Place uint8

const (
	None      Place = iota // nothing
	Active                 // one of the limiter's places
	Lingering              // counts only in its client's share: the call was cancelled, but its HTTP request is open
	Control                // one of the places for requests that are not limited calls
)

// An Admission is the result of Admit and AdmitControl.
type Admission uint8

// The admissions. The limiter has not stored a call that is Rejected.
const (
	Admitted Admission = iota
	Queued
	Rejected
)

// A Limiter limits the calls of one server. T is the data of a queued call, or a pointer to it. All
// methods can be used concurrently.
type Limiter[T any] struct {
	limit int // active calls at once

	mu     sync.Mutex
	active int                            // guarded by mu: calls with the place Active
	queued int                            // guarded by mu: queued calls
	last   int                            // guarded by mu: number of the last queued call
	shares map[budget.Principal]*share[T] // guarded by mu: has no empty shares
	closed bool                           // guarded by mu: Close was called
}

// A share is the places and the queue of one client.
type share[T any] struct {
	active, lingering, control int
	queue                      []waiting[T] // in order of arrival
	bytes                      int          // size of the queue
}

type waiting[T any] struct {
	call   T
	number int
	size   int
}

// New returns a limiter for limit concurrent calls. If limit is not positive it returns nil, which
// means no limit.
func New[T any](limit int) *Limiter[T] {
	if limit <= 0 {
		return nil
	}
	return &Limiter[T]{limit: limit, shares: map[budget.Principal]*share[T]{}}
}

// NewClosed returns a limiter for one call at a time that queues all calls until Open is called.
func NewClosed[T any]() *Limiter[T] {
	l := New[T](1)
	l.active = 1
	return l
}

// Open lets a limiter of NewClosed admit calls. The caller then gets the queued calls from Next.
func (l *Limiter[T]) Open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// Limit returns the number of calls that can be active at once.
func (l *Limiter[T]) Limit() int { return l.limit }

// Load returns the number of active and queued calls.
func (l *Limiter[T]) Load() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active + l.queued
}

// Admit gives a call the place Active, or queues it: then keep returns its data, and size is its
// size in bytes. A closed limiter admits every call, without a place.
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

// AdmitControl gives a request that is not a limited call the place Control, unless its client has
// MaxControl of them. It never queues.
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

// Next gives the next queued call the place Active, and returns it. ok is false if there is no
// place or no call.
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

// Leave takes back the place of a call that has ended.
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

// Linger changes the place of a call from Active to Lingering. Other clients can use the place
// then.
func (l *Limiter[T]) Linger(client budget.Principal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.shareLocked(client)
	l.active--
	x.active--
	x.lingering++
}

// Each calls f for all queued calls. f must not use the limiter. l may be nil.
func (l *Limiter[T]) Each(f func(T)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.shares {
		for i := range x.queue {
			f(x.queue[i].call)
		}
	}
}

// Remove removes the queued calls that match, and returns them in order of arrival. The caller must
// answer them. l may be nil.
func (l *Limiter[T]) Remove(match func(T) bool) []T {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queued == 0 {
		return nil
	}
	removed := map[int]T{} // by number
	for client, x := range l.shares {
		x.queue = slices.DeleteFunc(slices.Clone(x.queue), func(w waiting[T]) bool {
			if !match(w.call) {
				return false
			}
			x.bytes -= w.size
			removed[w.number] = w.call
			return true
		})
		l.forgetLocked(client)
	}
	l.queued -= len(removed)
	calls := make([]T, 0, len(removed))
	for _, number := range slices.Sorted(maps.Keys(removed)) {
		calls = append(calls, removed[number])
	}
	return calls
}

// Close removes and returns all queued calls, which the caller must answer. The limiter queues no
// further call. l may be nil.
func (l *Limiter[T]) Close() []T {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.Remove(func(T) bool { return true })
}

// Counts are the numbers of a limiter, for tests and metrics.
type Counts struct {
	Active, Queued, Clients int
	Closed                  bool
}

// Counts returns the current numbers.
func (l *Limiter[T]) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{l.active, l.queued, len(l.shares), l.closed}
}

// nextLocked returns the share whose first call becomes active next. It is nil if there is no place
// or no call.
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

// roomLocked reports whether one more call of a client may become active.
func (l *Limiter[T]) roomLocked(client budget.Principal, x *share[T]) bool {
	if l.active >= l.limit {
		return false
	}
	free, has := l.limit-l.active-x.lingering, x.active+x.lingering
	return anonymous(client) || l.limit == 1 || has == 0 || has+1 <= 3*(free-1)
}

// anonymous reports whether client stands for all clients without a credential.
func anonymous(client budget.Principal) bool { return client == budget.Principal{} }

// shareLocked returns the share of a client, which it makes if there is none.
func (l *Limiter[T]) shareLocked(client budget.Principal) *share[T] {
	x := l.shares[client]
	if x == nil {
		x = &share[T]{}
		l.shares[client] = x
	}
	return x
}

// forgetLocked removes the share of a client if it is empty.
func (l *Limiter[T]) forgetLocked(client budget.Principal) {
	if x := l.shares[client]; x != nil && x.active == 0 && x.lingering == 0 && x.control == 0 && len(x.queue) == 0 {
		delete(l.shares, client)
	}
}
