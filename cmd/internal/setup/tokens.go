package setup

import (
	"slices"
	"sync"

	"toolman/jsonrpc/trace/redact"
)

// tokens are the bearer tokens that toolman has got for one server, as secrets. The previous ones
// stay secret until there are others: requests with them may still be open, and the server may
// quote them.
type tokens struct {
	secrets *redact.Scrubber
	mu      sync.Mutex
	last    []string     // guarded by mu
	back    [kept]func() // guarded by mu: take the latest ones out of secrets, oldest first
}

const kept = 2

// issued records the tokens of one answer of the authorization server, or of one file.
func (t *tokens) issued(all ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Equal(all, t.last) {
		return
	}
	t.pushLocked(all, t.secrets.Lend(all...))
}

// end takes all of them out of the secrets.
func (t *tokens) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range kept {
		t.pushLocked(nil, nil)
	}
}

func (t *tokens) pushLocked(last []string, back func()) {
	if t.back[0] != nil {
		t.back[0]()
	}
	copy(t.back[:], t.back[1:])
	t.last, t.back[kept-1] = last, back
}

// lent are the secrets of one login.
type lent struct {
	secrets *redact.Scrubber
	mu      sync.Mutex
	all     []func() // guarded by mu: give them back
}

func (l *lent) add(values ...string) {
	back := l.secrets.Lend(values...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, back)
}

// back takes them out of the secrets.
func (l *lent) back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, back := range l.all {
		back()
	}
	l.all = nil
}
