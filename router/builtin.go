package router

import (
	"cmp"
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

// callBuiltinLocked serves a call of one of toolman's own tools. It reports whether it was
// one.
func (s *Session) callBuiltinLocked(req *client.Request, name []byte) bool {
	switch string(name) {
	case catalog.ActivateTool:
		if s.builtin.offers.NoActivate {
			return false
		}
		s.activateLocked(req)
		return true
	case metatool.CallTool:
		if s.Who.Static != "" {
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
	s.concludeBuiltinLocked(req, activate(s.contextLocked(req, &metatool.Library{})))
}

// contextLocked is what a call of one of toolman's own tools may look at.
func (s *Session) contextLocked(req *client.Request, l *metatool.Library) *metatool.Context {
	return &metatool.Context{Message: req.Message, View: s.View.Load(), Modern: req.Modern, Guidance: s.guidanceLocked(req.Modern),
		Library: l, Shelf: s.env.Shelf, Fixed: s.env.Host.Toolsets(), Owner: s.Who.Principal.Owner(), Unavailable: s.unavailableLocked}
}

// unavailableLocked are the names of the servers that are not ready.
func (s *Session) unavailableLocked() (names []string) {
	for _, u := range s.servers.All {
		if u.KnownTo(s.View.Load().Catalog) && u.Status().State != upstream.Ready {
			names = append(names, u.Name)
		}
	}
	return names
}

// withLibraryLocked serves a call that is about toolsets: at once when none can
// have been saved, else when the file is read.
func (s *Session) withLibraryLocked(req *client.Request, call func(*metatool.Context) metatool.Outcome) {
	if s.env.Shelf == nil || s.Who.Only != nil {
		s.concludeBuiltinLocked(req, call(s.contextLocked(req, s.env.Host.Library(&s.Who))))
		return
	}
	s.runInBackgroundLocked(req, func(context.Context) completion {
		l := s.env.Host.Library(&s.Who)
		return func(req *client.Request) { s.concludeBuiltinLocked(req, call(s.contextLocked(req, l))) }
	})
}

// concludeBuiltinLocked does what a call of one of toolman's own tools has led to.
func (s *Session) concludeBuiltinLocked(req *client.Request, o metatool.Outcome) {
	switch {
	case o.Err != nil:
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: o.Err.Error()})
	case o.Save != nil:
		s.saveLocked(req, o)
	case o.View != nil:
		s.replyAfterRelistLocked(req, o)
	default:
		s.sayLocked(req, o.Result, o.Failed)
	}
}

// saveLocked changes the saved toolsets in the background, and goes on with the outcome of that.
func (s *Session) saveLocked(req *client.Request, o metatool.Outcome) {
	s.runInBackgroundLocked(req, func(ctx context.Context) completion {
		var refused error
		err := s.env.Shelf.Update(ctx, func(saved map[string]toolset.Set) error {
			refused = o.Save(saved)
			return refused
		})
		if refused == nil {
			err = s.env.Host.ShelfError(&s.Who, err)
		}
		return func(req *client.Request) {
			if err != nil {
				s.concludeBuiltinLocked(req, metatool.Failure(sanitize.Line(err.Error())))
				return
			}
			s.concludeBuiltinLocked(req, o.Then(s.contextLocked(req, &metatool.Library{})))
		}
	})
}

// callThroughLocked handles a call of toolman_call: it becomes the call of the tool
// that it names, in the frame that came, with the bytes of that tool's arguments.
// All that comes after it sees no difference to a call of the tool.
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
	s.routeLocked(call)
}

// sayLocked answers a call of one of these tools.
func (s *Session) sayLocked(req *client.Request, outcome any, failed bool) {
	result := mcpwire.AppendToolOutcome(req.Era(), nil, metatool.JSON(outcome), nil, false)
	if failed {
		result = mcpwire.AppendToolFailure(req.Era(), nil, metatool.JSON(outcome))
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.TraceArrival(req, name)
	how := audit.OK
	if failed {
		how = audit.Refused
	}
	s.DecideOwn(req, n).End(how)
	s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: mcpwire.ToolsCall, Status: "local"})
}

// guidanceLocked is what refusals of the client's requests of an era may refer to.
func (s *Session) guidanceLocked(modern bool) *metatool.Guidance {
	return &metatool.Guidance{Mode: s.modeOf(modern), Offers: s.builtin.offers, Tools: s.builtin.tools, Fixed: cmp.Or(s.Who.Static, metatool.FixedByMode), Lists: s.Who.Lists}
}

// definitions are those of toolman's own tools.
func (s *Session) definitions() *metatool.Definitions {
	return &metatool.Definitions{Own: s.builtin.tools, Toolsets: s.env.Host.Toolsets(), CatalogBytes: s.env.CatalogBytes}
}
