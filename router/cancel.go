package router

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// cancelLocked passes a cancellation on to the upstream that has the call. The
// client gets no answer any more (2025-11-25, Cancellation). Unknown ids are
// ignored: some clients cancel what is long answered.
func (s *Session) cancelLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	var dropped upstream.Call
	var our uint64
	var u *upstream.Upstream
	at, err := mcpwire.IDParam(m, "requestId")
	if err == nil && at.Present() {
		if s.input.CancelRound(m.Bytes(at), m, out) {
			return
		}
		dropped, u, our = s.dropLocked(m.Bytes(at), out)
		dropped.Audited.End(audit.Cancelled)
	}
	s.Trace.Notification(tracing.Client, s.Name(), m, dropped.TraceID)
	if u == nil {
		return
	}
	if envelope, err := mcpwire.EnvelopeOf(m); err == nil && envelope.Claims() && !u.Source.Modern {
		out.SetEdits(mcpwire.StripEnvelope(out.Edits(), m, &envelope))
	}
	u.PassCancel(our, &dropped, m, at, out)
}

// dropLocked forgets the request with this id. It returns the call, of which at least
// the correlation number is known, and, when an upstream has it, that and the id there.
func (s *Session) dropLocked(id []byte, out *peer.Outgoing) (c upstream.Call, u *upstream.Upstream, our uint64) {
	if batches := s.Front.Batches.Load(); batches != nil {
		batches.Forget(id)
	}
	if n, ok := s.unparkLocked(id); ok {
		return upstream.Call{TraceID: n}, nil, 0
	}
	if n, ok := s.dropLogLevelLocked(id); ok {
		return upstream.Call{TraceID: n}, nil, 0
	}
	if n, ok := s.dropBackgroundLocked(id); ok {
		return upstream.Call{TraceID: n}, nil, 0
	}
	if h := s.forgetReplyLocked(id); h != nil {
		return upstream.Call{TraceID: h.n, Audited: h.audited}, nil, 0
	}
	if s.subscriptions.Cancel(id, out) {
		return upstream.Call{}, nil, 0
	}
	for _, u := range s.servers.Reachable() {
		switch our, c, ok := u.TakeCall(func(c *upstream.Call) bool { return s.input.IsFor(c, id) }); {
		case ok && our > 0:
			return c, u, our
		case ok:
			return c, nil, 0
		}
	}
	return upstream.Call{}, nil, 0
}
