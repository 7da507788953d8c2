package router

import "sync"

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
	of  map[string]int // guarded by mu: by Client.Principal
}

// take counts one more, if there may be.
func (x *privates) take(principal string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all >= maxPrivate || principal != "" && x.of[principal] >= maxPrivateOf {
		return false
	}
	if x.of == nil {
		x.of = map[string]int{}
	}
	x.all++
	x.of[principal]++
	return true
}

// back counts one less.
func (x *privates) back(principal string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all--
	if x.of[principal]--; x.of[principal] == 0 {
		delete(x.of, principal)
	}
}

func (x *privates) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all
}
