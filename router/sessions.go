package router

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// sessions are those that a router has.
type sessions struct {
	mu   sync.Mutex
	all  map[*Session]bool // guarded by mu
	made int               // guarded by mu: how many there ever were
}

// add keeps a session, and returns what to call it: a run's only client as the run.
func (x *sessions) add(s *Session, run string) (label string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*Session]bool{}
	}
	x.all[s] = true
	x.made++
	if s.Who.Sole {
		return run
	}
	return fmt.Sprintf("%s.%d", run, x.made)
}

func (x *sessions) remove(s *Session) {
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
func (x *sessions) list() []*Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.all))
}
