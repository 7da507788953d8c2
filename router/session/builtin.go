package session

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/toolset"
	"toolman/router/tracing"
	"toolman/router/upstream"
	"toolman/router/view"
)

// callBuiltinLocked serves a call of one of toolman's own tools. It reports whether name is one.
func (s *Session) callBuiltinLocked(req *client.Request, name []byte) bool {
	switch string(name) {
	case catalog.ActivateTool:
		if s.builtin.offers.NoActivate {
			return false
		}
		s.activateLocked(req)
		return true
	case metatool.CallTool:
		if s.Info.Static != "" {
			return false
		}
		s.callThroughLocked(req)
		return true
	}
	t := s.builtin.tools[string(name)]
	if t == nil {
		return false
	}
	s.withLibraryLocked(req, t.Call)
	return true
}

// activateLocked handles a call of toolman_activate.
func (s *Session) activateLocked(req *client.Request) {
	a, err := metatool.ParseActivation(req.Message)
	activate := func(c *metatool.Context) metatool.Outcome { return metatool.Activate(c, a, err) }
	if err == nil && a.NamesToolsets() && s.modeOf(req.Modern) != view.ModeStatic {
		s.withLibraryLocked(req, activate)
		return
	}
	s.runBuiltinLocked(req, &metatool.Library{}, activate)
}

// contextLocked returns the context of a call of one of toolman's own tools.
func (s *Session) contextLocked(req *client.Request, l *metatool.Library) *metatool.Context {
	return &metatool.Context{Message: req.Message, View: s.View.Load(), Modern: req.Modern, Guidance: s.guidanceLocked(req.Modern),
		Library: l, Shelf: s.env.Shelf, Fixed: s.env.Host.Toolsets(), Owner: s.Info.Principal.Owner(), Unavailable: s.unavailableLocked}
}

// unavailableLocked returns the names of the servers that are not ready.
func (s *Session) unavailableLocked() (names []string) {
	for _, u := range s.servers.All {
		if u.KnownTo(s.View.Load().Catalog) && u.Status().State != upstream.Ready {
			names = append(names, u.Name)
		}
	}
	return names
}

// guidanceLocked returns what refusals of the client's requests of an era may refer to.
func (s *Session) guidanceLocked(modern bool) *metatool.Guidance {
	return &metatool.Guidance{Mode: s.modeOf(modern), Offers: s.builtin.offers, Tools: s.builtin.tools, Fixed: cmp.Or(s.Info.Static, metatool.FixedByMode), Lists: s.Info.Lists}
}

// definitions returns the definitions of toolman's own tools.
func (s *Session) definitions() *metatool.Definitions {
	return &metatool.Definitions{Own: s.builtin.tools, Toolsets: s.env.Host.Toolsets(), CatalogBytes: s.env.CatalogBytes}
}

// callThroughLocked handles a call of toolman_call. It replaces the frame by a direct call of the
// named tool with the same argument bytes. The rest of the code treats it like a direct call.
func (s *Session) callThroughLocked(req *client.Request) {
	through, err := metatool.ParseThrough(req.Message)
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	s.TraceArrival(req, through.Tool())
	call, err := req.Rewritten(through.Frame(req.Message))
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: err.Error()})
		return
	}
	call.ByModel = true
	s.routeLocked(call)
}

// withLibraryLocked serves a call that needs the toolsets: immediately if no toolset can have been
// saved, otherwise after the file was read.
func (s *Session) withLibraryLocked(req *client.Request, call func(*metatool.Context) metatool.Outcome) {
	if s.env.Shelf == nil || s.Info.Only != nil {
		s.runBuiltinLocked(req, s.env.Host.Library(&s.Info), call)
		return
	}
	s.waiting.RunInBackground(req, func(context.Context) client.Completion {
		l := s.env.Host.Library(&s.Info)
		return func(req *client.Request) { s.runBuiltinLocked(req, l, call) }
	})
}

// runBuiltinLocked makes a call of one of toolman's own tools, and applies its outcome. If another
// session of the client has changed the activations meanwhile, the call is made again with these.
func (s *Session) runBuiltinLocked(req *client.Request, l *metatool.Library, call func(*metatool.Context) metatool.Outcome) {
	for {
		s.followLocked(req.Out)
		o := call(s.contextLocked(req, l))
		if o.View == nil || s.shared.Replace(o.View.Activations()) {
			s.concludeBuiltinLocked(req, o)
			return
		}
	}
}

// concludeBuiltinLocked applies the outcome of a call of one of toolman's own tools.
func (s *Session) concludeBuiltinLocked(req *client.Request, o metatool.Outcome) {
	switch {
	case o.Err != nil:
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: o.Err.Error()})
	case o.Save != nil:
		s.saveLocked(req, o)
	case o.View != nil:
		s.replyAfterRelistLocked(req, o)
	default:
		s.answerBuiltinLocked(req, o.Result, o.Failed)
	}
}

