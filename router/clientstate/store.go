package clientstate

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/view"
)

// A Key identifies a client. Clients with different keys share nothing.
type Key struct {
	Principal budget.Principal // with a ClientID, without a path and permissions
	Agent     string           // whose policy applies
}

// KeyOf returns the key of a client. It reports false for a client whose sessions share nothing: a
// trusted proxy has named none, or the client cannot activate anything.
func KeyOf(info *client.Info) (Key, bool) {
	return Key{info.Principal.Client(), info.Agent}, info.Principal.ClientID != "" && info.Static == ""
}

// Limits of what a Store keeps of clients without sessions.
const (
	maxIdle      = 1024
	maxIdleBytes = 16 << 20
)

// A Store holds the state of clients. The zero value is ready to use.
type Store struct {
	Idle time.Duration // how long the state of a client without sessions stays; 0: one hour

	mu        sync.Mutex
	clients   map[Key]*state // guarded by mu
	idle      []*state       // guarded by mu: those without members, longest idle first
	idleBytes int            // guarded by mu: their size
	closed    bool           // guarded by mu
}

// A state is what the sessions of one client share.
type state struct {
	key       Key
	value     view.Activations // guarded by Store.mu
	version   atomic.Uint64    // incremented with each change, with Store.mu held
	members   map[*Member]bool // guarded by Store.mu
	notifying bool             // guarded by Store.mu: a goroutine notifies the members
	expiry    *time.Timer      // guarded by Store.mu: of a state without members
	until     time.Time        // guarded by Store.mu: when expiry fires
}

// A Member is a session of a client. Its methods but Leave must not be called concurrently. A nil
// Member shares nothing.
type Member struct {
	store   *Store
	of      *state
	changed func()
	seen    uint64 // the version that the session has
}

// Join adds a session of a client and returns the client's activations. changed is called, on
// another goroutine, after a session has changed them.
func (s *Store) Join(k Key, changed func()) (*Member, view.Activations) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.clients[k]
	if of == nil {
		of = &state{key: k, members: map[*Member]bool{}}
		if s.clients == nil {
			s.clients = map[Key]*state{}
		}
		s.clients[k] = of
	}
	if of.expiry != nil {
		s.reviveLocked(of)
	}
	m := &Member{store: s, of: of, changed: changed, seen: of.version.Load()}
	of.members[m] = true
	return m, of.value
}

// Begins reports whether no session of the client has set its activations. A nil Member begins.
func (m *Member) Begins() bool { return m == nil || m.of.version.Load() == 0 }

// Latest returns the client's activations if they have changed since the session has last seen
// them.
func (m *Member) Latest() (view.Activations, bool) {
	if m == nil || m.seen == m.of.version.Load() {
		return view.Activations{}, false
	}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	m.seen = m.of.version.Load()
	return m.of.value, true
}

// Replace sets the client's activations. It fails if they have changed since the session has last
// seen them.
func (m *Member) Replace(a view.Activations) bool {
	if m == nil {
		return true
	}
	s := m.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.seen != m.of.version.Load() {
		return false
	}
	m.of.value = a
	m.seen = m.of.version.Add(1)
	if !m.of.notifying && len(m.of.members) > 1 {
		m.of.notifying = true
		go s.notify(m.of)
	}
	return true
}

// notify calls changed for all members until there is no newer change. It includes the one that has
// made the change, because another may have made one since.
func (s *Store) notify(of *state) {
	for {
		s.mu.Lock()
		version := of.version.Load()
		members := slices.Collect(maps.Keys(of.members))
		s.mu.Unlock()
		for _, m := range members {
			m.changed()
		}
		s.mu.Lock()
		done := of.version.Load() == version
		of.notifying = !done
		s.mu.Unlock()
		if done {
			return
		}
	}
}

// Leave removes the session. The last session of a client leaves its state for a while.
func (m *Member) Leave() {
	if m == nil {
		return
	}
	s, of := m.store, m.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if !of.members[m] {
		return
	}
	delete(of.members, m)
	switch {
	case len(of.members) > 0:
		return
	case s.closed || of.version.Load() == 0:
		delete(s.clients, of.key)
		return
	}
	idle := cmp.Or(s.Idle, time.Hour)
	of.until = time.Now().Add(idle)
	of.expiry = time.AfterFunc(idle, func() { s.expire(of) })
	s.idle = append(s.idle, of)
	s.idleBytes += sizeOf(&of.value)
	for len(s.idle) > maxIdle || s.idleBytes > maxIdleBytes {
		s.forgetLocked(s.idle[0])
	}
}

// reviveLocked takes a state out of the idle ones.
func (s *Store) reviveLocked(of *state) {
	of.expiry.Stop()
	of.expiry = nil
	s.idleBytes -= sizeOf(&of.value)
	for i, other := range s.idle {
		if other == of {
			s.idle = append(s.idle[:i:i], s.idle[i+1:]...)
			return
		}
	}
}

// forgetLocked removes an idle state.
func (s *Store) forgetLocked(of *state) {
	s.reviveLocked(of)
	delete(s.clients, of.key)
}

// expire removes a state whose time is over, unless a session has joined since.
func (s *Store) expire(of *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.expiry != nil && !time.Now().Before(of.until) {
		s.forgetLocked(of)
	}
}

// Close forgets all clients without sessions, and from now on each client with its last session.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.idle) > 0 {
		s.forgetLocked(s.idle[0])
	}
}

// sizeOf estimates the bytes that activations take. Toolsets belong to the configuration or to the
// file of saved toolsets, and are counted by their names.
func sizeOf(a *view.Activations) int {
	const each = 32
	n := each
	for _, states := range []map[string]bool{a.Tools, a.Resources} {
		for name := range states {
			n += each + len(name)
		}
	}
	if t := a.Toolsets; t != nil {
		for _, set := range t.Enabled {
			n += each + len(set.Name)
		}
		for _, name := range t.Disabled {
			n += each + len(name)
		}
		if t.Before != nil {
			n += sizeOf(t.Before)
		}
	}
	return n
}
