package builtin

import (
	"context"

	"toolman/jsonrpc"
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

// Call serves a call of one of toolman's own tools. It reports whether name is one.
func (s *Items) Call(req *client.Request, name []byte) bool {
	switch string(name) {
	case catalog.ActivateTool:
		if s.Offers.NoActivate {
			return false
		}
		s.activate(req)
		return true
	case metatool.CallTool:
		if s.Info.Static != "" {
			return false
		}
		s.callThrough(req)
		return true
	}
	t := s.Tools[string(name)]
	switch {
	case t == nil:
		return false
	case t.Name == metatool.SearchTool:
		s.search(req, t)
	case t.Name == metatool.LoginTool:
		if !s.canLogIn(req) {
			return false
		}
		s.login(req)
	default:
		s.withLibrary(req, t.Call)
	}
	return true
}

// search handles a call of toolman_search. What it needs of a large catalog is made in the
// background.
func (s *Items) search(req *client.Request, t *metatool.Tool) {
	c := s.View.Load().Catalog
	s.Waiting.RunInBackground(req, func(context.Context) client.Completion {
		c.PrepareSearch()
		return func(req *client.Request) { s.run(req, &metatool.Library{}, t.Call) }
	})
}

// activate handles a call of toolman_activate.
func (s *Items) activate(req *client.Request) {
	a, err := metatool.ParseActivation(req.Message)
	activate := func(c *metatool.Context) metatool.Outcome { return metatool.Activate(c, a, err) }
	if err == nil && a.NamesToolsets() && s.mode(req.Modern) != view.ModeStatic {
		s.withLibrary(req, activate)
		return
	}
	s.run(req, &metatool.Library{}, activate)
}

// newContext returns the context of a call of one of toolman's own tools.
func (s *Items) newContext(req *client.Request, l *metatool.Library) *metatool.Context {
	return &metatool.Context{Message: req.Message, View: s.View.Load(), Modern: req.Modern, Guidance: s.Guidance(req.Modern),
		Library: l, Shelf: s.Settings.Shelf, Fixed: s.Settings.Host.Toolsets(), Owner: s.Info.Principal.Owner(), Unavailable: s.unavailable}
}

// unavailable returns the names of the servers that are not ready.
func (s *Items) unavailable() (names []string) {
	for _, u := range s.All {
		if state := u.Status().State; state != upstream.Ready && state != upstream.Cached && u.KnownTo(s.View.Load().Catalog) {
			names = append(names, u.Name)
		}
	}
	return names
}

// callThrough handles a call of toolman_call. It replaces the frame by a direct call of the named
// tool with the same argument bytes. The rest of the code treats it like a direct call.
func (s *Items) callThrough(req *client.Request) {
	through, err := parseThrough(req.Message)
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	s.TraceArrival(req, through.tool())
	call, err := req.Rewritten(through.frame(req.Message))
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Text: err.Error()})
		return
	}
	call.ByModel = true
	s.Route(call)
}

// withLibrary serves a call that needs the toolsets: immediately if no toolset can have been saved,
// otherwise after the file was read.
func (s *Items) withLibrary(req *client.Request, call func(*metatool.Context) metatool.Outcome) {
	if s.Settings.Shelf == nil || s.Info.Only != nil {
		s.run(req, s.Settings.Host.Library(&s.Info), call)
		return
	}
	s.Waiting.RunInBackground(req, func(context.Context) client.Completion {
		l := s.Settings.Host.Library(&s.Info)
		return func(req *client.Request) { s.run(req, l, call) }
	})
}

// run makes a call of one of toolman's own tools, and applies its outcome. If another session of
// the client has changed the activations meanwhile, the call is made again with these.
func (s *Items) run(req *client.Request, l *metatool.Library, call func(*metatool.Context) metatool.Outcome) {
	for {
		s.Follow(req.Out)
		o := call(s.newContext(req, l))
		if o.View == nil || s.shared.Replace(o.View.Activations()) {
			s.conclude(req, o)
			return
		}
	}
}

// conclude applies the outcome of a call of one of toolman's own tools.
func (s *Items) conclude(req *client.Request, o metatool.Outcome) {
	switch {
	case o.Err != nil:
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: o.Err.Error()})
	case o.Save != nil:
		s.save(req, o)
	case o.View != nil:
		s.replyAfterRelist(req, o)
	default:
		s.answer(req, o.Result, o.Failed)
	}
}

// save updates the saved toolsets in the background and then continues with the resulting outcome.
func (s *Items) save(req *client.Request, o metatool.Outcome) {
	s.Waiting.RunInBackground(req, func(ctx context.Context) client.Completion {
		var refused error
		err := s.Settings.Shelf.Update(ctx, func(saved map[string]toolset.Set) error {
			refused = o.Save(saved)
			return refused
		})
		if refused == nil {
			err = s.Settings.Host.ShelfError(&s.Info, err)
		}
		return func(req *client.Request) {
			if err != nil {
				s.conclude(req, metatool.Failure(sanitize.Line(err.Error())))
				return
			}
			s.run(req, &metatool.Library{}, o.Then)
		}
	})
}

// answer answers a call of one of toolman's own tools.
func (s *Items) answer(req *client.Request, outcome any, failed bool) {
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
