package router

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/principal"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Principal implements Caller.
func (s *Session) Principal() principal.Principal { return s.Who.Principal }

// Answer implements Caller. It gives the answer to the client under the client's own id. Nothing else
// in it changes, but that what it asks of a user names the server.
func (s *Session) Answer(u *upstream.Upstream, id uint64, c upstream.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	if c.Task {
		s.tasks.Learn(u, id, &c, m)
	}
	back := tracing.Note{}
	if s.Trace.On() {
		back = s.timing(u, &c, m)
	}
	if m.BothResultAndError {
		m = upstream.Strict(m)
	}
	m = input.NamedResponse(u, m, c.Elicits)
	if c.Modern != u.Source.Modern {
		s.input.AnswerAcross(u, &c, m, out, &back)
		return
	}
	if c.Context != nil {
		s.input.PermitRetry(&c, m)
	}
	out.Edit(m.ID, out.Copy(c.ID()))
	if err := s.Pass(out, m, &back); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.Unsent(c, fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err), audit.Failed, out)
	} else if c.Audited != nil {
		c.Audited.End(client.OutcomeOf(&c, m))
	}
}

// timing traces an answer as it came, and returns what to say of it on its way to the client.
func (s *Session) timing(u *upstream.Upstream, c *upstream.Call, m *jsonrpc.Message) tracing.Note {
	now := s.Clock.Now()
	back := tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name(), Leg: time.Duration(now - c.Sent), Total: time.Duration(now - c.Came)}
	there := back
	there.Name, there.Total = c.ServerName(), 0
	s.Trace.Response(tracing.Upstream, u.Name, m, there)
	back.Leg += time.Duration(input.Earlier(c)) // not toolman's own time either
	return back
}

// Unsent implements Caller.
func (s *Session) Unsent(c upstream.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	s.FailCall(&c, problem, how, out)
}

// Lost implements Caller. Session.mu is not held.
func (s *Session) Lost(c upstream.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	c.Audited.End(how)
	end := s.input.Failing(problem, how)
	if !c.Modern || c.Context == nil {
		end(c, out)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	input.Conclude(&c, end, out)
}

// Progress implements Caller. Strict clients end the connection over a token they do not know.
func (s *Session) Progress(c upstream.Call, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) bool {
	if !s.input.CurrentUnlocked(&c) || len(c.Token()) == 0 {
		return false
	}
	out.Edit(at, out.Copy(c.Token()))
	s.Pass(out, m, &tracing.Note{ID: c.TraceID, Method: mcpwire.Progress, During: c.ID()})
	return true
}

// Notify implements Caller.
func (s *Session) Notify(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	switch method := mcpwire.Method(m.Text(m.Method)); method {
	case mcpwire.ResourceUpdated:
		s.subscriptions.Updated(u, m, out)
	case mcpwire.TaskStatus:
		s.tasks.Status(u, m, out)
	case mcpwire.LogMessage:
		if s.Knows(u) {
			s.logged(u, m, out)
		}
	default: // elicitation/complete, what later revisions add
		if !u.Source.Modern && s.InSession() && s.Knows(u) && strings.HasPrefix(string(method), "notifications/") {
			s.Pass(out, m, &tracing.Note{Method: method})
		}
	}
}

// TaskProgress implements Caller.
func (s *Session) TaskProgress(u *upstream.Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) {
	s.tasks.Progress(u, id, at, m, out)
}

// Request implements Caller.
func (s *Session) Request(u *upstream.Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing) {
	s.input.Request(u, m, n, out)
}

// Cancel implements Caller.
func (s *Session) Cancel(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	s.input.Cancel(u, m, out)
}

// Withdraw implements Caller.
func (s *Session) Withdraw(u *upstream.Upstream, out *peer.Outgoing) { s.input.Withdraw(u, out) }