// saveLocked updates the saved toolsets in the background and then continues with the resulting
// outcome.
func (s *Session) saveLocked(req *client.Request, o metatool.Outcome) {
	s.waiting.RunInBackground(req, func(ctx context.Context) client.Completion {
		var refused error
		err := s.env.Shelf.Update(ctx, func(saved map[string]toolset.Set) error {
			refused = o.Save(saved)
			return refused
		})
		if refused == nil {
			err = s.env.Host.ShelfError(&s.Info, err)
		}
		return func(req *client.Request) {
			if err != nil {
				s.concludeBuiltinLocked(req, metatool.Failure(sanitize.Line(err.Error())))
				return
			}
			s.runBuiltinLocked(req, &metatool.Library{}, o.Then)
		}
	})
}

// answerBuiltinLocked answers a call of one of toolman's own tools.
func (s *Session) answerBuiltinLocked(req *client.Request, outcome any, failed bool) {
	result, how := mcpwire.AppendToolOutcome(req.Era(), nil, metatool.JSON(outcome), nil, false), audit.OK
	if failed {
		result, how = mcpwire.AppendToolFailure(req.Era(), nil, metatool.JSON(outcome)), audit.Refused
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	d := s.BeginOwnAudit(req, n)
	d.Replied(result)
	d.End(how)
	s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: mcpwire.ToolsCall, Status: "local"})
}

// replyDelay is the time between the answer to the client's list request and the reply that waited
// for it. With this delay, Claude Code, Gemini CLI and OpenCode have the new tools in the model's
// next step. Without it they do not.
const replyDelay = 50 * time.Millisecond

// A pendingReply is the reply to a successful activation that waits until the client lists the
// tools again.
type pendingReply struct {
	id      []byte
	traceID uint64
	modern  bool             // the request is of the modern era
	mode    view.Mode        // of the request
	on, off []*catalog.Entry // the entries that were switched
	listed  bool             // the client has listed the tools again
	timer   *time.Timer
	outcome metatool.Outcome
	audited *audit.Decision
}

// replyAfterRelistLocked gives the client a new view and announces the changes. If the client is
// expected to list the tools again, the reply waits until then, at most for Env.Settle.
func (s *Session) replyAfterRelistLocked(req *client.Request, o metatool.Outcome) {
	before, after := s.View.Load(), o.View
	s.View.Store(after)
	s.env.Host.ViewChanged(&s.Info, s.Name(), before, after)
	on, off := metatool.Switched(before, after)
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	h := &pendingReply{id: bytes.Clone(req.Bytes(req.ID)), modern: req.Modern, mode: s.modeOf(req.Modern), traceID: s.TraceArrival(req, name),
		on: on, off: off, outcome: o}
	h.audited = s.BeginOwnAudit(req, h.traceID)
	if s.Trace.On() {
		s.Trace.Event(trace.EventActivate, "", metatool.Confirmation(on, off), h.traceID)
	}
	told := s.announceLocked(before, after, req.Out)
	if !told || h.mode != view.ModeMutate || s.Peer.ListsOnce || s.env.Settle <= 0 {
		s.replyLocked(h, req.Out)
		return
	}
	s.replies = append(s.replies, h)
	h.timer = time.AfterFunc(s.env.Settle, func() { s.expire(h) })
}

// toolsRelistedLocked records that the client has listed the tools again.
func (s *Session) toolsRelistedLocked() {
	for _, h := range s.replies {
		if !h.listed {
			h.listed = true
			h.timer.Reset(replyDelay)
		}
	}
}

// expire sends a pending reply when its timer fires: the client has listed the tools again or has
// not done so in time.
func (s *Session) expire(h *pendingReply) {
	s.WithLock(func(out *peer.Outgoing) {
		if slices.Contains(s.replies, h) {
			if !h.listed && !s.Peer.ListsOnce {
				s.Peer.ListsOnce = true
				s.Log.Info("the client does not list tools again when they change; activations will not wait for it. If it then cannot call them, write activation_mode = \"call\"",
					zap.String("session", s.Name()))
			}
			s.releaseLocked(h, out)
		}
	})
}

// releaseLocked sends a pending reply now.
func (s *Session) releaseLocked(h *pendingReply, out *peer.Outgoing) {
	h.timer.Stop()
	s.replies = slices.DeleteFunc(slices.Clone(s.replies), func(other *pendingReply) bool { return other == h })
	s.Trace.ListedAgain(h.listed, h.traceID)
	s.replyLocked(h, out)
}

// dropReplyLocked removes and returns the reply to a cancelled request, or returns nil. The effect
// of the request stays.
func (s *Session) dropReplyLocked(id []byte) *pendingReply {
	for i, h := range s.replies {
		if bytes.Equal(h.id, id) {
			h.timer.Stop()
			s.replies = slices.Delete(slices.Clone(s.replies), i, i+1)
			return h
		}
	}
	return nil
}

