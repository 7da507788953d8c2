package router

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"toolman/router/session"
)

// sessions are those that a router has.
type sessions struct {
	mu   sync.Mutex
	all  map[*session.Session]bool // guarded by mu
	made int                       // guarded by mu: how many there ever were
}

// add keeps a session, and returns what to call it: a run's only client as the run.
func (x *sessions) add(s *session.Session, run string) (label string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*session.Session]bool{}
	}
	x.all[s] = true
	x.made++
	if s.Who.Sole {
		return run
	}
	return fmt.Sprintf("%s.%d", run, x.made)
}

func (x *sessions) remove(s *session.Session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, s)
}

func (x *sessions) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// list returns all sessions, in no order.
func (x *sessions) list() []*session.Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.all))
}
