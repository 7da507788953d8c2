package router

import (
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// maxPermits is how many calls of dangerous tools a modern client may have been asked
// about; the oldest are forgotten.
const maxPermits = 256

// A permit lets a modern client come back, once, for a call of a dangerous tool: with
// these arguments and this state. Without one, no retry of such a call goes to the server:
// states are anybody's to make up.
type permit struct {
	about   requestHash
	entry   *catalog.Entry // as it was when the person was asked
	state   uint64         // hash of what the client has to come back with
	agreed  bool           // a person has agreed to the call already; else the client brings their answer
	expires int64          // on the router's clock
}

// permits are those of a session, oldest first.
type permits []permit

// add makes a permit, and forgets what has expired or is too much.
func (all *permits) add(p permit, now int64) {
	*all = slices.DeleteFunc(*all, func(p permit) bool { return p.expires < now })
	if len(*all) == maxPermits {
		*all = slices.Delete(*all, 0, 1)
	}
	*all = append(*all, p)
}

// take uses up a permit.
func (all *permits) take(about requestHash, state uint64, now int64) (permit, bool) {
	i := slices.IndexFunc(*all, func(p permit) bool { return p.about == about && p.state == state && p.expires >= now })
	if i < 0 {
		return permit{}, false
	}
	p := (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return p, true
}

// permitLocked lets the client come back with a state, for a tool as it is now.
func (s *Session) permitLocked(about requestHash, e *catalog.Entry, state []byte, agreed bool) {
	now := s.Clock.Now()
	s.input.permits.add(permit{about, e, s.r.signer.hash(state), agreed, now + int64(stateLife)}, now)
}

// checkRetryLocked is clearedLocked for a modern client.
func (s *Session) checkRetryLocked(req *client.Request, t catalog.Target) bool {
	retry, err := inputreq.RetryOf(req.Message)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	about := s.r.signer.requestHash(req.Message, mcpwire.ToolsCall, t)
	if !retry.Is() {
		s.requestConfirmationLocked(req, t, about)
		return false
	}
	state := req.Text(retry.State.Value)
	p, ok := s.input.permits.take(about, s.r.signer.hash(state), s.Clock.Now())
	switch {
	case ok && p.entry != t.Entry:
		s.denyUnconfirmedLocked(req, t.Entry, changedMeanwhile)
	case ok && p.agreed:
		req.Decision = s.Decide(req, t, audit.Confirmed, req.TraceID)
		return true
	case ok:
		s.answeredForLocked(req, t, about, &retry)
	default:
		return s.resumableLocked(req, t, about, state)
	}
	return false
}

// requestConfirmationLocked answers a call with the question whether it may be made.
func (s *Session) requestConfirmationLocked(req *client.Request, t catalog.Target, about requestHash) {
	ask, err := s.r.confirmation(req.Message, t.Entry)
	if err != nil {
		s.denyUnconfirmedLocked(req, t.Entry, err.Error())
		return
	}
	if missing := inputreq.Lacks(req.Bytes(req.Envelope.Capabilities.Value), ask.Method, ask.Params); missing != "" {
		req.Decision = s.Decide(req, t, audit.Unconfirmed, req.TraceID)
		why := mcpwire.MissingCapability(missing, t.Entry.NotRun(unaskable(missing)))
		s.TellObserver(req.Bytes(req.ID), client.ReasonFor(string(audit.Unconfirmed), why.Message))
		s.Declined(req, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	s.Decide(req, t, audit.Asked, n).End(audit.InputRequired)
	state := s.stateFor(about, stateConfirm, newCallID())
	s.permitLocked(about, t.Entry, []byte(state), false)
	s.Send(req.Out, inputreq.AppendInputRequired(nil, req.Bytes(req.ID), []inputreq.Ask{ask}, state),
		tracing.Note{ID: n, Method: mcpwire.ToolsCall, Name: t.Entry.Name, Status: "local"})
}

// answeredForLocked makes a call whose client has come back with a person's answer, if
// that is consent. Without an answer it is asked again.
func (s *Session) answeredForLocked(req *client.Request, t catalog.Target, about requestHash, retry *inputreq.Retry) {
	answer, err := retry.Response(req.Message, confirmKey)
	if err != nil {
		s.DeclineError(req, err)
		return
	}
	if !answer.Present() {
		s.requestConfirmationLocked(req, t, about)
		return
	}
	if why := refused(req.Message, answer); why != "" {
		req.Decision = s.Decide(req, t, audit.Declined, req.TraceID)
		s.denyUnconfirmedLocked(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	req.Decision = s.Decide(req, t, audit.Asked, s.TraceArrival(req, name))
	frame := jsonrpc.AppendSplice(nil, req.Frame, jsonrpc.AppendRemoval(nil, req.Frame, req.Params, retry.Responses, retry.State)...)
	first, err := req.Rewritten(frame) // the call, as it was before it was a retry
	if err != nil {
		s.denyUnconfirmedLocked(req, t.Entry, err.Error())
		return
	}
	s.passAgreedLocked(first, t.Entry)
}

// resumableLocked deals with a retry that there is no permit for. One may be for a call
// that runs already, in a legacy server: that one is not made again.
func (s *Session) resumableLocked(req *client.Request, t catalog.Target, about requestHash, state []byte) bool {
	st, ours := s.r.signer.verifyState(state, about, s.Who.Principal)
	switch {
	case !ours:
		s.Decline(req, errStrangeState)
	case st.kind == stateResume && !t.Source.Modern:
		return true
	default:
		s.Decline(req, errStaleState)
	}
	return false
}

// markLocked notes what a modern server's call of a dangerous tool is about: what the
// server asks during it, its client may come back with.
func (s *Session) markLocked(req *client.Request, c *upstream.Call, t catalog.Target) {
	if t.Entry.AsksFirst() && c.Modern && t.Source.Modern {
		c.Context = &translation{about: s.r.signer.requestHash(req.Message, c.Method, t)}
	}
}

// permitRetry lets the client come back with what a modern server asks during a dangerous
// tool's call. A person has agreed to that call already.
func (s *Session) permitRetry(c *upstream.Call, m *jsonrpc.Message) {
	r, err := mcpwire.ResultOf(m)
	if err != nil || r.ResultType(m) != mcpwire.ResultInputRequired {
		return
	}
	in, err := inputreq.InputOf(&r, m)
	if err != nil {
		return
	}
	s.Mu.Lock()
	s.permitLocked(translationOf(c).about, c.Entry, m.Text(in.State), true)
	s.Mu.Unlock()
}