// replyLocked answers a call that has changed the client's view.
func (s *Session) replyLocked(h *pendingReply, out *peer.Outgoing) {
	r := metatool.Reply{On: h.on, Off: h.off, Modern: h.modern, Mode: h.mode, Static: s.Peer.ListsOnce}
	result := r.Result(&h.outcome)
	h.audited.Replied(result)
	h.audited.End(audit.OK)
	s.Send(out, jsonrpc.AppendResult(nil, h.id, result), tracing.Note{ID: h.traceID, Method: mcpwire.ToolsCall, Status: "local"})
}

// announceLocked sends a list_changed notification for each kind whose list in the client's mode
// differs between two views. It reports whether it announced a change of the tools.
func (s *Session) announceLocked(before, after *view.View, out *peer.Outgoing) (tools bool) {
	active := before.Changes(after)
	listed := func(modern bool) view.Changes {
		if s.modeOf(modern) == view.ModeMutate {
			return active
		}
		return before.AtStart().Changes(after.AtStart())
	}
	legacy, modern := listed(false), listed(true)
	tools = s.subscriptions.ListChanged(out, mcpwire.ToolsListChanged, legacy.Tools, modern.Tools)
	if active.Tools {
		s.subscriptions.CatalogChanged(out)
	}
	s.subscriptions.ListChanged(out, mcpwire.ResourcesListChanged, legacy.Resources, modern.Resources)
	s.subscriptions.ListChanged(out, mcpwire.PromptsListChanged, legacy.Prompts, modern.Prompts)
	return tools
}

// listLocked answers a list request. The first page is rendered once per view.
func (s *Session) listLocked(req *client.Request, k mcpwire.Kind) {
	as := s.variantLocked(req.Modern)
	v := s.View.Load().Listed(as.Mode)
	from, err := view.Cursor(req.Message)
	if err == nil && from > len(v.Catalog.Entries(k)) {
		err = view.ErrCursor
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	own := view.OwnItems{Tools: func() []byte { return s.definitions().Tools(v, as) }, Resource: metatool.CatalogResource(s.builtin.offers)}
	var p *view.Page
	if from > 0 {
		p = v.Page(as, k, from, own)
	} else {
		p = v.FirstPage(as, k, own)
	}
	n := s.TraceArrival(req, jsonrpc.Span{})
	req.Out.Edit(view.PageID, req.Bytes(req.ID))
	s.Pass(req.Out, &jsonrpc.Message{Frame: p.Frame, Kind: jsonrpc.Response, ID: view.PageID}, &tracing.Note{ID: n, Method: k.ListMethod(), Status: "local"})
	if k == mcpwire.Tool && p.Last {
		s.toolsRelistedLocked()
	}
}

// variantLocked returns the variant of the lists for the client's requests of an era.
func (s *Session) variantLocked(modern bool) view.Variant {
	return view.Variant{Modern: modern, Mode: s.modeOf(modern), AlwaysLoad: s.alwaysLoad(), Habits: view.HabitsOf(s.Name()), Offers: s.builtin.offers}
}

// alwaysLoad reports whether lists mark tools as always loaded.
func (s *Session) alwaysLoad() bool {
	if fixed := s.env.AlwaysLoad; fixed != nil {
		return *fixed
	}
	return view.HabitsOf(s.Name()).Defers
}

// modeOf returns the mode for the client's requests of an era. Lists change only for clients that
// can receive list_changed: those of the modern era must have a subscription for it.
func (s *Session) modeOf(modern bool) view.Mode {
	switch {
	case s.Info.Static != "":
		return view.ModeStatic
	case s.env.Mode != view.ModeAuto:
		return s.env.Mode
	case modern && !s.subscriptions.HearsOfTools():
		return view.ModeCall
	case !modern && view.HabitsOf(s.Name()).ListsOnce:
		return view.ModeCall
	}
	return view.ModeMutate
}

// catalogResourceLocked answers requests about toolman's own resource.
func (s *Session) catalogResourceLocked(req *client.Request) {
	result := []byte("{}")
	switch req.Method {
	case mcpwire.ResourcesRead:
		result = append([]byte(nil), `{"contents":[{"uri":"`+catalog.CatalogURI+`","mimeType":"text/plain","text":"`...)
		result = append(view.AppendCatalog(result, s.View.Load(), 0), `"}]}`...)
	case mcpwire.Subscribe:
		if err := s.subscriptions.Catalog(true); err != nil {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
			return
		}
	case mcpwire.Unsubscribe:
		s.subscriptions.Catalog(false)
	}
	s.BeginOwnAudit(req, s.Reply(req, result)).End(audit.OK)
}
