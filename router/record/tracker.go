package record

import (
	"maps"
	"slices"
	"sync/atomic"
)

// A Tracker notes that a session has changed, and which servers with state it uses. Conn.Mu guards
// it, except for Changes and Store. A nil Tracker notes nothing.
type Tracker struct {
	changes atomic.Uint64
	store   atomic.Pointer[func()] // stores the session's record; nil: responses do
	used    map[string]bool        // names of servers that the session has called
	lost    map[string]bool        // those of another process, whose state is lost
}

// Changed notes that the session's record is another now.
func (t *Tracker) Changed() {
	if t != nil {
		t.changes.Add(1)
	}
}

// StoreWith sets what stores the session's record.
func (t *Tracker) StoreWith(store func()) {
	if t != nil {
		t.store.Store(&store)
	}
}

// Store stores the session's record after a change that no response of the session waits for. It
// does not wait.
func (t *Tracker) Store() {
	if t == nil {
		return
	}
	if store := t.store.Load(); store != nil {
		go (*store)()
	}
}

// Changes returns a number that is another after each change.
func (t *Tracker) Changes() uint64 {
	if t == nil {
		return 0
	}
	return t.changes.Load()
}

// Use notes that the session calls a server with state.
func (t *Tracker) Use(server string) {
	if t == nil || t.used[server] {
		return
	}
	if t.used == nil {
		t.used = map[string]bool{}
	}
	t.used[server] = true
	t.Changed()
}

// Used returns the servers with state that the session has called, sorted.
func (t *Tracker) Used() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.used))
}

// Lose says that servers which the session has called have been started anew.
func (t *Tracker) Lose(servers []string) {
	for _, name := range servers {
		t.Use(name)
		if t.lost == nil {
			t.lost = map[string]bool{}
		}
		t.lost[name] = true
	}
}

// TakeLost reports whether a server was started anew. It does so once.
func (t *Tracker) TakeLost(server string) bool {
	if t == nil || !t.lost[server] {
		return false
	}
	delete(t.lost, server)
	return true
}
