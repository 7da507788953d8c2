package ops

import "sync"

// inFlight counts what is under way by server.
type inFlight struct {
	mu  sync.Mutex
	now map[string]int // guarded by mu
}

func (f *inFlight) add(upstream string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		f.now = map[string]int{}
	}
	f.now[upstream] += n
}

func (f *inFlight) of(upstream string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[upstream]
}
