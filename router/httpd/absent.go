package httpd

import (
	"sync"
	"time"
)

// awhile is after how long away, or after twice that, a handler's client is asked whether it is
// still there. That costs more than most calls need to come back.
const awhile = 100 * time.Millisecond

// The absent are the handlers that are away. They share a timer: with one for each call, each
// call would wake up whoever waits for the network, to say how long that is to be.
type absent struct {
	mu    sync.Mutex
	all   map[*lent]bool // guarded by mu: whether it was away when look was called last
	looks bool           // guarded by mu: look will be called
}

func (a *absent) add(l *lent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[*lent]bool{}
	}
	a.all[l] = false
	if !a.looks {
		a.looks = true
		time.AfterFunc(awhile, a.look)
	}
}

func (a *absent) remove(l *lent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, l)
}

// look sees to those who have been away for a while.
func (a *absent) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for l, long := range a.all {
		a.all[l] = true
		if long {
			delete(a.all, l)
			go l.watch()
		}
	}
	if a.looks = len(a.all) > 0; a.looks {
		time.AfterFunc(awhile, a.look)
	}
}
