package input

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A turn is the request of a modern client that waits for a call which was suspended
// before: its own, first request was answered with questions. Without an id, none does.
type turn struct {
	upstream.IDs
	logs upstream.LogThreshold
	n    uint64
}

// translationOf returns what a call needs beyond itself; nil for nothing.
func translationOf(c *upstream.Call) *translation {
	x, _ := c.Context.(*translation)
	return x
}

// KeepRequest keeps the frame of a legacy client's call for a modern server that may want it again.
func KeepRequest(c *upstream.Call, frame []byte) { translationOf(c).request = frame }

// CapabilitiesOf returns what the modern client of a call to a legacy server has declared.
func CapabilitiesOf(c *upstream.Call) []byte { return translationOf(c).capabilities }

// Earlier is how many nanoseconds a call took before it was last passed on.
func Earlier(c *upstream.Call) int64 {
	if x := translationOf(c); x != nil {
		return x.before
	}
	return 0
}

// Current gives the call the ids of the request that waits for it now, and
// reports whether there is one. Conn.Mu is held.
func Current(c *upstream.Call) (open bool) {
	x := translationOf(c)
	if !c.Modern || x == nil || x.asked == 0 {
		return true
	}
	c.IDs, c.Logs = x.turn.IDs, x.turn.logs
	if open = len(c.ID()) > 0; open {
		c.TraceID = x.turn.n
	}
	return open
}

// CurrentUnlocked is Current for code that does not hold Conn.Mu.
func (s *Requests) CurrentUnlocked(c *upstream.Call) (open bool) {
	if !c.Modern || c.Context == nil {
		return true
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return Current(c)
}

// IsFor reports whether the client's request with this id waits for a call.
func (s *Requests) IsFor(c *upstream.Call, id []byte) bool {
	return s.made(c) && Current(c) && bytes.Equal(c.ID(), id)
}

// An ending answers the client's request for a call that has ended. Conn.Mu may be
// held. It gets a copy, so that calls need no memory of their own.
type ending func(c upstream.Call, out *peer.Outgoing)

// Conclude answers a call, which was taken: at once, or when its client comes back. One that
// has expired has no answer.
func Conclude(c *upstream.Call, end ending, out *peer.Outgoing) {
	if Current(c) {
		end(*c, out)
	} else if p := translationOf(c).suspended; p != nil {
		p.end = end
	}
}

// Failing is the ending with a failure of toolman's own.
func (s *Requests) Failing(problem string, how audit.Outcome) ending {
	return func(c upstream.Call, out *peer.Outgoing) { s.FailCall(&c, problem, how, out) }
}

// awaited reports whether a request of the client waits for the answer of a call, which
// has the ids of that request then. An answer that comes while the call is suspended
// is kept.
func (s *Requests) awaited(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if Current(c) {
		return true
	}
	p := translationOf(c).suspended
	if p == nil {
		return false
	}
	if !s.suspensions.fits(len(m.Frame)) {
		Conclude(c, s.Failing(fmt.Sprintf("server %s has answered before it had all answers of the client, and too long to be kept", u.Name), audit.Failed), nil)
		return false
	}
	s.suspensions.grow(p, len(m.Frame))
	p.end = s.kept(u, bytes.Clone(m.Frame))
	return false
}

// kept is the ending with an answer that has come before.
func (s *Requests) kept(u *upstream.Upstream, frame []byte) ending {
	return func(c upstream.Call, out *peer.Outgoing) {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			s.cross(u, &c, &m, out, &tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name()})
		}
	}
}
