package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/apps"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/metatool"
	"toolman/router/subscribe"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
)

// initializeLocked answers initialize immediately. The upstream servers are already starting; they
// learn the client's name and capabilities.
func (s *Session) initializeLocked(req *client.Request) {
	if s.Peer.Hello != nil && s.Peer.Hello.Version != "" {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidRequest, Text: "initialize was already answered; start a new connection to begin again"})
		return
	}
	hello, err := mcpwire.ParseHello(req.Message)
	if err == nil && hello.Version == "" {
		err = errors.New("initialize needs params.protocolVersion")
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	if err := s.Retain(len(hello.Capabilities) + len(hello.Info)); err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), Text: err.Error()})
		return
	}
	s.Peer.Hello = &hello
	s.Peer.Meta = hello.Claim(s.levels.Name())
	version := mcpwire.Negotiate(hello.Version)
	s.LogConnected(&hello, version)
	s.Peer.Revision = version
	s.Tracker.Changed()
	s.Reply(req, mcpwire.AppendInitializeResult(nil, version, s.env.Version, s.own.Instructions(req.Modern)))
	s.servers.StartDedicated()
	if s.Info.Sole {
		s.env.Host.Greet(hello)
	}
}

// modernRequestLocked handles a request of the modern era.
func (s *Session) modernRequestLocked(req *client.Request) {
	switch {
	case req.Method == mcpwire.Discover:
		n := s.TraceArrival(req, jsonrpc.Span{})
		result := mcpwire.AppendDiscoverResult(nil, s.env.Version, s.own.Instructions(req.Modern))
		s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.Method, Status: "local"})
	case !mcpwire.KnownModern(req.Method):
		s.Decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeMethodNotFound,
			Message: "revision " + mcpwire.Newest + " has no method " + sanitize.Short(string(req.Method))})
	default:
		hello := s.noteFirstModernLocked(req)
		if hello != nil {
			s.servers.StartDedicated()
		}
		s.serveWhenReadyLocked(req)
		if hello != nil && s.Info.Sole {
			s.env.Host.Greet(*hello)
		}
	}
}

// noteFirstModernLocked stores what the first modern request says about its client. It returns what
// the servers may be told about the client; nil: the request is not the first.
func (s *Session) noteFirstModernLocked(req *client.Request) *mcpwire.Hello {
	if s.Peer.Modern {
		return nil
	}
	s.Peer.Modern = true
	hello := mcpwire.Hello{Version: mcpwire.Newest, Capabilities: s.declaredForModernLocked(req)}
	s.Peer.Declared = hello.Capabilities
	if at := req.Envelope.ClientInfo.Value; req.IsObject(at) {
		hello.Info = json.RawMessage(append([]byte(nil), req.Bytes(at)...))
		var info struct{ Name, Version string }
		if json.Unmarshal(hello.Info, &info) == nil {
			hello.Name, hello.NameVersion = info.Name, info.Version
		}
	}
	s.LogConnected(&hello, mcpwire.Newest)
	return &hello
}

// declaredForModernLocked returns the capabilities that legacy servers are told of. They include
// the extensions of the first request, unless other programs speak through the session or the
// client's budget is used up.
func (s *Session) declaredForModernLocked(req *client.Request) json.RawMessage {
	extensions := apps.ExtensionsOf(req.Bytes(req.Envelope.Capabilities.Value))
	if s.Info.Many || s.Retain(len(extensions)) != nil {
		return client.DeclaredForMany
	}
	return apps.WithExtensions(client.DeclaredForModern, extensions)
}

// refuseWithoutSession refuses a legacy request that was sent before initialize.
func (s *Session) refuseWithoutSession(req *client.Request) {
	s.Decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "begin with initialize, or name the revision of each request in its params._meta, as " + mcpwire.KeyVersion + " (" + mcpwire.Newest + ")"})
}

// notificationLocked handles a notification of the client.
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
		s.Tracker.Changed()
	case mcpwire.Progress:
		s.input.Progress(m, out)
	case mcpwire.TaskStatus:
		s.tasks.Notify(m, out)
	case mcpwire.RootsListChanged:
		for _, u := range s.servers.All {
			u.ForwardNotification(m, out)
		}
	}
}

