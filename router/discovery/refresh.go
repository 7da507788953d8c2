package discovery

import (
	"sync"
	"time"

	"toolman/mcpwire"
)

// A Refresher reads lists of a server again that have changed.
type Refresher struct {
	Read  func(kinds []mcpwire.Kind) // reads lists
	Ended <-chan struct{}            // closed when the server is gone

	mu      sync.Mutex
	open    bool                // guarded by mu: the server is ready
	stale   [mcpwire.Kinds]bool // guarded by mu: kinds whose list has changed since it was read
	running bool                // guarded by mu: a goroutine runs refresh
}

// Open allows lists to be read again, once the server is ready and its lists were read.
func (r *Refresher) Open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = true
}

// Close prevents lists from being read again, because the server is gone.
func (r *Refresher) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = false
}

// Pause prevents lists from being read again. It is for tests.
func (r *Refresher) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = true
}

// Running reports whether lists have changed and are not read again yet.
func (r *Refresher) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// Changed marks lists as changed. It starts to read all lists that are marked, unless that runs
// already or the server is not ready.
func (r *Refresher) Changed(kinds ...mcpwire.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range kinds {
		r.stale[k] = true
	}
	if !r.open || r.running || r.stale == ([mcpwire.Kinds]bool{}) {
		return
	}
	r.running = true
	go r.refresh()
}

// debounce is how long toolman waits after a change of a list for more changes, to read them
// together.
const debounce = 50 * time.Millisecond

// refresh reads changed lists until there are none.
func (r *Refresher) refresh() {
	for {
		select {
		case <-time.After(debounce):
		case <-r.Ended:
			return
		}
		kinds := r.takeStale()
		if len(kinds) == 0 {
			return
		}
		r.Read(kinds)
	}
}

// takeStale returns the kinds to read again. It clears running if there are none.
func (r *Refresher) takeStale() []mcpwire.Kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kinds []mcpwire.Kind
	for k := range r.stale {
		if r.stale[k] {
			kinds = append(kinds, mcpwire.Kind(k))
		}
	}
	r.stale = [mcpwire.Kinds]bool{}
	r.running = len(kinds) > 0
	return kinds
}
