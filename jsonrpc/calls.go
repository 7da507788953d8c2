package jsonrpc

import (
	"math/rand/v2"
	"sync"
)

// Calls remembers the requests written to one peer and not yet answered. Taking
// a call out of it is the right to answer it: whoever gets it answers, and
// nobody gets it twice.
type Calls[T any] struct {
	mu      sync.Mutex
	pending map[uint64]T // guarded by mu
	last    uint64       // guarded by mu
	closed  bool         // guarded by mu
}

// Add records a call and returns the id it is sent with. Ids are never used
// again, start at random and grow by random steps, so that a server cannot answer
// calls it has not read; they stay below 2^53, which all peers can count to.
// It reports false once Drain was called.
func (c *Calls[T]) Add(call T) (id uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, false
	}
	if c.pending == nil {
		c.pending = make(map[uint64]T)
	}
	if c.last == 0 {
		c.last = rand.Uint64N(1 << 32)
	}
	c.last += 1 + rand.Uint64N(64)
	c.pending[c.last] = call
	return c.last, true
}

// Take removes a call and returns it.
func (c *Calls[T]) Take(id uint64) (T, bool) {
	c.mu.Lock()
	call, ok := c.pending[id]
	if ok {
		delete(c.pending, id)
	}
	c.mu.Unlock()
	return call, ok
}

// Get returns a call and leaves it in.
func (c *Calls[T]) Get(id uint64) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call, ok := c.pending[id]
	return call, ok
}

// TakeIf removes and returns the newest call that match accepts. It looks at
// all of them, which is meant for what is rare: cancellations and time-outs.
func (c *Calls[T]) TakeIf(match func(T) bool) (id uint64, call T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range c.pending {
		if k > id && match(v) {
			id, call, ok = k, v, true
		}
	}
	if ok {
		delete(c.pending, id)
	}
	return id, call, ok
}

// Each calls f for every pending call, in no order. f must not use c.
func (c *Calls[T]) Each(f func(id uint64, call T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.pending {
		f(id, call)
	}
}

// Len returns how many calls are pending.
func (c *Calls[T]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// Drain removes all calls and refuses new ones: the peer is gone.
func (c *Calls[T]) Drain() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	all := make([]T, 0, len(c.pending))
	for _, call := range c.pending {
		all = append(all, call)
	}
	c.pending = nil
	return all
}

// ParseID reads an id as Calls makes them. Anything else, like 1.0 or "1", is
// not one of ours.
func ParseID(token []byte) (uint64, bool) {
	if len(token) == 0 || len(token) > 16 || token[0] == '0' {
		return 0, false
	}
	var id uint64
	for _, c := range token {
		if c < '0' || c > '9' {
			return 0, false
		}
		id = id*10 + uint64(c-'0')
	}
	return id, true
}
