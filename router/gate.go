package router

import (
	"fmt"
	"slices"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
)

// maxWaiting is how many calls wait at a gate, and waitBytes how much they hold.
const maxWaiting = 1024

// A gate lets a server have so many calls of clients at once (max_concurrent_calls).
// The others wait before it, in the order they came.
type gate struct {
	most int

	mu      sync.Mutex
	within  int       // guarded by mu: calls that were let through and are not over
	waiting []waiting // guarded by mu
	closed  bool      // guarded by mu: the server is gone
}

// A waiting call has all edits made but those of its id and progress token.
type waiting struct {
	call  call
	frame []byte
}

func (w waiting) size() int { return len(w.frame) }

// A passage is what a gate does with a call.
type passage uint8

const (
	letThrough passage = iota
	hasToWait
	turnedAway
)

// newGate makes the gate of a server; nil, for any number of calls, is none.
func newGate(most int) *gate {
	if most <= 0 {
		return nil
	}
	return &gate{most: most}
}

// counts reports whether a gate is for requests of a method: for those that have a
// server do something. What asks about a task must get past those that wait for one.
func counts(method mcpwire.Method) bool {
	return mcpwire.TakesInput(method) || method == mcpwire.Complete
}

// enter lets a call through, or has it wait as the batch's edits make it. At a gate
// that is closed nobody waits.
func (g *gate) enter(c *call, m *jsonrpc.Message, b *jsonrpc.Batch) passage {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return letThrough
	case g.within < g.most && len(g.waiting) == 0:
		g.within++
		c.gated = true
		return letThrough
	case len(g.waiting) >= maxWaiting || tooMuch(g.waiting, len(m.Frame)):
		return turnedAway
	}
	g.waiting = append(g.waiting, waiting{*c, b.Preview(m.Frame)})
	return hasToWait
}

// each calls f for all that wait. f must not use g.
func (g *gate) each(f func(*call)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.waiting {
		f(&g.waiting[i].call)
	}
}

// leave notes that a call is over.
func (g *gate) leave(c *call) {
	if c.gated {
		c.gated = false
		g.mu.Lock()
		g.within--
		g.mu.Unlock()
	}
}

// next lets the call through that has waited longest, if there is room.
func (g *gate) next() (w waiting, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 || g.within >= g.most {
		return w, false
	}
	w = g.waiting[0]
	g.waiting[0] = waiting{}
	if g.waiting = g.waiting[1:]; len(g.waiting) == 0 {
		g.waiting = nil
	}
	g.within++
	w.call.gated = true
	return w, true
}

// takeBack removes the calls that match, and returns them. Whoever gets one answers it.
func (g *gate) takeBack(match func(*call) bool) []call {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var taken []call
	g.waiting = slices.DeleteFunc(slices.Clone(g.waiting), func(w waiting) bool {
		if !match(&w.call) {
			return false
		}
		taken = append(taken, w.call)
		return true
	})
	return taken
}

// close lets nobody wait any more. It returns those who do.
func (g *gate) close() []call {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	return g.takeBack(func(*call) bool { return true })
}

// admit reports whether a call may be written now. If not it waits, or was refused.
func (u *Upstream) admit(m *jsonrpc.Message, b *jsonrpc.Batch, c *call) bool {
	if u.gate == nil || !counts(c.method) {
		return true
	}
	switch u.gate.enter(c, m, b) {
	case letThrough:
		return true
	case hasToWait:
		b.Forget()
		u.watchTimeout()
	default:
		b.Forget()
		c.audited.Decide(audit.Busy)
		c.fail(fmt.Sprintf("server %s has %d calls under way, as many as it may have (max_concurrent_calls), and too many wait for their turn; "+
			"this one was not passed on: try again when some of them are answered", u.Name, u.gate.most), audit.Refused, b)
	}
	return false
}

// over notes that a call, which was taken, is over for the server, and passes on those
// that have waited for that. The batch has no edits.
func (u *Upstream) over(c *call, b *jsonrpc.Batch) {
	if c.gated {
		u.gate.leave(c)
		u.letOn(b)
	}
}

func (u *Upstream) letOn(b *jsonrpc.Batch) {
	for w, ok := u.gate.next(); ok; w, ok = u.gate.next() {
		u.passOn(&w, b)
	}
}

// passOn writes a call that has waited.
func (u *Upstream) passOn(w *waiting, b *jsonrpc.Batch) {
	var m jsonrpc.Message
	if jsonrpc.Scan(w.frame, &m) != nil { // it was one when it came
		u.gate.leave(&w.call)
		w.call.fail(fmt.Sprintf("this call waited for its turn at server %s and could not be passed on", u.Name), audit.Failed, b)
		return
	}
	if u.r.timed.Load() {
		w.call.wait(u.r.clock.now())
	}
	if u.leased { // and not there yet when the call came
		u.raise(w.call.logs, nil, b)
	}
	token, _ := mcpwire.ProgressToken(&m)           // was there before, or is not there
	name, _, _ := mcpwire.Target(&m, w.call.method) // likewise
	u.write(&m, b, &w.call, token, string(m.Text(name)))
}
