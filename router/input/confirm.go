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

// Confirmed reports whether a tool call may be forwarded now. If not, it was refused or the client
// was asked for confirmation.
//
// A call of a dangerous tool with confirm = "elicit" waits until the user confirms it. A legacy
// client receives an elicitation request, and toolman makes the call after the answer; until then
// the call is an inputRound without a server's requestState. A modern client receives the question
// as the result and sends the call again with the answer.
func (s *Requests) Confirmed(req *client.Request, t catalog.Target) bool {
	if !t.Entry.NeedsConfirmation() {
		return true
	}
	// The user must see exactly what the server gets, so ambiguous arguments are refused.
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

// confirm asks a legacy client for confirmation of a call.
func (s *Requests) confirm(req *client.Request, t catalog.Target) {
	ask, err := confirmation(req.Message, t.Entry, s.scrub())
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	if why := s.whyUnaskable(&ask, len(req.Frame)); why != "" {
		s.DenyUnconfirmed(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	c := upstream.Call{Caller: s.Caller, Method: mcpwire.ToolsCall, Entry: t.Entry, TraceID: s.TraceArrival(req, name)}
	c.Keep(req.Message, jsonrpc.Span{})
	c.Audited = s.BeginAudit(req, t, audit.Asked, c.TraceID)
	r := &inputRound{from: upstream.Of(t.Source), call: c, frame: bytes.Clone(req.Frame)}
	s.rounds = append(s.rounds, r)
	r.timer = time.AfterFunc(roundTimeout, func() { s.roundDue(r) })
	if id, ok := s.addInput(r, ask.Method, nil, req.Out); ok {
		s.Send(req.Out, ask.AppendRequest(nil, id, ""), tracing.Note{ID: c.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// whyUnaskable returns why a legacy client cannot be asked for confirmation, or "".
func (s *Requests) whyUnaskable(ask *inputreq.Ask, size int) string {
	since := inputreq.AskedSince(ask.Method, ask.Params)
	missing := inputreq.Lacks(s.Peer.Hello.Capabilities, ask.Method, ask.Params)
	switch {
	case missing != "":
		return unaskableText(missing)
	case mcpwire.Negotiate(s.Peer.Hello.Version) < since:
		return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: that came with revision %s, and it speaks %s. Use a client that can", since, s.Peer.Hello.Version)
	case len(s.rounds) >= maxOpenRounds || client.OverBytes(s.rounds, size):
		return "a person has to agree first, and too many calls wait for answers already; answer those and call again"
	}
	return ""
}

// unaskableText describes the refusal for a client that lacks a capability for the confirmation.
func unaskableText(missing string) string {
	return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: it has not declared the capability %s. "+
		"Use a client that has it, or have confirm changed in the configuration", missing)
}

// consent handles the user's answer to the confirmation of a round's call.
func (s *Requests) consent(r *inputRound, m *jsonrpc.Message, out *peer.Outgoing) {
	if why := whyNoConsent(m, m.Result); why != "" {
		r.call.Audited.Decide(audit.Declined)
		s.failRound(r, why, audit.Refused, out)
	} else if s.closeRound(r, out) {
		s.redispatch(r, out, func(asked *client.Request) { s.onConfirmed(asked, r.call.Entry) })
	}
}

// whyNoConsent returns why an answer to the confirmation is not consent, or "". Only the action
// "accept" is consent.
func whyNoConsent(m *jsonrpc.Message, answer jsonrpc.Span) string {
	action, err := m.Get(answer, "action")
	if err != nil {
		return "the client's answer is ambiguous: " + err.Error()
	}
	switch string(m.Text(action)) {
	case "accept":
		return ""
	case "decline":
		return "the person at the client declined. Do not try again; go on without it"
	case "cancel":
		return "the person at the client dismissed the question without an answer. Ask them before you try again"
	}
	return "the client's answer is not consent"
}

// redispatch calls handle with the original request of a closed round.
func (s *Requests) redispatch(r *inputRound, out *peer.Outgoing, handle func(asked *client.Request)) {
	req, err := client.ReadRequest(r.frame, out)
	if err != nil {
		return // impossible: the frame was parsed before
	}
	req.TraceID, req.Decision = r.call.TraceID, r.call.Audited
	handle(req)
}

// ChangedMeanwhile is the reason for refusing a call whose tool has changed since the confirmation.
const ChangedMeanwhile = "it was changed by its server while a person was asked; look at its definition, and call it again"

// stillCallable reports whether a tool is unchanged and may still be called.
func (s *Requests) stillCallable(e *catalog.Entry) bool {
	t, verdict := s.View.Load().Find(mcpwire.Tool, []byte(e.Name))
	return verdict == catalog.Active && t.Entry == e
}

// DenyUnconfirmed refuses a call of a dangerous tool that was not confirmed.
func (s *Requests) DenyUnconfirmed(req *client.Request, e *catalog.Entry, why string) {
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: e.NotRunText(why), Verdict: string(audit.Unconfirmed), About: catalog.TargetOf(e)})
}

// checkRetry implements Confirmed for a modern client.
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
		s.callIfConfirmed(req, t, about, &retry)
	default:
		return s.mayResume(req, t, about, state)
	}
	return false
}

// requestConfirmation answers a modern client's call with the confirmation question.
func (s *Requests) requestConfirmation(req *client.Request, t catalog.Target, about requestHash) {
	ask, err := confirmation(req.Message, t.Entry, s.scrub())
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	if missing := inputreq.Lacks(req.Bytes(req.Envelope.Capabilities.Value), ask.Method, ask.Params); missing != "" {
		req.Decision = s.BeginAudit(req, t, audit.Unconfirmed, req.TraceID)
		why := mcpwire.MissingCapability(missing, t.Entry.NotRunText(unaskableText(missing)))
		s.NotifyObserver(req.Bytes(req.ID), client.ReasonFor(string(audit.Unconfirmed), why.Message))
		s.SendDecline(req, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	s.BeginAudit(req, t, audit.Asked, n).End(audit.InputRequired)
	state := s.stateFor(about, stateConfirm, newHandle())
	s.allowRetry(about, t.Entry, []byte(state), false)
	s.Send(req.Out, inputreq.AppendInputRequired(nil, req.Bytes(req.ID), []inputreq.Ask{ask}, state),
		tracing.Note{ID: n, Method: mcpwire.ToolsCall, Name: t.Entry.Name, Status: "local"})
}

// callIfConfirmed handles a retry that should contain the user's answer. It makes the call if the
// answer is consent. Without an answer it asks again.
func (s *Requests) callIfConfirmed(req *client.Request, t catalog.Target, about requestHash, retry *inputreq.Retry) {
	answer, err := retry.Response(req.Message, confirmKey)
	if err != nil {
		s.DeclineError(req, err)
		return
	}
	if !answer.Present() {
		s.requestConfirmation(req, t, about)
		return
	}
	if why := whyNoConsent(req.Message, answer); why != "" {
		req.Decision = s.BeginAudit(req, t, audit.Declined, req.TraceID)
		s.DenyUnconfirmed(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	req.Decision = s.BeginAudit(req, t, audit.Asked, s.TraceArrival(req, name))
	frame := jsonrpc.AppendSplice(nil, req.Frame, jsonrpc.AppendRemoval(nil, req.Frame, req.Params, retry.Responses, retry.State)...)
	first, err := req.Rewritten(frame) // the call without the members of a retry
	if err != nil {
		s.DenyUnconfirmed(req, t.Entry, err.Error())
		return
	}
	s.onConfirmed(first, t.Entry)
}

// mayResume handles a retry without a permit. It reports true if the retry resumes a call that is
// still open at a legacy server. That call is not made again.
func (s *Requests) mayResume(req *client.Request, t catalog.Target, about requestHash, state []byte) bool {
	st, ours := s.signer.verifyState(state, about, s.Info.Principal)
	switch {
	case !ours:
		s.Decline(req, errUnknownState)
	case st.kind == stateResume && !t.Source.Modern:
		return true
	default:
		s.Decline(req, errStaleState)
	}
	return false
}

// PrepareRetry records the hash of a modern client's call of a dangerous tool at a modern server.
// The client may retry the call with answers to the server's input requests.
func (s *Requests) PrepareRetry(req *client.Request, c *upstream.Call, t catalog.Target) {
	if t.Entry.NeedsConfirmation() && c.Modern && t.Source.Modern {
		c.Context = &translation{about: s.signer.requestHash(req.Message, c.Method, t)}
	}
}

// PermitRetry adds a permit for the retry if a modern server requests input during a dangerous
// tool's call. The user has already confirmed that call.
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
	s.allowRetry(translationOf(c).about, c.Entry, m.Text(in.State), true)
	s.Mu.Unlock()
}

// allowRetry adds a permit for a retry with this state. The permit applies to the tool as it is
// now.
func (s *Requests) allowRetry(about requestHash, e *catalog.Entry, state []byte, agreed bool) {
	now := s.Clock.Now()
	s.permits.add(retryPermit{about, e, s.signer.hash(state), agreed, now + int64(stateLifetime)}, now)
}

// maxPermits is the limit of retryPermits per session. The oldest are dropped.
const maxPermits = 256

// A retryPermit allows a modern client to retry a call of a dangerous tool once, with the same
// arguments and with this requestState. Without a permit no retry of such a call reaches the
// server, because a client can invent a state.
type retryPermit struct {
	about   requestHash
	entry   *catalog.Entry // as it was at the confirmation
	state   uint64         // hash of the requestState that the retry must contain
	agreed  bool           // the user has confirmed the call; if false, the retry contains the answer
	expires int64          // on the router's clock
}

// retryPermits are the permits of a session, oldest first.
type retryPermits []retryPermit

// add adds a permit. It drops expired permits, and the oldest one if there are too many.
func (all *retryPermits) add(p retryPermit, now int64) {
	*all = slices.DeleteFunc(*all, func(p retryPermit) bool { return p.expires < now })
	if len(*all) == maxPermits {
		*all = slices.Delete(*all, 0, 1)
	}
	*all = append(*all, p)
}

// take removes and returns the permit for a request and a state.
func (all *retryPermits) take(about requestHash, state uint64, now int64) (retryPermit, bool) {
	i := slices.IndexFunc(*all, func(p retryPermit) bool { return p.about == about && p.state == state && p.expires >= now })
	if i < 0 {
		return retryPermit{}, false
	}
	p := (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return p, true
}
