package router

import (
	"strconv"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/tracing"
)

// cancelLocked passes a cancellation on to the upstream that has the call. The
// client gets no answer any more (2025-11-25, Cancellation). Unknown ids are
// ignored: some clients cancel what is long answered.
func (s *Session) cancelLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	var dropped call
	var our uint64
	var u *Upstream
	at, err := mcpwire.IDParam(m, "requestId")
	if err == nil && at.Present() {
		if r := s.roundOfLocked(m.Bytes(at)); r != nil {
			s.trace.Notification(tracing.Client, s.name(), m, r.call.n)
			s.closeRoundLocked(r, out)
			r.call.audited.End(audit.Cancelled)
			return
		}
		dropped, u, our = s.dropLocked(m.Bytes(at), out)
		dropped.audited.End(audit.Cancelled)
	}
	s.trace.Notification(tracing.Client, s.name(), m, dropped.n)
	if u == nil {
		return
	}
	u.pending.late.add(our)
	var envelope mcpwire.Envelope
	if err := envelope.Read(m); err == nil && envelope.Claims() && !u.source.Modern {
		out.SetEdits(mcpwire.StripEnvelope(out.Edits(), m, &envelope))
	}
	out.Edit(at, out.Number(our))
	u.send(out, m, &tracing.Note{ID: dropped.n, Method: mcpwire.Cancelled})
	u.calledOff(&dropped, out)
}

// dropLocked forgets the request with this id. It returns the call, of which at least
// the correlation number is known, and, when an upstream has it, that and the id there.
func (s *Session) dropLocked(id []byte, out *peer.Outgoing) (c call, u *Upstream, our uint64) {
	if batches := s.front.batches.Load(); batches != nil {
		batches.Forget(id)
	}
	if n, ok := s.unparkLocked(id); ok {
		return call{n: n}, nil, 0
	}
	if n, ok := s.dropLogLevelLocked(id); ok {
		return call{n: n}, nil, 0
	}
	if n, ok := s.dropBackgroundLocked(id); ok {
		return call{n: n}, nil, 0
	}
	if h := s.forgetReplyLocked(id); h != nil {
		return call{n: h.n, audited: h.audited}, nil, 0
	}
	if s.unlistenLocked(id, out) {
		return call{}, nil, 0
	}
	for _, u := range s.reachLocked() {
		if our, c, ok := u.pending.calls.TakeIf(func(c call) bool { return c.is(s, id) }); ok {
			return c, u, our
		}
		if c, ok := s.dropWaitingLocked(u, id); ok {
			return c, nil, 0
		}
	}
	return call{}, nil, 0
}

// dropWaitingLocked forgets a call that waits at an upstream's limiter.
func (s *Session) dropWaitingLocked(u *Upstream, id []byte) (c call, ok bool) {
	u.pending.limiter.Remove(func(w *queuedCall) bool {
		if ok || !w.is(s, id) {
			return false
		}
		c, ok = w.call, true
		return true
	})
	return c, ok
}

// callOff takes a call back from the server, and returns it, unless somebody else has
// taken it before.
func (u *Upstream) callOff(id uint64, reason string, out *peer.Outgoing) (c call, ok bool) {
	if c, ok = u.pending.calls.Take(id); ok {
		u.pending.late.add(id)
		u.sendFrame(out, cancellation(id, reason), tracing.Note{ID: c.n, Method: mcpwire.Cancelled})
		u.calledOff(&c, out)
	}
	return c, ok
}

// cancellation takes back a request with an id of toolman's own.
func cancellation(id uint64, reason string) []byte {
	params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
	params = append(jsonrpc.AppendQuoted(append(params, `,"reason":`...), reason), '}')
	return jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), params)
}
