package router

import (
	"bytes"
	"fmt"
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
// comes back with that (permit.go).

// confirmedLocked reports whether a call of a tool may go to its server now. If not, it was
// dealt with: refused, or asked about.
func (s *Session) confirmedLocked(req *client.Request, t catalog.Target) bool {
	if !t.Entry.AsksFirst() {
		return true
	}
	// What is not clear to toolman would not be what a person has seen and agreed to.
	if _, err := req.Param("arguments"); err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return false
	}
	if req.Modern {
		return s.checkRetryLocked(req, t)
	}
	s.confirmLocked(req, t)
	return false
}

// confirmLocked asks a legacy client whether a call may be made.
func (s *Session) confirmLocked(req *client.Request, t catalog.Target) {
	ask, err := s.r.confirmation(req.Message, t.Entry)
	if err != nil {
		s.denyUnconfirmedLocked(req, t.Entry, err.Error())
		return
	}
	if why := s.unaskableLocked(&ask, len(req.Frame)); why != "" {
		s.denyUnconfirmedLocked(req, t.Entry, why)
		return
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	c := upstream.Call{Caller: s, Method: mcpwire.ToolsCall, Entry: t.Entry, TraceID: s.TraceArrival(req, name)}
	c.Keep(req.Message, jsonrpc.Span{})
	c.Audited = s.Decide(req, t, audit.Asked, c.TraceID)
	r := &inputRound{from: upstream.Of(t.Source), call: c, frame: bytes.Clone(req.Frame)}
	s.input.rounds = append(s.input.rounds, r)
	r.timer = time.AfterFunc(roundTime, func() { s.roundDue(r) })
	if id, ok := s.addInputLocked(r, ask.Method, nil, req.Out); ok {
		s.Send(req.Out, ask.AppendRequest(nil, id, ""), tracing.Note{ID: c.TraceID, Method: ask.Method, During: r.call.ID()})
	}
}

// unaskableLocked says why a legacy client cannot be asked for a person's consent, or "".
func (s *Session) unaskableLocked(ask *inputreq.Ask, size int) string {
	since := inputreq.AskedSince(ask.Method, ask.Params)
	missing := inputreq.Lacks(s.Peer.Hello.Capabilities, ask.Method, ask.Params)
	switch {
	case missing != "":
		return unaskable(missing)
	case mcpwire.Negotiate(s.Peer.Hello.Version) < since:
		return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: that came with revision %s, and it speaks %s. Use a client that can", since, s.Peer.Hello.Version)
	case len(s.input.rounds) >= openRounds || client.OverBytes(s.input.rounds, size):
		return "a person has to agree first, and too many calls wait for answers already; answer those and call again"
	}
	return ""
}

// unaskable says that a client cannot be asked.
func unaskable(missing string) string {
	return fmt.Sprintf("a person has to agree first, and the client cannot ask anybody: it has not declared the capability %s. "+
		"Use a client that has it, or have confirm changed in the configuration", missing)
}

// consentLocked goes on with a round's call, which a person has been asked about.
func (s *Session) consentLocked(r *inputRound, m *jsonrpc.Message, out *peer.Outgoing) {
	if why := refused(m, m.Result); why != "" {
		r.call.Audited.Decide(audit.Declined)
		s.failRoundLocked(r, why, audit.Refused, out)
	} else if s.closeRoundLocked(r, out) {
		s.againLocked(r, out, func(asked *client.Request) { s.passAgreedLocked(asked, r.call.Entry) })
	}
}

// againLocked has the call of a round that is closed handled as it came.
func (s *Session) againLocked(r *inputRound, out *peer.Outgoing, handle func(asked *client.Request)) {
	req, err := client.ReadRequest(r.frame, out)
	if err != nil {
		return // it was read when it came
	}
	req.TraceID, req.Decision = r.call.TraceID, r.call.Audited
	handle(req)
}

// passAgreedLocked passes on a call that a person has agreed to, if the tool is still what
// it was and may still be called. Its time begins now: the person's is not toolman's.
func (s *Session) passAgreedLocked(req *client.Request, e *catalog.Entry) {
	if s.Clock.Timed() {
		req.ArrivedAt = s.Clock.Now()
	}
	at, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	v := s.View.Load()
	name := req.Text(at)
	switch t, verdict := v.Find(mcpwire.Tool, name); {
	case verdict != catalog.Active:
		s.Refuse(req, refuseName(v, mcpwire.Tool, string(name), t, verdict, s.guidanceLocked(req.Modern)))
	case t.Entry != e:
		s.denyUnconfirmedLocked(req, e, changedMeanwhile)
	default:
		s.forward(req, at, t)
	}
}

// changedMeanwhile refuses a call whose tool is not the one that a person has agreed to.
const changedMeanwhile = "it was changed by its server while a person was asked; look at its definition, and call it again"

// hasLocked reports whether a tool is still what it was, and may still be called.
func (s *Session) hasLocked(e *catalog.Entry) bool {
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

// denyUnconfirmedLocked refuses a call of a dangerous tool that it takes a person's consent for.
func (s *Session) denyUnconfirmedLocked(req *client.Request, e *catalog.Entry, why string) {
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: e.NotRun(why), Verdict: string(audit.Unconfirmed), About: catalog.At(e)})
}
