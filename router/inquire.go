package router

import (
	"fmt"
	"strconv"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// inquireLocked asks a modern client what a legacy server asks during its call. It
// reports false when no such call is open. Nothing on the wire says to which of several
// calls a question belongs: the newest has it.
func (s *Session) inquireLocked(q *serverRequest, m *jsonrpc.Message, out *peer.Outgoing) bool {
	u := q.from
	if !s.Peer.Modern || u.Source.Modern || !inputreq.AsksClient(mcpwire.Method(q.method)) {
		return false
	}
	id, c, ok := s.newestLocked(u)
	if !ok {
		return false
	}
	ask, err := inputreq.AskOf(m, strconv.Itoa(translationOf(&c).asked))
	switch {
	case err != nil:
		refuseAsk(q, jsonrpc.CodeInvalidParams, err.Error(), out)
	case ask.Params == nil && ask.Method != mcpwire.ListRoots:
		refuseAsk(q, jsonrpc.CodeInvalidParams, "params must be an object", out)
	case s.input.suspensions.closed:
		refuseAsk(q, jsonrpc.CodeInternalError, "the client is gone", out)
	default:
		s.askDuringLocked(u, id, &c, inquiry{*q, ask}, out)
	}
	return true
}

// newestLocked returns the newest call, with this server, that a modern client can be
// asked during.
func (s *Session) newestLocked(u *upstream.Upstream) (id uint64, c upstream.Call, ok bool) {
	u.EachCall(func(at uint64, one upstream.Call) {
		if at > id && s.made(&one) && one.Modern && one.Context != nil {
			id, c, ok = at, one, true
		}
	})
	currentLocked(&c)
	return id, c, ok
}

func (s *Session) askDuringLocked(u *upstream.Upstream, id uint64, c *upstream.Call, q inquiry, out *peer.Outgoing) {
	switch {
	case s.lacksLocked(u, id, c, &q, out):
	case translationOf(c).suspended != nil:
		s.enqueueLocked(translationOf(c).suspended, q, out)
	case len(s.input.suspensions.calls) >= maxSuspended || !s.input.suspensions.fits(q.size()):
		const why = "too many calls wait for answers of the client"
		refuseAsk(&q.serverRequest, jsonrpc.CodeInternalError, why, out)
		s.breakOffLocked(u, id, why, s.failing(why+", so this one was cancelled; answer the others first", audit.Failed), out)
	default:
		s.suspendLocked(u, id, c, []inquiry{q}, out)
	}
}

// lacksLocked ends a call during which the server asks what the client has not declared
// that it can do. It reports whether that is so.
func (s *Session) lacksLocked(u *upstream.Upstream, id uint64, c *upstream.Call, q *inquiry, out *peer.Outgoing) bool {
	lacking := inputreq.Lacks(translationOf(c).capabilities, q.ask.Method, q.ask.Params)
	if lacking == "" {
		return false
	}
	refuseAsk(&q.serverRequest, jsonrpc.CodeMethodNotFound, "the client has not declared the capability "+lacking, out)
	s.breakOffLocked(u, id, "the client cannot be asked what the server asks", s.refusing(missing(u, lacking)), out)
	return true
}

// missing refuses a call of a client that cannot do what the server needs.
func missing(u *upstream.Upstream, lacking string) *mcpwire.Refusal {
	return mcpwire.MissingCapability(lacking, fmt.Sprintf("server %s needs of the client, for this call, a capability that it has not declared: %s", u.Name, lacking))
}

// refusing is the ending with an error that the specification prescribes.
func (s *Session) refusing(why *mcpwire.Refusal) ending {
	return func(c upstream.Call, out *peer.Outgoing) {
		s.Send(out, why.Append(nil, c.ID()), tracing.Note{ID: c.TraceID, Method: c.Method})
	}
}

// breakOffLocked ends a call on both sides.
func (s *Session) breakOffLocked(u *upstream.Upstream, id uint64, reason string, end ending, out *peer.Outgoing) {
	if c, ok := u.CallOff(id, reason, out); ok {
		c.Audited.End(audit.Failed)
		concludeLocked(&c, end, out)
	}
}

// askURLs has the client send its user to the URLs that a legacy server's error names.
// The call is over there: it is made again when the client comes back.
func (s *Session) askURLs(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message, out *peer.Outgoing) error {
	asks, err := inputreq.URLAsks(m)
	if err != nil {
		return err
	}
	for _, ask := range asks {
		if lacking := inputreq.Lacks(translationOf(c).capabilities, ask.Method, ask.Params); lacking != "" {
			s.refusing(missing(u, lacking))(*c, out)
			return nil
		}
	}
	state := s.stateFor(translationOf(c).about, stateAgain, newCallID())
	if c.Entry.AsksFirst() {
		s.Mu.Lock()
		s.permitLocked(translationOf(c).about, c.Entry, []byte(state), true)
		s.Mu.Unlock()
	}
	s.sendAsks(c, asks, state, out)
	return nil
}
