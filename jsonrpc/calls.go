package jsonrpc

import (
	"math/rand/v2"
	"strconv"
	"sync"
)

// Calls remembers the requests written to one peer and not yet answered. Taking
// a call out of it is the right to answer it: whoever gets it answers, and
// nobody gets it twice.
//
// The lower bits of an id say where the call is kept, the upper ones are its turn:
// they start at random and grow by random steps, so that a server cannot answer
// calls it has not read. An id comes again after 500 million calls at the earliest.
type Calls[T any] struct {
	mu     sync.Mutex
	slots  []entry[T] // guarded by mu
	free   int        // guarded by mu: the first free slot, counted from 1
	count  int        // guarded by mu: slots in use
	turn   uint64     // guarded by mu
	random uint64     // guarded by mu
	closed bool       // guarded by mu
}

// An entry holds a call, or is free.
type entry[T any] struct {
	id   uint64 // 0: free
	next int    // the next free slot, counted from 1
	call T
}

const (
	slotBits = 20
	turnBits = 33 // ids stay below 2^53, which all peers can count to

	// keepSlots is how many slots an empty table keeps.
	keepSlots = 4096
)

// Add records a call and returns the id it is sent with. It reports false once
// Drain was called, and when a million calls are pending.
func (c *Calls[T]) Add(call T) (id uint64, ok bool) { return c.Put(&call) }

// Put is Add from a place of the caller's.
func (c *Calls[T]) Put(call *T) (id uint64, ok bool) {
	c.mu.Lock()
	at := c.spareLocked()
	if at < 0 {
		c.mu.Unlock()
		return 0, false
	}
	s := &c.slots[at]
	c.free, c.count = s.next, c.count+1
	id = c.turnLocked()<<slotBits | uint64(at)
	s.id, s.call = id, *call
	c.mu.Unlock()
	return id, true
}

// spareLocked returns a free slot that heads the list of them, or -1.
func (c *Calls[T]) spareLocked() int {
	switch {
	case c.closed:
		return -1
	case c.free > 0:
		return c.free - 1
	case len(c.slots) == 1<<slotBits:
		return -1
	}
	c.slots = append(c.slots, entry[T]{})
	return len(c.slots) - 1
}

// turnLocked returns the turn of the next call.
func (c *Calls[T]) turnLocked() uint64 {
	if c.turn == 0 {
		c.random, c.turn = rand.Uint64(), rand.Uint64N(1<<16)
	}
	c.random = c.random*6364136223846793005 + 1442695040888963407 // Knuth's, as in MMIX
	c.turn = (c.turn + 1 + c.random>>59) % (1 << turnBits)
	return c.turn
}

// findLocked returns the slot of a pending call.
func (c *Calls[T]) findLocked(id uint64) *entry[T] {
	if at := id % (1 << slotBits); at < uint64(len(c.slots)) && c.slots[at].id == id && id != 0 {
		return &c.slots[at]
	}
	return nil
}

// freeLocked empties a slot.
func (c *Calls[T]) freeLocked(s *entry[T]) {
	at := int(s.id % (1 << slotBits))
	*s = entry[T]{next: c.free}
	c.free = at + 1
	if c.count--; c.count == 0 && len(c.slots) > keepSlots {
		c.slots, c.free = nil, 0
	}
}

// Take removes a call and returns it.
func (c *Calls[T]) Take(id uint64) (call T, ok bool) {
	ok = c.Move(id, &call)
	return call, ok
}

// Move is Take into a place of the caller's, which it leaves alone when there is no
// such call.
func (c *Calls[T]) Move(id uint64, to *T) bool {
	c.mu.Lock()
	s := c.findLocked(id)
	if s != nil {
		*to = s.call
		c.freeLocked(s)
	}
	c.mu.Unlock()
	return s != nil
}

// Get returns a call and leaves it in.
func (c *Calls[T]) Get(id uint64) (call T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.findLocked(id); s != nil {
		return s.call, true
	}
	return call, false
}

// Update changes a call, if it is still there.
func (c *Calls[T]) Update(id uint64, change func(call *T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.findLocked(id); s != nil {
		change(&s.call)
	}
}

// TakeIf removes and returns the newest call that match accepts. It looks at
// all of them, which is meant for what is rare: cancellations and time-outs.
func (c *Calls[T]) TakeIf(match func(T) bool) (id uint64, call T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var newest *entry[T]
	for i := range c.slots {
		if s := &c.slots[i]; s.id > id && match(s.call) {
			id, newest = s.id, s
		}
	}
	if newest == nil {
		return 0, call, false
	}
	call = newest.call
	c.freeLocked(newest)
	return id, call, true
}

// A Taken is a call that was taken, with its id.
type Taken[T any] struct {
	ID   uint64
	Call T
}

// TakeAll removes and returns all calls that match accepts, in one walk over them.
func (c *Calls[T]) TakeAll(match func(T) bool) []Taken[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Taken[T]
	slots := c.slots // may be let go when the last call is taken
	for i := range slots {
		if s := &slots[i]; s.id != 0 && match(s.call) {
			all = append(all, Taken[T]{s.id, s.call})
			c.freeLocked(s)
		}
	}
	return all
}

// Each calls f for every pending call, in no order. f must not use c.
func (c *Calls[T]) Each(f func(id uint64, call T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.slots {
		if s := &c.slots[i]; s.id != 0 {
			f(s.id, s.call)
		}
	}
}

// Len returns how many calls are pending.
func (c *Calls[T]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Drain removes all calls and refuses new ones: the peer is gone.
func (c *Calls[T]) Drain() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	all := make([]T, 0, c.count)
	for i := range c.slots {
		if c.slots[i].id != 0 {
			all = append(all, c.slots[i].call)
		}
	}
	c.slots, c.free, c.count = nil, 0, 0
	return all
}

// ParseID reads an id as Calls makes them. Anything else, like 1.0 or "1", is
// not one of ours.
func ParseID(token []byte) (uint64, bool) {
	if len(token) == 0 || len(token) > 16 || token[0] == '0' {
		return 0, false
	}
	id, err := strconv.ParseUint(string(token), 10, 64)
	return id, err == nil
}

// areDigits reports whether all bytes of x are digits: their upper halves are 3, and
// stay so when 6 is added.
func areDigits(x uint64) bool {
	return (x&repeat(0xf0))|(x+repeat(6))&repeat(0xf0)>>4 == repeat(0x33)
}

func repeat(c byte) uint64 { return uint64(c) * 0x0101010101010101 }
