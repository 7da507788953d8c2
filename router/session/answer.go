package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/cache"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// Principal implements upstream.Caller.
func (s *Session) Principal() budget.Principal { return s.Info.Principal }

// Answer implements upstream.Caller. It sends the answer to the client with the client's request
// ID. Otherwise it only adds the server's name to messages for the user.
func (s *Session) Answer(u *upstream.Upstream, id uint64, c calls.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	c.Cached.Answered(m)
	if c.Task {
		s.tasks.LearnServerTask(u, id, &c, m)
	}
	back := tracing.Note{}
	if s.Trace.On() {
		back = s.traceAnswer(u, &c, m)
	}
	if m.BothResultAndError {
		m = jsonrpc.Strict(m)
	}
	s.deliver(u, &c, input.NameServerInResponse(u, m, c.Elicits), out, &back)
}

// deliver sends a server's answer to the client. Conn.Mu may be held if the answer is complete and
// c.Context is nil.
func (s *Session) deliver(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message, out *peer.Outgoing, back *tracing.Note) {
	if pages := s.View.Load().Catalog.Apps; pages.Contested() {
		m = pages.NamePages(m, c.Method, u.Source)
	}
	if c.Modern != u.Source.Modern {
		s.input.TranslateAnswer(u, c, m, out, back)
		return
	}
	if c.Context != nil {
		s.input.PermitRetry(c, m)
	}
	out.Edit(m.ID, out.Copy(c.ID()))
	if err := s.Pass(out, m, back); errors.Is(err, jsonrpc.ErrLineBreak) {
		s.Unsent(*c, fmt.Sprintf("the answer of server %s could not be passed on: %v", u.Name, err), audit.Failed, out)
	} else if c.Audited != nil {
		c.Audited.End(client.OutcomeOf(c, m))
	}
}

// answerFromCache answers a call with an earlier result of its server, if there is one that is
// still valid.
func (s *Session) answerFromCache(req *client.Request, at jsonrpc.Span, u *upstream.Upstream, c *calls.Call, t catalog.Target) bool {
	q := cache.Request{Message: req.Message, Method: c.Method, Task: c.Task, Who: s.Info.Principal.String() + "\n" + s.Info.Agent}
	if t.Entry != nil {
		q.Tool, q.ReadOnly = t.Entry.Item.Name, t.Entry.ReadOnly()
	}
	var frame []byte
	var m jsonrpc.Message
	if c.Cached, frame = u.Results.Begin(q); frame == nil || jsonrpc.Scan(frame, &m) != nil {
		return false
	}
	c.TraceID = s.TraceArrival(req, at)
	note := tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name(), Status: trace.StatusCached}
	if s.Clock.Timed() {
		note.Total = time.Duration(s.Clock.Now() - req.ArrivedAt)
	}
	if s.Audit != nil {
		c.Audited = s.BeginForwardedAudit(req, t, c.TraceID)
		c.Audited.FromCache(&m)
	}
	if t.Entry != nil {
		s.notePageLocked(c.Method, t.Entry)
	}
	s.deliver(u, c, &m, req.Out, &note)
	return true
}

// traceAnswer traces an answer of the server and returns the note for sending it to the client.
func (s *Session) traceAnswer(u *upstream.Upstream, c *calls.Call, m *jsonrpc.Message) tracing.Note {
	now := s.Clock.Now()
	back := tracing.Note{ID: c.TraceID, Method: c.Method, Name: c.Name(), Leg: time.Duration(now - c.SentAt), Total: time.Duration(now - c.ArrivedAt)}
	back.Judge(m)
	there := back
	there.Name, there.Total = c.ServerName(), 0
	s.Trace.Response(tracing.Upstream, u.Name, m, there)
	back.Leg += time.Duration(input.EarlierTime(c)) // not toolman's own time either
	return back
}

// Unsent implements upstream.Caller.
func (s *Session) Unsent(c calls.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	s.FailCall(&c, problem, how, out)
}