// routeLocked finds the target of a request and forwards the request to the upstream server that
// owns the target, if the client may use it.
func (s *Session) routeLocked(req *client.Request) {
	at, kind, err := mcpwire.Target(req.Message, req.Method)
	if err != nil || !at.Present() {
		s.Refuse(req, client.BadTarget(req.Method, err))
		return
	}
	name := req.Text(at)
	switch {
	case req.Method == mcpwire.ToolsCall && s.own.Call(req, name):
		return
	case kind == mcpwire.Resource && string(name) == catalog.CatalogURI:
		s.own.CatalogResource(req)
		return
	}
	req.Route = client.Route{At: at, Name: name, ItemKind: kind, View: s.View.Load()}
	s.findLocked(req)
	if req.Method == mcpwire.Unsubscribe {
		req.Target, req.Verdict = s.subscriptions.FindUnsubscribe(name, req.Target, req.Verdict)
	}
	req.Upstream = upstream.Of(req.Target.Source)
	if !s.checkLocked(req) {
		return
	}
	if isOwnSubscription(req) {
		s.BeginAudit(req, req.Target, audit.Allowed, s.Reply(req, []byte("{}"))).End(audit.OK)
		s.subscriptions.Follow(req.Out)
		return
	}
	s.forward(req, at, req.Target)
}

// isOwnSubscription reports whether a request is for a subscription that toolman has at the server
// for all sessions: the server need not answer it.
func isOwnSubscription(req *client.Request) bool {
	return (req.Method == mcpwire.Subscribe || req.Method == mcpwire.Unsubscribe) && !req.Upstream.Feed.PassesSubscriptions()
}

// findLocked looks the target of a request up in the client's view. The request may come from a
// page (MCP Apps), which names items as its server does.
func (s *Session) findLocked(req *client.Request) {
	req.Route.Find(req.Tool)
	if req.View.Catalog.Apps == nil || req.Tool != nil || s.pages == nil || !apps.Supported(s.capabilitiesLocked(req)) {
		return
	}
	req.Target, req.Verdict = req.View.FindForPage(req.ItemKind, string(req.Name), s.pages, req.Target, req.Verdict)
}

// capabilitiesLocked returns the capabilities that the client of a request has declared.
func (s *Session) capabilitiesLocked(req *client.Request) []byte {
	switch {
	case req.Modern:
		return req.Bytes(req.Envelope.Capabilities.Value)
	case s.Peer.Hello != nil:
		return s.Peer.Hello.Capabilities
	}
	return nil
}

// notePageLocked records that the client may show a page of a server after this request.
func (s *Session) notePageLocked(method mcpwire.Method, e *catalog.Entry) {
	called, read := method == mcpwire.ToolsCall && e.App.HasPage(), method == mcpwire.ResourcesRead && e.IsPage()
	if !called && !read {
		return
	}
	if pages := s.openPage(); called {
		if pages.Called(e.Source.Name) {
			s.Tracker.Changed()
		}
	} else {
		pages.Read(e.Source.Name)
	}
	s.routeCache.view = nil // a name of a page may now mean another item
}

// routeTaskLocked forwards a request about a task of a server.
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

// forwardConfirmedLocked forwards a call that the user has confirmed, if the tool is unchanged and
// may still be called. The call's duration starts now, because the user's time is not toolman's.
func (s *Session) forwardConfirmedLocked(req *client.Request, e *catalog.Entry) {
	if s.Clock.Timed() {
		req.ArrivedAt = s.Clock.Now()
	}
	at, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	req.Route = client.Route{At: at, Name: req.Text(at), ItemKind: mcpwire.Tool, View: s.View.Load()}
	s.findLocked(req)
	switch {
	case !s.checkActive(req):
	case req.Target.Entry != e:
		s.confirmer.DenyUnconfirmed(req, e, input.ChangedMeanwhile)
	case !s.AllowsArguments(req):
	default:
		s.forward(req, at, req.Target)
	}
}

