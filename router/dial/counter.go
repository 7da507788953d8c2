package dial

import "sync"

// A Counter counts the connections that were made, by the name of the server. The zero value is ready to use.
type Counter struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

// Add adds one.
func (t *Counter) Add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[name]++
}

// Of returns the number for a name.
func (t *Counter) Of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[name]
}
