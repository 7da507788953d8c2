package jsonrpc

import (
	"slices"
	"sync"
)

// A Recent remembers the last ids of calls that were given up, to tell a late
// answer from one that nobody asked for.
type Recent struct {
	mu   sync.Mutex
	ids  [64]uint64
	next int
}

func (r *Recent) Add(id uint64) {
	r.mu.Lock()
	r.ids[r.next%len(r.ids)] = id
	r.next++
	r.mu.Unlock()
}

// Has reports whether id is among them; 0, which no call has, is not.
func (r *Recent) Has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id != 0 && slices.Contains(r.ids[:], id)
}
