package dial

import (
	"sync"
	"time"
)

// A Counter counts the connections that were made, by the name of the server. The zero value is
// ready to use.
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

// Junk counts the lines of a server that are no messages. The zero value is ready to use.
type Junk struct {
	mu     sync.Mutex
	count  int       // guarded by mu
	logged time.Time // guarded by mu: when such a line was last logged
}

// Add counts a line. It returns how many there are, and whether to log this one: one a minute.
func (j *Junk) Add() (count int, log bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count++
	if log = time.Since(j.logged) >= time.Minute; log {
		j.logged = time.Now()
	}
	return j.count, log
}

// Count returns the number of lines.
func (j *Junk) Count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count
}