// Lost implements upstream.Caller. Conn.Mu must not be held.
func (s *Session) Lost(c calls.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	c.Cached.Lost()
	c.Audited.Fail(how, problem)
	end := s.input.Failure(problem, how)
	if !c.Modern || c.Context == nil {
		end(c, out)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	input.Conclude(&c, end, out)
}

// Progress implements upstream.Caller. It drops progress without a token of the client, because
// strict clients close the connection over an unknown token.
func (s *Session) Progress(c calls.Call, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) bool {
	if !s.input.LockAndUpdateIDs(&c) || len(c.Token()) == 0 {
		return false
	}
	out.Edit(at, out.Copy(c.Token()))
	s.Pass(out, m, &tracing.Note{ID: c.TraceID, Method: mcpwire.Progress, During: c.ID()})
	return true
}

// TaskProgress implements upstream.Caller.
func (s *Session) TaskProgress(u *upstream.Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) {
	s.tasks.Progress(u, id, at, m, out)
}

// Notify implements upstream.Caller.
func (s *Session) Notify(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	switch method := mcpwire.Method(m.Text(m.Method)); method {
	case mcpwire.ResourceUpdated:
		s.subscriptions.Updated(u, m, out)
	case mcpwire.TaskStatus:
		s.tasks.Status(u, m, out)
	case mcpwire.LogMessage:
		if s.Knows(u) {
			s.passLog(u, m, out)
		}
	default: // elicitation/complete and notifications of later revisions
		if !u.Source.Modern && s.InSession() && s.Knows(u) && strings.HasPrefix(string(method), "notifications/") {
			s.Pass(out, m, &tracing.Note{Method: method})
		}
	}
}

// Request implements upstream.Caller.
func (s *Session) Request(u *upstream.Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing) {
	s.input.Request(u, m, n, out)
}

// Cancel implements upstream.Caller.
func (s *Session) Cancel(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	s.input.Cancel(u, m, out)
}

// Withdraw implements upstream.Caller.
func (s *Session) Withdraw(u *upstream.Upstream, out *peer.Outgoing) { s.input.Withdraw(u, out) }

// passLog forwards a log message of a dedicated server. A modern client receives messages of a
// legacy server only while one of its open requests asks for them, because the message does not say
// which request it belongs to (2026-07-28, Logging).
func (s *Session) passLog(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	if !u.Source.Modern && !s.InSession() && !s.levels.WantsFrom(u, m) {
		return
	}
	s.Pass(out, m, &tracing.Note{Method: mcpwire.LogMessage, During: s.input.OpenAt(u)})
}

// Ready implements upstream.Caller.
func (s *Session) Ready(u *upstream.Upstream) { s.levels.Ready(u) }

// Logged implements upstream.Caller.
func (s *Session) Logged(c calls.Call, m *jsonrpc.Message, out *peer.Outgoing) {
	s.levels.Logged(c, m, out)
}

// owns reports whether this session made the call.
func (s *Session) owns(c *calls.Call) bool { return c.Caller == upstream.Caller(s) }

// cancelLocked forwards a cancellation to the upstream server of the call. The client gets no
// answer to the call (2025-11-25, Cancellation). Unknown IDs are ignored, because some clients
// cancel requests that were answered long before.
func (s *Session) cancelLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	var dropped calls.Call
	var our uint64
	var u *upstream.Upstream
	at, err := mcpwire.IDParam(m, "requestId")
	if err == nil && at.Present() {
		if s.input.CancelRound(m.Bytes(at), m, out) {
			return
		}
		dropped, u, our = s.dropRequestLocked(m.Bytes(at), out)
		dropped.Cached.Lost()
		dropped.Audited.End(audit.Cancelled)
	}
	s.Trace.Notification(tracing.Client, s.Name(), m, dropped.TraceID)
	if u == nil {
		return
	}
	var envelope mcpwire.Envelope
	if err := envelope.Read(m); err == nil && envelope.Claims() && !u.Source.Modern {
		out.SetEdits(mcpwire.StripEnvelope(out.Edits(), m, &envelope))
	}
	u.Calls.PassCancel(our, &dropped, m, at, out)
}

