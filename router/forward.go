package router

import (
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/subscribe"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// routeLocked finds out what a request is about and passes it on to the upstream
// that owns it, if the client may use it.
func (s *Session) routeLocked(req *client.Request) {
	at, kind, err := mcpwire.Target(req.Message, req.Method)
	if err != nil || !at.Present() {
		s.Refuse(req, client.BadTarget(req.Method, err))
		return
	}
	name := req.Text(at)
	switch {
	case req.Method == mcpwire.ToolsCall && s.callBuiltinLocked(req, name):
		return
	case kind == mcpwire.Resource && string(name) == catalog.CatalogURI:
		s.catalogLocked(req)
		return
	}
	req.Route = client.Route{At: at, Name: name, ItemKind: kind, View: s.View.Load()}
	req.Route.Find()
	if req.Method == mcpwire.Unsubscribe {
		req.Target, req.Verdict = s.subscriptions.Find(name, req.Target, req.Verdict)
	}
	req.Upstream = upstream.Of(req.Target.Source)
	if !s.checkLocked(req) {
		return
	}
	if !req.Upstream.PassesSubscriptions() && (req.Method == mcpwire.Subscribe || req.Method == mcpwire.Unsubscribe) {
		s.Decide(req, req.Target, audit.Allowed, s.Reply(req, []byte("{}"))).End(audit.OK)
		s.subscriptions.Follow(req.Out)
		return
	}
	s.forward(req, at, req.Target)
}

// forward writes a request to an upstream: under an id and a progress token of
// ours, with the name or URI that the upstream knows, and not another byte
// changed.
func (s *Session) forward(req *client.Request, at jsonrpc.Span, t catalog.Target) {
	u, token := upstream.Of(t.Source), req.Envelope.Token.Value
	c := upstream.Call{Caller: s, Method: req.Method, Entry: t.Entry, Task: mcpwire.AsksForTask(req.Message), Modern: req.Modern}
	c.Keep(req.Message, token)
	if level := req.Envelope.LogLevel.Value; req.Modern && level.Present() {
		c.Logs = upstream.ThresholdOf(req.Text(level))
	}
	if req.Modern != u.Source.Modern && !s.input.TranslateRequest(req, &c, t) || req.Modern && u.Source.Modern && !s.input.HideTasks(req) {
		return
	}
	c.Elicits = u.Source.Modern && (!req.Modern || inputreq.CanElicit(req.Bytes(req.Envelope.Capabilities.Value)))
	s.input.Mark(req, &c, t)
	if s.Clock.Timed() {
		c.Came, c.Sent = req.ArrivedAt, s.Clock.Now()
	}
	c.TraceID = s.TraceArrival(req, at)
	if s.Audit != nil {
		c.Audited = s.DecideForwarded(req, t, c.TraceID)
		c.Audited.Asked(len(req.Frame))
	}
	switch {
	case string(req.Text(at)) == t.Name(): // it is the upstream's own already
	case t.URI != "":
		req.Out.Edit(at, jsonrpc.AppendQuoted(nil, t.URI))
	case t.Entry != nil:
		req.Out.Edit(at, t.Entry.Quoted)
	}
	if !c.Modern && c.Context != nil {
		input.KeepRequest(&c, req.Out.Preview(req.Frame))
	}
	s.cacheRouteLocked(req, at, &c)
	if c.Modern && c.Context != nil {
		u = s.servers.Lease(u, input.CapabilitiesOf(&c), c.Logs, req.Out)
	}
	u.Submit(req.Message, req.Out, &c, token, t.Name())
}

// notificationLocked handles what the client tells.
func (s *Session) notificationLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	method := mcpwire.Method(m.Text(m.Method))
	if method == mcpwire.Cancelled {
		s.cancelLocked(m, out)
		return
	}
	s.Trace.Notification(tracing.Client, s.Name(), m, 0)
	switch method {
	case mcpwire.Initialized:
		s.input.ClientReady(out)
	case mcpwire.Progress:
		s.input.Progress(m, out)
	case mcpwire.TaskStatus:
		s.tasks.Tell(m, out)
	case mcpwire.RootsListChanged:
		for _, u := range s.servers.All {
			u.Tell(m, out)
		}
	}
}

// routeTaskLocked passes on what the client asks about a task of a server.
func (s *Session) routeTaskLocked(req *client.Request) {
	at, err := mcpwire.TaskID(req.Message)
	if err != nil || !at.Present() {
		s.Refuse(req, client.BadTarget(req.Method, err))
		return
	}
	u := s.tasks.OfServer(req.Text(at))
	if u == nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: catalog.Unknown.String(),
			Text: "unknown task " + sanitize.Short(string(req.Text(at))) + fmt.Sprintf("; it was not made over this connection, is older than the last %d, or its ID is longer than %d bytes", subscribe.MaxTasks, subscribe.MaxTaskID)})
		return
	}
	s.forward(req, at, catalog.Target{Source: u.Source})
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
		s.input.DenyUnconfirmed(req, e, input.ChangedMeanwhile)
	default:
		s.forward(req, at, t)
	}
}
