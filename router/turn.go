package router

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/router/audit"
	"toolman/router/tracing"
)

// A turn is the request of a modern client that waits for a call which was suspended
// before: its own, first request was answered with questions. Without an id, none does.
type turn struct {
	ids
	logs logThreshold
	n    uint64
}

// currentLocked gives the call the ids of the request that waits for it now, and
// reports whether there is one. Session.mu is held.
func (c *call) currentLocked() (open bool) {
	if !c.modern || c.translation == nil || c.translation.asked == 0 {
		return true
	}
	c.ids, c.logs = c.translation.turn.ids, c.translation.turn.logs
	if open = len(c.id()) > 0; open {
		c.n = c.translation.turn.n
	}
	return open
}

// current is currentLocked for those who do not hold Session.mu.
func (c *call) current() (open bool) {
	if !c.modern || c.translation == nil {
		return true
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.currentLocked()
}

// An ending answers the client's request for a call that has ended. Session.mu may be
// held. It gets a copy, so that calls need no memory of their own.
type ending func(c call, out *peer.Outgoing)

// concludeLocked answers a call, which the caller has taken: at once, or when its
// client comes back. One that has expired has no answer.
func (c *call) concludeLocked(end ending, out *peer.Outgoing) {
	open := c.currentLocked()
	switch {
	case open:
		end(*c, out)
	case c.translation.suspended != nil:
		c.translation.suspended.end = end
	}
}

// fail answers a call, which the caller has taken, with a failure of toolman's own: so
// it has ended. Session.mu is not held.
func (s *Session) fail(c *call, problem string, how audit.Outcome, out *peer.Outgoing) {
	c.audited.End(how)
	end := failing(problem, how)
	if !c.modern || c.translation == nil {
		end(*c, out)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.concludeLocked(end, out)
}

// failing is the ending with a failure of toolman's own.
func failing(problem string, how audit.Outcome) ending {
	return func(c call, out *peer.Outgoing) { c.fail(problem, how, out) }
}

// fail answers the request that waits for the call with a failure of toolman's own.
func (c *call) fail(problem string, how audit.Outcome, out *peer.Outgoing) {
	c.audited.End(how)
	said := tracing.Note{ID: c.n, Method: c.method}
	if how == audit.Timeout {
		said.Status = trace.StatusTimeout
	}
	c.session.tellObserver(c.id(), Reason{Outcome: how, Text: problem})
	c.session.send(out, c.failure(jsonrpc.CodeInternalError, problem), said)
}

// awaited reports whether a request of the client waits for the answer of a call, which
// has the ids of that request then. An answer that comes while the call is suspended
// is kept.
func (s *Session) awaited(u *Upstream, c *call, m *jsonrpc.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.currentLocked() {
		return true
	}
	p := c.translation.suspended
	if p == nil {
		return false
	}
	if !s.input.suspensions.fits(len(m.Frame)) {
		c.concludeLocked(failing(fmt.Sprintf("server %s has answered before it had all answers of the client, and too long to be kept", u.Name), audit.Failed), nil)
		return false
	}
	s.input.suspensions.grow(p, len(m.Frame))
	p.end = kept(u, bytes.Clone(m.Frame))
	return false
}

// kept is the ending with an answer that has come before.
func kept(u *Upstream, frame []byte) ending {
	return func(c call, out *peer.Outgoing) {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			u.cross(&c, &m, out, &tracing.Note{ID: c.n, Method: c.method, Name: c.name()})
		}
	}
}
