package router

import (
	"bytes"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Why a retry goes nowhere. It must not run a tool a second time, so that the client
// has to say that it wants that.
var (
	errStrangeState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "params.requestState was not given for this request with these arguments; send it back as it was, or make the call anew without inputResponses and requestState"}
	errStaleState = &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the call that params.requestState stands for is over, was answered already, or has waited longer than %.0f minutes; make it anew without inputResponses and requestState", stateLife.Minutes())}
)

// resumeLocked deals with a request that answers what its client was asked. It reports
// true when the request is to be passed on like any other.
func (s *Session) resumeLocked(req *client.Request, c *upstream.Call, about requestHash, retry *inputreq.Retry) bool {
	state, ok := s.r.signer.verifyState(req.Text(retry.State.Value), about, s.Who.Principal)
	if !ok {
		s.Decline(req, errStrangeState)
		return false
	}
	p := s.input.suspensions.calls[state.handle]
	switch {
	case state.expires < s.Clock.Now():
		s.Decline(req, errStaleState)
	case state.kind == stateAgain:
		return s.urlConsentedLocked(req, c, retry)
	case p == nil:
		s.Decline(req, errStaleState)
	default:
		s.continueCallLocked(req, c, p, retry)
	}
	return false
}

// urlConsentedLocked reports whether the user has agreed to visit all URLs.
func (s *Session) urlConsentedLocked(req *client.Request, c *upstream.Call, retry *inputreq.Retry) bool {
	for answer := range req.Walk(retry.Responses.Value) {
		if action, err := req.Get(answer.Value, "action"); err != nil || string(req.Text(action)) != "accept" {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Declined), Text: "the server wants the user to visit a URL first, and the user has not agreed to; nothing was done"})
			return false
		}
	}
	return true
}

// continueCallLocked gives the server what it has asked for. The request waits for the
// suspended call from now on.
func (s *Session) continueCallLocked(req *client.Request, c *upstream.Call, p *suspended, retry *inputreq.Retry) {
	answers := make([]jsonrpc.Span, len(p.questions))
	for i := range answers {
		var err error
		if answers[i], err = retry.Response(req.Message, p.questions[i].ask.Key); err != nil {
			s.DeclineError(req, err)
			return
		}
	}
	name, _, _ := mcpwire.Target(req.Message, c.Method)
	s.input.suspensions.remove(p)
	c.TraceID = s.TraceArrival(req, name)
	c.Context = p.bridge
	p.bridge.turn = turn{c.IDs, c.Logs, c.TraceID}
	p.bridge.capabilities = bytes.Clone(req.Bytes(req.Envelope.Capabilities.Value))
	var left []inquiry
	for i := range answers {
		q := &p.questions[i]
		if !answers[i].Present() {
			left = append(left, *q)
			continue
		}
		result := jsonrpc.AppendResult(nil, q.ID(), req.Bytes(answers[i]))
		answered(&q.serverRequest, p.from.SendFrame(req.Out, result, tracing.Note{ID: q.n, Method: q.ask.Method}), req.Out)
	}
	s.resumeSuspendedLocked(c, p, left, req.Out)
}

// resumeSuspendedLocked answers the request that has come back, if it has not to wait: with the
// end of the call, or with the questions that are left.
func (s *Session) resumeSuspendedLocked(c *upstream.Call, p *suspended, left []inquiry, out *peer.Outgoing) {
	if p.end != nil {
		refuseAll(left, "the call is over", out)
		p.end(*c, out)
		return
	}
	for i := range left {
		if s.lacksLocked(p.from, p.id, c, &left[i], out) {
			refuseAll(append(left[:i:i], left[i+1:]...), "the call is over", out)
			return
		}
	}
	if len(left) > 0 {
		s.suspendLocked(p.from, p.id, c, left, out)
	}
}
