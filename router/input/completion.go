package input

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A clientRequest is the modern client's request that waits for a call that was suspended before.
// The client's first request for that call was answered with questions. With an empty ID, no
// request waits.
type clientRequest struct {
	calls.IDs
	logs    calls.LogThreshold
	traceID uint64
}

// translationOf returns the translation state of a call, or nil if the call needs none.
func translationOf(c *calls.Call) *translation {
	x, _ := c.Context.(*translation)
	return x
}

// KeepRequest keeps the frame of a legacy client's call to a modern server, which may require that
// the call is repeated.
func KeepRequest(c *calls.Call, frame []byte) { translationOf(c).request = frame }

// CapabilitiesOf returns the capabilities that the modern client declared with a call to a legacy
// server.
func CapabilitiesOf(c *calls.Call) []byte { return translationOf(c).capabilities }

// EarlierTime returns how many nanoseconds a call took before it was last sent to the server.
func EarlierTime(c *calls.Call) int64 {
	if x := translationOf(c); x != nil {
		return x.earlierTime
	}
	return 0
}

// UpdateIDs gives the call the IDs of the client's request that currently waits for it. It reports
// whether there is such a request. Conn.Mu must be held.
func UpdateIDs(c *calls.Call) (open bool) {
	x := translationOf(c)
	if !c.Modern || x == nil || x.asked == 0 {
		return true
	}
	c.IDs, c.Logs = x.current.IDs, x.current.logs
	if open = len(c.ID()) > 0; open {
		c.TraceID = x.current.traceID
	}
	return open
}

// LockAndUpdateIDs is UpdateIDs for callers that do not hold Conn.Mu.
func (s *Requests) LockAndUpdateIDs(c *calls.Call) (open bool) {
	if !c.Modern || c.Context == nil {
		return true
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return UpdateIDs(c)
}

// HasRequestID reports whether the client's request with this ID waits for the call.
func (s *Requests) HasRequestID(c *calls.Call, id []byte) bool {
	return s.owns(c) && UpdateIDs(c) && bytes.Equal(c.ID(), id)
}

// A completion answers the client's request for a call that has ended. Conn.Mu may be held. It
// receives a copy of the call, so that calls need no heap memory of their own.
type completion func(c calls.Call, out *peer.Outgoing)

// Conclude answers a call that was taken out of the pending calls: now, or when its client resumes
// it. A call whose suspension has expired gets no answer.
func Conclude(c *calls.Call, end completion, out *peer.Outgoing) {
	if UpdateIDs(c) {
		end(*c, out)
	} else if p := translationOf(c).suspended; p != nil {
		p.completion = end
	}
}

// Failure returns the completion that reports a failure in toolman.
func (s *Requests) Failure(problem string, how audit.Outcome) completion {
	return func(c calls.Call, out *peer.Outgoing) { s.FailCall(&c, problem, how, out) }
}

// openOrStore reports whether a request of the client waits for the answer of a call, and then
// gives the call that request's IDs. If the call is suspended, openOrStore stores the answer.
func (s *Requests) openOrStore(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if UpdateIDs(c) {
		return true
	}
	p := translationOf(c).suspended
	if p == nil {
		return false
	}
	if !s.suspensions.fits(len(m.Frame)) {
		Conclude(c, s.Failure(fmt.Sprintf("server %s answered before it had all answers of the client, and its answer is too long to store", u.Name), audit.Failed), nil)
		return false
	}
	s.suspensions.reserve(p, len(m.Frame))
	p.completion = s.storedAnswer(u, bytes.Clone(m.Frame))
	return false
}

// storedAnswer returns the completion that delivers an answer that arrived during the suspension.
func (s *Requests) storedAnswer(u *upstream.Upstream, frame []byte) completion {
	return func(c calls.Call, out *peer.Outgoing) {
		var m jsonrpc.Message
		if jsonrpc.Scan(frame, &m) == nil {
			s.translateAnswer(u, &c, &m, out, &tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name()})
		}
	}
}
