package jsonrpc

import (
	"math/rand/v2"
	"strconv"
	"sync"
)

// Pending is the table of requests that were sent to one peer and are not answered yet. To take a
// call out of it is the right to answer it, which only one caller gets.
//
// The lower bits of an id are the place of the call in the table, the upper bits its generation.
// The generation starts at random and grows by random steps, so that a server cannot answer calls
// that it has not read. An id is used again after 500 million calls at the earliest.
type Pending[T any] struct {
	mu         sync.Mutex
	places     []place[T] // guarded by mu
	free       int        // guarded by mu: the first free place, counted from 1
	count      int        // guarded by mu: places in use
	generation uint64     // guarded by mu
	random     uint64     // guarded by mu
	closed     bool       // guarded by mu
}

// A place holds a call, or is free.
type place[T any] struct {
	id   uint64 // 0: free
	next int    // the next free place, counted from 1
	call T
}

const (
	placeBits      = 20
	generationBits = 33 // ids stay below 2^53, up to which every peer can count

	// keepPlaces is how many places an empty table keeps.
	keepPlaces = 4096
)

// Add records a call and returns the id to send it with. It fails after Drain, and when a million
// calls are pending.
func (c *Pending[T]) Add(call T) (id uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed || c.free == 0 && len(c.places) == 1<<placeBits:
		return 0, false
	case c.free == 0:
		c.places = append(c.places, place[T]{})
		c.free = len(c.places)
	}
	at := c.free - 1
	p := &c.places[at]
	c.free, c.count = p.next, c.count+1
	p.id, p.call = c.nextLocked()<<placeBits|uint64(at), call
	return p.id, true
}

// nextLocked returns the generation of the next call.
func (c *Pending[T]) nextLocked() uint64 {
	if c.generation == 0 {
		c.random, c.generation = rand.Uint64(), rand.Uint64N(1<<16)
	}
	c.random = c.random*6364136223846793005 + 1442695040888963407 // Knuth's, as in MMIX
	c.generation = (c.generation + 1 + c.random>>59) % (1 << generationBits)
	return c.generation
}

// findLocked returns the place of a pending call, or nil.
func (c *Pending[T]) findLocked(id uint64) *place[T] {
	if at := id % (1 << placeBits); at < uint64(len(c.places)) && c.places[at].id == id && id != 0 {
		return &c.places[at]
	}
	return nil
}

// takeLocked removes the call at a place and returns it.
func (c *Pending[T]) takeLocked(p *place[T]) T {
	call, at := p.call, int(p.id%(1<<placeBits))
	*p = place[T]{next: c.free}
	c.free = at + 1
	if c.count--; c.count == 0 && len(c.places) > keepPlaces {
		c.places, c.free = nil, 0
	}
	return call
}

// Take removes a call and returns it.
func (c *Pending[T]) Take(id uint64) (call T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.findLocked(id)
	if p == nil {
		return call, false
	}
	return c.takeLocked(p), true
}

// Get returns a call, which stays pending.
func (c *Pending[T]) Get(id uint64) (call T, ok bool) {
	ok = c.Update(id, func(pending *T) { call = *pending })
	return call, ok
}

// Update changes a call, if it is still pending.
func (c *Pending[T]) Update(id uint64, change func(call *T)) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.findLocked(id)
	if p == nil {
		return false
	}
	change(&p.call)
	return true
}

// TakeIf removes and returns the newest call that match accepts. It looks at all calls, so it is
// for rare events: cancellations and timeouts.
func (c *Pending[T]) TakeIf(match func(T) bool) (id uint64, call T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var newest *place[T]
	for i := range c.places {
		if p := &c.places[i]; p.id > id && match(p.call) {
			id, newest = p.id, p
		}
	}
	if newest == nil {
		return 0, call, false
	}
	return id, c.takeLocked(newest), true
}

// A Taken is a call that was taken, with its id.
type Taken[T any] struct {
	ID   uint64
	Call T
}

// TakeAll removes and returns all calls that match accepts.
func (c *Pending[T]) TakeAll(match func(T) bool) []Taken[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Taken[T]
	places := c.places // takeLocked may drop them
	for i := range places {
		if p := &places[i]; p.id != 0 && match(p.call) {
			id := p.id
			all = append(all, Taken[T]{id, c.takeLocked(p)})
		}
	}
	return all
}

// Each calls f for every pending call, in no order. f must not use c.
func (c *Pending[T]) Each(f func(id uint64, call T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.places {
		if p := &c.places[i]; p.id != 0 {
			f(p.id, p.call)
		}
	}
}

// Len returns how many calls are pending.
func (c *Pending[T]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Close removes and returns all calls, and refuses new ones.
func (c *Pending[T]) Close() []T {
	c.mu.Lock()
	c.closed = true // before the calls are taken, so that none is added after that
	c.mu.Unlock()
	var all []T
	for _, taken := range c.TakeAll(func(T) bool { return true }) {
		all = append(all, taken.Call)
	}
	return all
}

// ParseID reads an id as Calls makes them. It refuses all else, such as 1.0 or "1".
func ParseID(token []byte) (uint64, bool) {
	if len(token) == 0 || len(token) > 16 || token[0] == '0' {
		return 0, false
	}
	id, err := strconv.ParseUint(string(token), 10, 64)
	return id, err == nil
}