// checkLocked reports whether a request may be forwarded now. If not, it was answered or waits.
//
// These are all checks of a request that names an item. The checks of the message precede them
// (requestLocked, serveLocked). Only two more follow: what the server's era cannot express
// (input.Requests.TranslateRequest) and the limit of calls at the server (Upstream.admit).
func (s *Session) checkLocked(req *client.Request) bool {
	for _, passes := range [...]func(*Session, *client.Request) bool{
		(*Session).checkActive,       // policy, toolset limit, pin and activation
		(*Session).checkCaller,       // what the front checks, such as headers that mirror the call
		(*Session).AllowsArguments,   // the policy's conditions on arguments
		(*Session).checkServer,       // the session has a connection to the server, which has started
		(*Session).checkRestarted,    // the server has not forgotten the session
		(*Session).checkLogLevel,     // the server logs at the level that the request wants
		(*Session).checkConfirmed,    // the user has confirmed a call of a dangerous tool
		(*Session).checkSubscription, // there is room for a subscription
	} {
		if !passes(s, req) {
			return false
		}
	}
	return true
}

func (s *Session) checkActive(req *client.Request) bool {
	switch {
	case req.Verdict != catalog.Active:
	case req.ByModel && req.Target.Entry.App.HiddenFromModel():
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: catalog.Denied.String(), About: req.Target, Rule: "only pages of its server may call it",
			Text: "only pages of its server may call tool " + sanitize.Name(req.Target.Entry.Name) + "; go on without it"})
		return false
	default:
		return true
	}
	if why := s.servers.RefuseUnconfigured(req.ItemKind, string(req.Name)); why != nil && req.Verdict == catalog.Unknown {
		s.Refuse(req, *why)
		return false
	}
	s.Refuse(req, refuseName(req.View, req.ItemKind, string(req.Name), req.Target, req.Verdict, s.own.Guidance(req.Modern)))
	return false
}

func (s *Session) checkCaller(req *client.Request) bool {
	if s.Front.Checker == nil || req.Method != mcpwire.ToolsCall {
		return true
	}
	why := s.Front.Checker.CheckCall(req.Message, req.Target.Entry)
	if why != nil {
		s.Decline(req, why)
	}
	return why == nil
}

func (s *Session) checkServer(req *client.Request) bool {
	why := s.servers.RefuseMissing(req.Upstream)
	if why != nil {
		why.About = req.Target
		s.Refuse(req, *why)
		return false
	}
	if !req.Upstream.Recalled() {
		return true
	}
	req.Upstream.Want()
	if isOwnSubscription(req) {
		return true
	}
	s.waiting.Park(req) // it is looked up again when the server is ready or gone
	return false
}

func (s *Session) checkLogLevel(req *client.Request) bool {
	want := s.levels.MissingLocked(req, req.Upstream)
	return want == 0 || !s.levels.RaiseLocked(req, req.Upstream, want, s.serveWhenReadyLocked)
}

func (s *Session) checkConfirmed(req *client.Request) bool {
	return s.confirmer.Confirmed(req, req.Target)
}

func (s *Session) checkSubscription(req *client.Request) bool {
	err := s.subscriptions.Record(req.Method, req.Target, req.Name)
	switch {
	case err != nil:
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error(), About: req.Target})
	case req.Method == mcpwire.Subscribe || req.Method == mcpwire.Unsubscribe:
		s.Tracker.Changed()
	}
	return err == nil
}

// refuseName returns the refusal of a name that cannot be used.
func refuseName(v *view.View, k mcpwire.Kind, name string, t catalog.Target, verdict catalog.Verdict, has *metatool.Guidance) client.Refusal {
	return client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: verdict.String(), About: t, Text: has.Explain(v, k, name, t, verdict)}
}

