package router

import (
	"errors"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// routeLocked finds out what a request is about and passes it on to the upstream
// that owns it, if the client may use it.
func (s *Session) routeLocked(req *request) {
	at, kind, err := mcpwire.Target(req.Message, req.method)
	if err != nil || !at.Present() {
		s.refuse(req, badTarget(req.method, err))
		return
	}
	name := req.Text(at)
	switch {
	case req.method == mcpwire.ToolsCall && s.callBuiltinLocked(req, name):
		return
	case kind == mcpwire.Resource && string(name) == catalog.CatalogURI:
		s.catalogLocked(req)
		return
	}
	req.route = route{at: at, name: name, kind: kind, view: s.view.Load()}
	if t := req.tool; t != nil && t.view == req.view {
		req.target, req.verdict = catalog.At(t.Entry), t.Verdict
	} else {
		req.find()
	}
	if req.method == mcpwire.Unsubscribe {
		req.target, req.verdict = s.subscribedLocked(name, req.target, req.verdict)
	}
	req.upstream = upstreamOf(req.target.Source)
	if !s.checkLocked(req) {
		return
	}
	if !req.upstream.passesSubscriptions() && (req.method == mcpwire.Subscribe || req.method == mcpwire.Unsubscribe) {
		s.decideLocked(req, req.target, audit.Allowed, s.replyLocal(req, []byte("{}"))).End(audit.OK)
		s.followAllLocked(req.out)
		return
	}
	s.forward(req, at, req.target)
}

// forward writes a request to an upstream: under an id and a progress token of
// ours, with the name or URI that the upstream knows, and not another byte
// changed.
func (s *Session) forward(req *request, at jsonrpc.Span, t catalog.Target) {
	u, token := upstreamOf(t.Source), req.envelope.Token.Value
	c := call{session: s, method: req.method, entry: t.Entry, task: mcpwire.AsksForTask(req.Message), modern: req.modern}
	c.keep(req.Message, token)
	if level := req.envelope.LogLevel.Value; req.modern && level.Present() {
		c.logs = logThresholdOf(req.Text(level))
	}
	if req.modern != u.source.Modern && !s.translateRequestLocked(req, &c, t) || req.modern && u.source.Modern && !s.hideTasks(req) {
		return
	}
	c.elicits = u.source.Modern && (!req.modern || inputreq.CanElicit(req.Bytes(req.envelope.Capabilities.Value)))
	s.markLocked(req, &c, t)
	if s.clock.Timed() {
		c.came, c.sent = req.arrivedAt, s.clock.Now()
	}
	c.n = s.traceArrivalLocked(req, at)
	if s.audit != nil {
		c.audited = s.forwardedLocked(req, t, c.n)
		c.audited.Asked(len(req.Frame))
	}
	switch {
	case string(req.Text(at)) == t.Name(): // it is the upstream's own already
	case t.URI != "":
		req.out.Edit(at, jsonrpc.AppendQuoted(nil, t.URI))
	case t.Entry != nil:
		req.out.Edit(at, t.Entry.Quoted)
	}
	if c.translation != nil && !c.modern {
		c.translation.request = req.out.Preview(req.Frame)
	}
	s.cacheRouteLocked(req, at, &c)
	s.leaseLocked(u, &c, req.out).submit(req.Message, req.out, &c, token, t.Name())
}

// submit writes a request of the client, with the edits of out, to the upstream that
// knows what it is about by this name.
func (u *Upstream) submit(m *jsonrpc.Message, out *peer.Outgoing, c *call, token jsonrpc.Span, name string) {
	if u.admit(m, out, c) && !u.write(m, out, c, token, name) && u.pending.limiter != nil {
		u.admitNext(out)
	}
}

// write is submit for a call that may be written now. It reports whether that was so:
// if not, the call was answered.
func (u *Upstream) write(m *jsonrpc.Message, out *peer.Outgoing, c *call, token jsonrpc.Span, name string) bool {
	id, ok := u.pending.calls.Add(*c)
	if !ok {
		out.Forget()
		c.leave(u)
		c.fail(u.goneText(), audit.Gone, out)
		return false
	}
	num := out.Number(id)
	out.Edit(m.ID, num)
	if token.Present() {
		out.Edit(token, num)
	}
	if err := u.send(out, m, &tracing.Note{ID: c.n, Method: c.method, Name: name}); err != nil {
		if _, mine := u.pending.calls.Take(id); mine {
			c.leave(u)
			c.fail(u.unsentText(err), audit.Refused, out)
		}
		return false
	}
	u.watchTimeout()
	return true
}

// unsentText says why a request could not be written to the upstream.
func (u *Upstream) unsentText(err error) string {
	switch {
	case errors.Is(err, jsonrpc.ErrQueueFull):
		return fmt.Sprintf("server %s does not read what it is sent, so this call was not passed on; try again later or go on without it", u.Name)
	case errors.Is(err, jsonrpc.ErrLineBreak):
		return fmt.Sprintf("this call was not passed on to server %s: %v; send it again without the line break", u.Name, err)
	}
	return u.goneText()
}

// notificationLocked handles what the client tells.
func (s *Session) notificationLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	if method == mcpwire.Cancelled {
		s.cancelLocked(m, out)
		return
	}
	s.trace.Notification(tracing.Client, s.name(), m, 0)
	switch method {
	case mcpwire.Initialized:
		s.clientReadyLocked(out)
	case mcpwire.Progress:
		s.progress(m, out)
	case mcpwire.TaskStatus:
		s.tellTaskLocked(m, out)
	case mcpwire.RootsListChanged:
		for _, u := range s.servers.all {
			u.tell(m, out)
		}
	}
}

// progress passes on what the client tells about a request that an upstream made.
func (s *Session) progress(m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := mcpwire.IDParam(m, "progressToken")
	if err != nil || !at.Present() {
		return
	}
	id, ok := jsonrpc.ParseID(m.Bytes(at))
	if !ok {
		return
	}
	q, ok := s.input.serverRequests.Get(id)
	if !ok || len(q.token()) == 0 {
		return
	}
	out.Edit(at, out.Copy(q.token()))
	q.from.send(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Progress})
}
