package router

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/upstream"
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
	req.find()
	if req.method == mcpwire.Unsubscribe {
		req.target, req.verdict = s.subscribedLocked(name, req.target, req.verdict)
	}
	req.upstream = upstream.Of(req.target.Source)
	if !s.checkLocked(req) {
		return
	}
	if !req.upstream.PassesSubscriptions() && (req.method == mcpwire.Subscribe || req.method == mcpwire.Unsubscribe) {
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
	u, token := upstream.Of(t.Source), req.envelope.Token.Value
	c := upstream.Call{Caller: s, Method: req.method, Entry: t.Entry, Task: mcpwire.AsksForTask(req.Message), Modern: req.modern}
	c.Keep(req.Message, token)
	if level := req.envelope.LogLevel.Value; req.modern && level.Present() {
		c.Logs = upstream.ThresholdOf(req.Text(level))
	}
	if req.modern != u.Source.Modern && !s.translateRequestLocked(req, &c, t) || req.modern && u.Source.Modern && !s.hideTasks(req) {
		return
	}
	c.Elicits = u.Source.Modern && (!req.modern || inputreq.CanElicit(req.Bytes(req.envelope.Capabilities.Value)))
	s.markLocked(req, &c, t)
	if s.clock.Timed() {
		c.Came, c.Sent = req.arrivedAt, s.clock.Now()
	}
	c.TraceID = s.traceArrivalLocked(req, at)
	if s.audit != nil {
		c.Audited = s.forwardedLocked(req, t, c.TraceID)
		c.Audited.Asked(len(req.Frame))
	}
	switch {
	case string(req.Text(at)) == t.Name(): // it is the upstream's own already
	case t.URI != "":
		req.out.Edit(at, jsonrpc.AppendQuoted(nil, t.URI))
	case t.Entry != nil:
		req.out.Edit(at, t.Entry.Quoted)
	}
	if !c.Modern && c.Context != nil {
		translationOf(&c).request = req.out.Preview(req.Frame)
	}
	s.cacheRouteLocked(req, at, &c)
	s.leaseLocked(u, &c, req.out).Submit(req.Message, req.out, &c, token, t.Name())
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
			u.Tell(m, out)
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
	if !ok || len(q.Token()) == 0 {
		return
	}
	out.Edit(at, out.Copy(q.Token()))
	q.from.Send(out, m, &tracing.Note{ID: q.n, Method: mcpwire.Progress})
}