// forward sends a request to an upstream server. It replaces the request ID and the progress token,
// and the name or URI where the server uses another one. It changes no other byte.
func (s *Session) forward(req *client.Request, at jsonrpc.Span, t catalog.Target) {
	u, token := upstream.Of(t.Source), req.Envelope.Token.Value
	c := calls.Call{Caller: s, Method: req.Method, Entry: t.Entry, Task: mcpwire.AsksForTask(req.Message), Modern: req.Modern}
	c.Keep(req.Message, token)
	if level := req.Envelope.LogLevel.Value; req.Modern && level.Present() {
		c.Logs = calls.ThresholdOf(req.Text(level))
	}
	if u.Results != nil && s.answerFromCache(req, at, u, &c, t) {
		return
	}
	if req.Modern != u.Source.Modern && !s.input.TranslateRequest(req, &c, t) || req.Modern && u.Source.Modern && !s.input.HideTasks(req) {
		return
	}
	c.Elicits = u.Source.Modern && (!req.Modern || inputreq.CanElicit(req.Bytes(req.Envelope.Capabilities.Value)))
	s.input.PrepareRetry(req, &c, t)
	if s.Clock.Timed() {
		c.ArrivedAt, c.SentAt = req.ArrivedAt, s.Clock.Now()
	}
	c.TraceID = s.TraceArrival(req, at)
	if s.Audit != nil {
		c.Audited = s.BeginForwardedAudit(req, t, c.TraceID)
		c.Audited.Asked(len(req.Frame))
	}
	switch {
	case string(req.Text(at)) == t.Name(): // the client uses the server's name
	case t.URI != "":
		req.Out.Edit(at, jsonrpc.AppendQuoted(nil, t.URI))
	case t.Entry != nil:
		req.Out.Edit(at, t.Entry.Quoted)
	}
	if !c.Modern && c.Context != nil {
		input.KeepRequest(&c, req.Out.Preview(req.Frame))
	}
	if t.Entry != nil {
		s.notePageLocked(c.Method, t.Entry)
	}
	s.noteUse(u)
	s.cacheRouteLocked(req, at, &c)
	if c.Modern && c.Context != nil {
		u = s.servers.Lease(u, input.CapabilitiesOf(&c), c.Logs, req.Out)
	}
	u.Calls.Submit(req.Message, req.Out, &c, token, t.Name())
}

// A routeCache is the route of the latest tool call. The next call with the same frame template and
// the same tool name reuses it while the session's view is unchanged, so that routeLocked and
// forward need not run again. With 64 calls in flight over stdio this gives 10 % more calls per
// second (fixtures/bench, flight64).
type routeCache struct {
	template jsonrpc.TemplateID
	view     *view.View
	name     []byte // of the tool, as the client spells it
	rename   []byte // replaces name for the upstream server; nil: the name stays
	entry    *catalog.Entry
}

// cacheRouteLocked stores the route of a call unless the call needs special handling.
func (s *Session) cacheRouteLocked(req *client.Request, at jsonrpc.Span, c *calls.Call) {
	if c.Method != mcpwire.ToolsCall || c.Modern || c.Task || c.Context != nil || upstream.Of(c.Entry.Source).Results != nil || c.Entry.NeedsConfirmation() || s.View.Load().Catalog.Conditions(c.Entry) != nil || req.Envelope.Meta.Present() || req.Template == (jsonrpc.TemplateID{}) {
		return
	}
	l := &s.routeCache
	l.template, l.view, l.name, l.rename = req.Template, s.View.Load(), append(l.name[:0], req.Bytes(at)...), nil
	if string(req.Text(at)) != c.ServerName() {
		l.rename = c.Entry.Quoted
	}
	l.entry = c.Entry
}

// cachedRouteLocked reports whether the cached route applies to a request, and where the request
// names the tool. Timed, traced and audited requests do not use the cache.
func (s *Session) cachedRouteLocked(req *client.Request) (at jsonrpc.Span, ok bool) {
	l := &s.routeCache
	if req.Template != l.template || l.view != s.View.Load() || l.view == nil || s.Clock.Timed() || !s.own.CatalogReady() || s.waiting.Blocks() {
		return at, false
	}
	at, _ = req.Param("name")
	return at, string(req.Bytes(at)) == string(l.name)
}

// forwardCachedLocked is forward for a call with the cached route.
func (s *Session) forwardCachedLocked(req *client.Request, at jsonrpc.Span) {
	l := &s.routeCache
	c := calls.Call{Caller: s, Method: mcpwire.ToolsCall, Entry: l.entry}
	c.Keep(req.Message, jsonrpc.Span{})
	if l.rename != nil {
		req.Out.Edit(at, l.rename)
	}
	upstream.Of(c.Entry.Source).Calls.Submit(req.Message, req.Out, &c, jsonrpc.Span{}, c.ServerName())
}
