package confirm

import (
	"bytes"
	"cmp"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A Confirmer asks the user of a client to confirm calls of dangerous tools. Its methods require
// Conn.Mu.
type Confirmer struct {
	*client.Conn
	requests    *input.Requests
	scrub       func() func(text string) string                // returns the filter for secrets, or nil
	onConfirmed func(req *client.Request, tool *catalog.Entry) // forwards a call that the user has confirmed
}

// New returns a Confirmer for a client. scrub returns the filter for secrets, or nil. onConfirmed
// forwards a call that the user has confirmed.
func New(conn *client.Conn, requests *input.Requests, scrub func() func(string) string, onConfirmed func(*client.Request, *catalog.Entry)) Confirmer {
	return Confirmer{conn, requests, scrub, onConfirmed}
}

// Confirmed reports whether a tool call may be forwarded now. If not, it was refused or the client
// was asked for confirmation.
//
// A call of a dangerous tool with confirm = "elicit" waits until the user confirms it. A legacy
// client receives an elicitation request, and toolman makes the call after the answer. A modern
// client receives the question as the result and sends the call again with the answer.
func (s *Confirmer) Confirmed(req *client.Request, t catalog.Target) bool {
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
func (s *Confirmer) confirm(req *client.Request, t catalog.Target) {
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
	c := calls.Call{Caller: s.Caller, Method: mcpwire.ToolsCall, Entry: t.Entry, TraceID: s.TraceArrival(req, name)}
	c.Keep(req.Message, jsonrpc.Span{})
	c.Audited = s.BeginAudit(req, t, audit.Asked, c.TraceID)
	q := &input.Question{Ask: ask, Frame: bytes.Clone(req.Frame), Purpose: mustAgree}
	q.Answered = func(m *jsonrpc.Message, out *peer.Outgoing) {
		if why := whyNoConsent(m, m.Result); why != "" {
			c.Audited.Decide(audit.Declined)
			q.Failed(why, audit.Refused, out)
			return
		}
		s.redispatch(q.Frame, &c, out, func(asked *client.Request) { s.onConfirmed(asked, c.Entry) })
	}
	q.Failed = func(why string, how audit.Outcome, out *peer.Outgoing) {
		if how != audit.Refused && how != audit.Failed { // the confirmation ended without a decision
			c.Audited.End(how)
		}
		s.redispatch(q.Frame, &c, out, func(asked *client.Request) { s.DenyUnconfirmed(asked, c.Entry, why) })
	}
	s.requests.AskFirst(upstream.Of(t.Source), &c, q, req.Out)
}

// mustAgree begins the errors about a confirmation that could not be had.
const mustAgree = "a person has to agree first"

// whyUnaskable returns why a legacy client cannot be asked for confirmation, or "".
func (s *Confirmer) whyUnaskable(ask *inputreq.Ask, size int) string {
	since := inputreq.AskedSince(ask.Method, ask.Params)
	missing := inputreq.Lacks(s.Peer.Hello.Capabilities, ask.Method, ask.Params)
	switch {
	case missing != "":
		return unaskableText(missing)
	case mcpwire.Negotiate(s.Peer.Hello.Version) < since:
		return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: that came with revision %s, and it speaks %s. Use a client that can", since, s.Peer.Hello.Version)
	case s.requests.Full(size):
		return "a person has to agree first, and too many calls wait for answers already; answer those and call again"
	}
	return ""
}

// unaskableText describes the refusal for a client that lacks a capability for the confirmation.
func unaskableText(missing string) string {
	return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: it has not declared the capability %s. "+
		"Use a client that has it, or have confirm changed in the configuration", missing)
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

// redispatch calls handle with the client's request for a call that waited for confirmation.
func (s *Confirmer) redispatch(frame []byte, c *calls.Call, out *peer.Outgoing, handle func(asked *client.Request)) {
	req, err := client.ReadRequest(frame, out)
	if err != nil {
		return // impossible: the frame was parsed before
	}
	req.TraceID, req.Decision = c.TraceID, c.Audited
	handle(req)
}

// DenyUnconfirmed refuses a call of a dangerous tool that was not confirmed.
func (s *Confirmer) DenyUnconfirmed(req *client.Request, e *catalog.Entry, why string) {
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: e.NotRunText(why), Verdict: string(audit.Unconfirmed), About: catalog.TargetOf(e)})
}

// checkRetry implements Confirmed for a modern client.
func (s *Confirmer) checkRetry(req *client.Request, t catalog.Target) bool {
	retry, err := inputreq.RetryOf(req.Message)
	if err != nil {
		s.DeclineError(req, err)
		return false
	}
	about := s.requests.HashOf(req, t)
	if !retry.Is() {
		s.requestConfirmation(req, t, about)
		return false
	}
	state := req.Text(retry.State.Value)
	p, ok := s.requests.TakePermit(about, state)
	switch {
	case ok && p.Entry != t.Entry:
		s.DenyUnconfirmed(req, t.Entry, input.ChangedMeanwhile)
	case ok && p.Confirmed:
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
func (s *Confirmer) requestConfirmation(req *client.Request, t catalog.Target, about input.RequestHash) {
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
	state := s.requests.ConfirmState(about)
	s.requests.AllowRetry(about, t.Entry, []byte(state), false)
	s.Send(req.Out, inputreq.AppendInputRequired(nil, req.Bytes(req.ID), []inputreq.Ask{ask}, state),
		tracing.Note{ID: n, Method: mcpwire.ToolsCall, Name: t.Entry.Name, Status: "local"})
}

// callIfConfirmed handles a retry that should contain the user's answer. It makes the call if the
// answer is consent. Without an answer it asks again.
func (s *Confirmer) callIfConfirmed(req *client.Request, t catalog.Target, about input.RequestHash, retry *inputreq.Retry) {
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
func (s *Confirmer) mayResume(req *client.Request, t catalog.Target, about input.RequestHash, state []byte) bool {
	resumes, err := s.requests.Resumes(about, state)
	if err == nil && resumes && !t.Source.Modern {
		return true
	}
	s.Decline(req, cmp.Or(err, input.ErrStaleState))
	return false
}