// dropRequestLocked removes the client's request with this ID. The returned call has at least the
// trace ID. If the request was sent to an upstream server, dropRequestLocked also returns the
// server and the request ID there.
func (s *Session) dropRequestLocked(id []byte, out *peer.Outgoing) (c calls.Call, u *upstream.Upstream, our uint64) {
	if batches := s.Front.Batches.Load(); batches != nil {
		batches.Forget(id)
	}
	for _, drop := range [...]func(id []byte) (traceID uint64, ok bool){s.waiting.Drop, s.levels.DropLocked} {
		if n, ok := drop(id); ok {
			return calls.Call{TraceID: n}, nil, 0
		}
	}
	if n, audited, ok := s.own.DropReply(id); ok {
		return calls.Call{TraceID: n, Audited: audited}, nil, 0
	}
	if s.subscriptions.Cancel(id, out) {
		return calls.Call{}, nil, 0
	}
	for _, u := range s.servers.Reachable() {
		switch our, c, ok := u.Calls.TakeCall(func(c *calls.Call) bool { return s.input.HasRequestID(c, id) }); {
		case ok && our > 0:
			return c, u, our
		case ok:
			return c, nil, 0
		}
	}
	return calls.Call{}, nil, 0
}

// Pending returns the number of the client's unanswered requests.
func (s *Session) Pending() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := s.waiting.Len() + s.own.Replies() + s.input.Held().Rounds + s.levels.Waiting()
	for _, u := range s.servers.Reachable() {
		pending := func(c *calls.Call) {
			if c.Caller == upstream.Caller(s) && input.UpdateIDs(c) {
				n++
			}
		}
		u.Calls.EachCall(func(_ uint64, c calls.Call) { pending(&c) })
		u.Calls.EachQueued(pending)
	}
	return n
}

// Abandon answers all pending requests because toolman is shutting down.
func (s *Session) Abandon() {
	const why = "toolman is ending because its client closed the connection; this was not answered in time"
	var out peer.Outgoing
	s.Mu.Lock()
	refuse := func(req *client.Request) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: why, ShuttingDown: true})
	}
	s.levels.AbandonLocked(&out, refuse)
	s.waiting.Abandon(&out, refuse)
	s.input.FailRounds(func(*upstream.Upstream, *catalog.Entry) string { return why }, audit.Cancelled, &out)
	upstreams := s.servers.Reachable()
	s.Mu.Unlock()
	for _, u := range upstreams {
		for _, c := range append(u.Calls.TakeQueued(s.owns), u.Calls.TakeCalls(s.owns, &out)...) {
			s.Lost(c, why, audit.Cancelled, &out)
		}
	}
	out.Flush()
}

// End ends a session while the router continues: the client has ended it or has timed out. Pending
// requests are cancelled without an answer.
func (s *Session) End() {
	if s.env.Gate != nil {
		s.env.Gate(s).Close()
	}
	s.Closed(io.EOF)
	s.env.Host.Ended(s)
	var out peer.Outgoing
	s.Mu.Lock()
	s.waiting.Forget()
	s.levels.Forget()
	s.subscriptions.Clear(&out)
	s.servers.DismissAll()
	s.own.Leave()
	s.FreeAll()
	upstreams := s.servers.Reachable()
	s.Mu.Unlock()
	for _, u := range upstreams {
		for _, c := range append(u.Calls.TakeQueued(s.owns), u.Calls.CancelCalls(s.owns, "the client is gone", &out)...) {
			c.Cached.Lost()
			c.Audited.End(audit.Cancelled)
		}
	}
	out.Flush()
}

// Shutdown ends the client's subscriptions with a final message and releases the session's
// dedicated servers. It is called when toolman shuts down.
func (s *Session) Shutdown() {
	s.subscriptions.End()
	s.servers.ReleaseAll()
}
