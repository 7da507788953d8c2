package recall

import (
	"sync"
	"time"
)

// A Keeper stores what a server offers whenever that may have changed. It does so on a goroutine of
// its own. The zero value stores nothing.
type Keeper struct {
	Memory Memory                    // nil: nothing is stored
	Offers func() (Client, *Offered) // what the server offers now; nil: that is not known as a whole
	Ended  <-chan struct{}           // closed when the server is gone
	Failed func(error)               // is called with the errors of Memory
	Busy   *Busy

	mu      sync.Mutex
	waiting bool      // guarded by mu: a goroutine is about to store
	stored  time.Time // guarded by mu: when something was last stored
}

// Busy counts the goroutines that write. The zero value is ready to use.
type Busy struct {
	mu   sync.Mutex
	n    int             // guarded by mu
	idle []chan struct{} // guarded by mu: closed when n is 0
}

func (b *Busy) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n += n; b.n == 0 {
		for _, c := range b.idle {
			close(c)
		}
		b.idle = nil
	}
}

// Wait returns when nothing is written any more, or after a while.
func (b *Busy) Wait(most time.Duration) {
	b.mu.Lock()
	if b.n == 0 {
		b.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	b.idle = append(b.idle, idle)
	b.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

// pause is the time between two writes at least: a server may change its lists all the time.
const pause = 10 * time.Second

// Changed stores what the server offers, soon. It does not wait.
func (k *Keeper) Changed() {
	if k.Memory == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting {
		return
	}
	k.waiting = true
	if wait := time.Until(k.stored.Add(pause)); wait > 0 {
		go k.storeAfter(wait)
		return
	}
	k.Busy.add(1)
	go func() {
		defer k.Busy.add(-1)
		k.store()
	}()
}

// storeAfter stores after a while, unless the server has gone by then. It does not count as busy:
// nobody waits for it.
func (k *Keeper) storeAfter(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		k.store()
	case <-k.Ended:
	}
}

// store stores what the server offers now.
func (k *Keeper) store() {
	k.mu.Lock()
	k.waiting, k.stored = false, time.Now()
	k.mu.Unlock()
	c, offers := k.Offers()
	if offers == nil {
		return
	}
	if err := k.Memory.Remember(c, offers); err != nil {
		k.Failed(err)
	}
}
