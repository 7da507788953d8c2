package input

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A call of a dangerous tool waits here for a person to agree to it (confirm = "elicit").
// A legacy client is asked, and the call made when it has answered: until then it is a
// round without a server's state. A modern client is told what it has to answer, and
// comes back with that.

// Confirmed reports whether a call of a tool may go to its server now. If not, it was
// dealt with: refused, or asked about.
func (s *Requests) Confirmed(req *client.Request, t catalog.Target) bool {
	if !t.Entry.AsksFirst() {
		return true
	}
	// What is not clear to toolman would not be what a person has seen and agreed to.
	if _, err := req.Param("arguments"); err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return false
	}
	if req.Modern {
		return s.checkRetry(req, t)
	}
	s.confirm(req, t)
	return false
}

// confirm asks a legacy client whether a call may be made.
func (s *Requests) confirm(req *client.Request, t catalog.Target) {
	ask, err := confirmation(req.Message, t.Entry, s.scrub())
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	if why := s.unaskable(&ask, len(req.Frame)); why != "" {
		s.DenyUnconfirmed(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	c := upstream.Call{Caller: s.Caller, Method: mcpwire.ToolsCall, Entry: t.Entry, TraceID: s.TraceArrival(req, name)}
	c.Keep(req.Message, jsonrpc.Span{})
	c.Audited = s.BeginAudit(req, t, audit.Asked, c.TraceID)
	r := &inputRound{from: upstream.Of(t.Source), call: c, frame: bytes.Clone(req.Frame)}
	s.rounds = append(s.rounds, r)
	r.timer = time.AfterFunc(roundTime, func() { s.roundDue(r) })
	if id, ok := s.addInput(r, ask.Method, nil, req.Out); ok {
		s.Send(req.Out, ask.AppendRequest(nil, id, ""), tracing.Note{ID: c.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// unaskable says why a legacy client cannot be asked for a person's consent, or "".
func (s *Requests) unaskable(ask *inputreq.Ask, size int) string {
	since := inputreq.AskedSince(ask.Method, ask.Params)
	missing := inputreq.Lacks(s.Peer.Hello.Capabilities, ask.Method, ask.Params)
	switch {
	case missing != "":
		return unaskable(missing)
	case mcpwire.Negotiate(s.Peer.Hello.Version) < since:
		return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: that came with revision %s, and it speaks %s. Use a client that can", since, s.Peer.Hello.Version)
	case len(s.rounds) >= openRounds || client.OverBytes(s.rounds, size):
		return "a person has to agree first, and too many calls wait for answers already; answer those and call again"
	}
	return ""
}

// unaskable says that a client cannot be asked.
func unaskable(missing string) string {
	return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: it has not declared the capability %s. "+
		"Use a client that has it, or have confirm changed in the configuration", missing)
}

// consent goes on with a round's call, which a person has been asked about.
func (s *Requests) consent(r *inputRound, m *jsonrpc.Message, out *peer.Outgoing) {
	if why := refused(m, m.Result); why != "" {
		r.call.Audited.Decide(audit.Declined)
		s.failRound(r, why, audit.Refused, out)
	} else if s.closeRound(r, out) {
		s.again(r, out, func(asked *client.Request) { s.onAgreed(asked, r.call.Entry) })
	}
}

// again has the call of a round that is closed handled as it came.
func (s *Requests) again(r *inputRound, out *peer.Outgoing, handle func(asked *client.Request)) {
	req, err := client.ReadRequest(r.frame, out)
	if err != nil {
		return // it was read when it came
	}
	req.TraceID, req.Decision = r.call.TraceID, r.call.Audited
	handle(req)
}

// ChangedMeanwhile refuses a call whose tool is not the one that a person has agreed to.
const ChangedMeanwhile = "it was changed by its server while a person was asked; look at its definition, and call it again"

// has reports whether a tool is still what it was, and may still be called.
func (s *Requests) has(e *catalog.Entry) bool {
	t, verdict := s.View.Load().Find(mcpwire.Tool, []byte(e.Name))
	return verdict == catalog.Active && t.Entry == e
}

// refused decides whether a person has agreed: it says why an answer to the question is
// no consent, or "". Only a plain "accept" is one.
func refused(m *jsonrpc.Message, answer jsonrpc.Span) string {
	action, err := m.Get(answer, "action")
	if err != nil {
		return "the client's answer is not clear: " + err.Error()
	}
	switch string(m.Text(action)) {
	case "accept":
		return ""
	case "decline":
		return "the person at the client declined. Do not try again; go on without it"
	case "cancel":
		return "the person at the client dismissed the question without an answer. Ask them before you try again"
	}
	return "the client's answer is no consent"
}

// DenyUnconfirmed refuses a call of a dangerous tool that it takes a person's consent for.
func (s *Requests) DenyUnconfirmed(req *client.Request, e *catalog.Entry, why string) {
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: e.NotRun(why), Verdict: string(audit.Unconfirmed), About: catalog.At(e)})
}

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

// permit lets the client come back with a state, for a tool as it is now.
func (s *Requests) permit(about requestHash, e *catalog.Entry, state []byte, agreed bool) {
	now := s.Clock.Now()
	s.permits.add(permit{about, e, s.signer.hash(state), agreed, now + int64(stateLife)}, now)
}

// checkRetry is Confirmed for a modern client.
func (s *Requests) checkRetry(req *client.Request, t catalog.Target) bool {
	retry, err := inputreq.RetryOf(req.Message)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	about := s.signer.requestHash(req.Message, mcpwire.ToolsCall, t)
	if !retry.Is() {
		s.requestConfirmation(req, t, about)
		return false
	}
	state := req.Text(retry.State.Value)
	p, ok := s.permits.take(about, s.signer.hash(state), s.Clock.Now())
	switch {
	case ok && p.entry != t.Entry:
		s.DenyUnconfirmed(req, t.Entry, ChangedMeanwhile)
	case ok && p.agreed:
		req.Decision = s.BeginAudit(req, t, audit.Confirmed, req.TraceID)
		return true
	case ok:
		s.answeredFor(req, t, about, &retry)
	default:
		return s.resumable(req, t, about, state)
	}
	return false
}

// requestConfirmation answers a call with the question whether it may be made.
func (s *Requests) requestConfirmation(req *client.Request, t catalog.Target, about requestHash) {
	ask, err := confirmation(req.Message, t.Entry, s.scrub())
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	if missing := inputreq.Lacks(req.Bytes(req.Envelope.Capabilities.Value), ask.Method, ask.Params); missing != "" {
		req.Decision = s.BeginAudit(req, t, audit.Unconfirmed, req.TraceID)
		why := mcpwire.MissingCapability(missing, t.Entry.NotRun(unaskable(missing)))
		s.NotifyObserver(req.Bytes(req.ID), client.ReasonFor(string(audit.Unconfirmed), why.Message))
		s.SendDecline(req, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	s.BeginAudit(req, t, audit.Asked, n).End(audit.InputRequired)
	state := s.stateFor(about, stateConfirm, newCallID())
	s.permit(about, t.Entry, []byte(state), false)
	s.Send(req.Out, inputreq.AppendInputRequired(nil, req.Bytes(req.ID), []inputreq.Ask{ask}, state),
		tracing.Note{ID: n, Method: mcpwire.ToolsCall, Name: t.Entry.Name, Status: "local"})
}

// answeredFor makes a call whose client has come back with a person's answer, if
// that is consent. Without an answer it is asked again.
func (s *Requests) answeredFor(req *client.Request, t catalog.Target, about requestHash, retry *inputreq.Retry) {
	answer, err := retry.Response(req.Message, confirmKey)
	if err != nil {
		s.DeclineError(req, err)
		return
	}
	if !answer.Present() {
		s.requestConfirmation(req, t, about)
		return
	}
	if why := refused(req.Message, answer); why != "" {
		req.Decision = s.BeginAudit(req, t, audit.Declined, req.TraceID)
		s.DenyUnconfirmed(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	req.Decision = s.BeginAudit(req, t, audit.Asked, s.TraceArrival(req, name))
	frame := jsonrpc.AppendSplice(nil, req.Frame, jsonrpc.AppendRemoval(nil, req.Frame, req.Params, retry.Responses, retry.State)...)
	first, err := req.Rewritten(frame) // the call, as it was before it was a retry
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	s.onAgreed(first, t.Entry)
}

// resumable deals with a retry that there is no permit for. One may be for a call
// that runs already, in a legacy server: that one is not made again.
func (s *Requests) resumable(req *client.Request, t catalog.Target, about requestHash, state []byte) bool {
	st, ours := s.signer.verifyState(state, about, s.Who.Principal)
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

// Mark notes what a modern server's call of a dangerous tool is about: what the
// server asks during it, its client may come back with.
func (s *Requests) Mark(req *client.Request, c *upstream.Call, t catalog.Target) {
	if t.Entry.AsksFirst() && c.Modern && t.Source.Modern {
		c.Context = &translation{about: s.signer.requestHash(req.Message, c.Method, t)}
	}
}

// PermitRetry lets the client come back with what a modern server asks during a dangerous
// tool's call. A person has agreed to that call already.
func (s *Requests) PermitRetry(c *upstream.Call, m *jsonrpc.Message) {
	r, err := mcpwire.ResultOf(m)
	if err != nil || r.ResultType(m) != mcpwire.ResultInputRequired {
		return
	}
	in, err := inputreq.InputOf(&r, m)
	if err != nil {
		return
	}
	s.Mu.Lock()
	s.permit(translationOf(c).about, c.Entry, m.Text(in.State), true)
	s.Mu.Unlock()
}
