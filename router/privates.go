package router

import (
	"sync"

	"toolman/router/principal"
)

// How many processes of their own all sessions may have together, and how many of them
// those with one credential: there are some left for the others.
const (
	maxPrivate   = 256
	maxPrivateOf = maxPrivate / 2
)

// privates counts processes that one session has for itself. The zero value is ready to use.
type privates struct {
	mu  sync.Mutex
	all int            // guarded by mu
	of  map[principal.Principal]int // guarded by mu: by Client.Principal.Client()
}

// take counts one more, if there may be.
func (x *privates) take(p principal.Principal) bool {
	p = p.Client()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all >= maxPrivate || !p.Anonymous() && x.of[p] >= maxPrivateOf {
		return false
	}
	if x.of == nil {
		x.of = map[principal.Principal]int{}
	}
	x.all++
	x.of[p]++
	return true
}

// back counts one less.
func (x *privates) back(p principal.Principal) {
	p = p.Client()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	if x.of[p]--; x.of[p] == 0 {
		delete(x.of, p)
	}
}

func (x *privates) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all
}
