package router

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/principal"
)

// Limits on what one client can have at a gate.
const (
	maxWaiting = 1024 // calls that wait
	maxAside   = 64   // requests that are no calls and not over
)

// A gate lets a server have so many calls of clients at once (max_concurrent_calls). The others wait
// before it. A client with a credential can have one place, and more only as long as it has at most
// three times as many as are left free: three quarters by itself, and less the more others have. So
// a few clients that take what they can get, and keep it, leave places to the next one. Whose client
// has the fewest calls under way is next, of these who has come first.
type gate struct {
	most int

	mu     sync.Mutex
	within int                            // guarded by mu: calls that were let through and are not over
	waits  int                            // guarded by mu: calls that wait
	turn   uint64                         // guarded by mu: of the last call that had to wait
	of     map[principal.Principal]*share // guarded by mu: by Principal.Client, for those that have something here
	closed bool                           // guarded by mu: the server is gone
}

// A share is what one client has at a gate.
type share struct {
	within    int       // calls that were let through and are not over
	lingering int       // calls that were taken back, whose requests are open
	aside     int       // other requests that are not over
	waiting   []waiting // in the order in which they came
}

// A waiting call has all edits made but those of its id and progress token.
type waiting struct {
	call  call
	frame []byte
	turn  uint64
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
	return &gate{most: most, of: map[principal.Principal]*share{}}
}

// counts reports whether a gate is for requests of a method: for those that have a
// server do something. What asks about a task must get past those that wait for one.
func counts(method mcpwire.Method) bool {
	return mcpwire.TakesInput(method) || method == mcpwire.Complete
}

// shareLocked returns what a client has at the gate.
func (g *gate) shareLocked(client principal.Principal) *share {
	x := g.of[client]
	if x == nil {
		x = &share{}
		g.of[client] = x
	}
	return x
}

// forgetLocked forgets a client that has nothing at the gate.
func (g *gate) forgetLocked(client principal.Principal) {
	if x := g.of[client]; x != nil && x.within == 0 && x.lingering == 0 && x.aside == 0 && len(x.waiting) == 0 {
		delete(g.of, client)
	}
}

// isShared reports whether a client is all those without a credential. It can have all that there is.
func isShared(client principal.Principal) bool { return client == principal.Principal{} }

// roomLocked reports whether one more call of a client may be let through.
func (g *gate) roomLocked(client principal.Principal, x *share) bool {
	if g.within >= g.most {
		return false
	}
	free, has := g.most-g.within-x.lingering, x.within+x.lingering
	return isShared(client) || g.most == 1 || has == 0 || has+1 <= 3*(free-1)
}

// enter lets a call through, or has it wait as the batch's edits make it. At a gate
// that is closed nobody waits.
func (g *gate) enter(c *call, m *jsonrpc.Message, b *jsonrpc.Batch) passage {
	client := c.session.who.Principal.Client()
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.forgetLocked(client)
	x := g.shareLocked(client)
	switch {
	case g.closed:
		return letThrough
	case !counts(c.method):
		if x.aside >= maxAside && !isShared(client) {
			return turnedAway
		}
		x.aside++
		c.gated = aside
		return letThrough
	case g.roomLocked(client, x) && g.firstLocked() == nil:
		g.within++
		x.within++
		c.gated = within
		return letThrough
	case len(x.waiting) >= maxWaiting || tooMuch(x.waiting, len(m.Frame)):
		return turnedAway
	}
	g.turn++
	g.waits++
	x.waiting = append(x.waiting, waiting{*c, b.Preview(m.Frame), g.turn})
	return hasToWait
}

// firstLocked returns the client whose call is let through next; nil: none can be.
func (g *gate) firstLocked() (first *share) {
	if g.waits == 0 || g.within >= g.most {
		return nil
	}
	for client, x := range g.of {
		if len(x.waiting) == 0 || !g.roomLocked(client, x) {
			continue
		}
		if first == nil || x.within < first.within || x.within == first.within && x.waiting[0].turn < first.waiting[0].turn {
			first = x
		}
	}
	return first
}

// each calls f for all that wait. f must not use g.
func (g *gate) each(f func(*call)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.of {
		for i := range x.waiting {
			f(&x.waiting[i].call)
		}
	}
}

// leave notes that a call is over.
func (g *gate) leave(c *call) {
	if c.gated == notGated {
		return
	}
	client := c.session.who.Principal.Client()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch x := g.shareLocked(client); c.gated {
	case within:
		g.within--
		x.within--
	case lingering:
		x.lingering--
	case aside:
		x.aside--
	}
	c.gated = notGated
	g.forgetLocked(client)
}

// linger makes a call that was let through one whose place is free, but for its client.
func (g *gate) linger(c *call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.shareLocked(c.session.who.Principal.Client())
	g.within--
	x.within--
	x.lingering++
	c.gated = lingering
}

// next lets the call through whose turn it is, if there is room.
func (g *gate) next() (w waiting, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.firstLocked()
	if x == nil {
		return w, false
	}
	w = x.waiting[0]
	x.waiting[0] = waiting{}
	if x.waiting = x.waiting[1:]; len(x.waiting) == 0 {
		x.waiting = nil
	}
	g.waits--
	g.within++
	x.within++
	w.call.gated = within
	return w, true
}

// takeBack removes the calls that match, and returns them in the order in which they came. Whoever gets
// one answers it.
func (g *gate) takeBack(match func(*call) bool) []call {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waits == 0 {
		return nil
	}
	var all []waiting
	for client, x := range g.of {
		x.waiting = slices.DeleteFunc(slices.Clone(x.waiting), func(w waiting) bool {
			if !match(&w.call) {
				return false
			}
			all = append(all, w)
			return true
		})
		g.forgetLocked(client)
	}
	g.waits -= len(all)
	slices.SortFunc(all, func(a, b waiting) int { return cmp.Compare(a.turn, b.turn) })
	taken := make([]call, len(all))
	for i := range all {
		taken[i] = all[i].call
	}
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
	if u.gate == nil {
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
		text := fmt.Sprintf("server %s has %d calls under way, as many as it may have (max_concurrent_calls), and too many wait for their turn; "+
			"this one was not passed on: try again when some of them are answered", u.Name, u.gate.most)
		if !counts(c.method) {
			text = fmt.Sprintf("server %s has %d requests of this client that are no calls, as many as it may have of one; "+
				"this one was not passed on: try again when some of them are answered", u.Name, maxAside)
		}
		c.fail(text, audit.Refused, b)
	}
	return false
}

// over notes that a call, which was taken, is over for the server, and passes on those
// that have waited for that. The batch has no edits.
func (u *Upstream) over(c *call, b *jsonrpc.Batch) {
	if c.gated != notGated {
		u.gate.leave(c)
		u.letOn(b)
	}
}

// lateAnswer is how long a server at a url may still answer a call that was cancelled, in the legacy
// era: mcpwire/streamhttp keeps its request open for so long.
const lateAnswer = 5 * time.Second

// calledOff is over for a call that was taken back. As long as its request is open it counts in its
// client's share, so that no client has more requests open by cancelling them.
func (u *Upstream) calledOff(c *call, b *jsonrpc.Batch) {
	if u.Dial != nil && !u.modern && c.gated == within {
		off := *c
		u.gate.linger(&off)
		time.AfterFunc(lateAnswer, func() {
			var b jsonrpc.Batch
			u.over(&off, &b)
			b.Flush()
		})
		c.gated = notGated
		u.letOn(b)
		return
	}
	u.over(c, b)
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
