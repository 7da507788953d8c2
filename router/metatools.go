package router

import (
	"context"
	"maps"
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A metaTool is a tool of toolman's own that is about toolsets.
type metaTool struct {
	name       string
	definition string // as a list has it, after its name
	free       bool   // it changes nothing that a client sees: there is no mode without it
	// serve answers a call, with the toolsets that there are.
	serve func(s *Session, req *request, l *library)
}

// metaTools returns the tools of the groups asked for, nil for none.
func metaTools(o view.MetaTools) map[string]*metaTool {
	var all []*metaTool
	switch {
	case o.Toolsets:
		all = append(all, toolsetTools()...)
	case o.List:
		all = append(all, toolsetTools()[0])
	}
	if o.Manage {
		all = append(all, manageTools()...)
	}
	var byName map[string]*metaTool
	for _, t := range all {
		if byName == nil {
			byName = map[string]*metaTool{}
		}
		byName[t.name] = t
	}
	return byName
}

// ownToolNames are the names that no server's tool can have.
func ownToolNames(o view.MetaTools, meta map[string]*metaTool) []string {
	names := slices.Sorted(maps.Keys(meta))
	if !o.NoActivate {
		names = append(names, catalog.ActivateTool)
	}
	return append(names, CallTool)
}

// ownCallLocked serves a call of one of toolman's own tools. It reports whether it was
// one.
func (s *Session) ownCallLocked(req *request, name []byte) bool {
	switch string(name) {
	case catalog.ActivateTool:
		if s.offers.NoActivate {
			return false
		}
		s.activateLocked(req)
		return true
	case CallTool:
		if s.who.Static != "" {
			return false
		}
		s.callThroughLocked(req)
		return true
	}
	t := s.meta[string(name)]
	if t == nil {
		return false
	}
	if s.modeOf(req.modern) == view.ModeStatic && !t.free {
		has := s.meansLocked(req.modern)
		s.failLocked(req, has.static())
		return true
	}
	s.withLibraryLocked(req, func(req *request, l *library) { t.serve(s, req, l) })
	return true
}

// withLibraryLocked serves a request that is about toolsets: at once when none can
// have been saved, else when the file is read.
func (s *Session) withLibraryLocked(req *request, serve func(*request, *library)) {
	if s.r.Shelf == nil || s.who.Only != nil {
		serve(req, s.who.library(s.r))
		return
	}
	s.apartLocked(req, func(context.Context) finish {
		l := s.who.library(s.r)
		return func(req *request) { serve(req, l) }
	})
}

// sayLocked answers a call of one of these tools.
func (s *Session) sayLocked(req *request, outcome any, failed bool) {
	result := mcpwire.AppendToolOutcome(req.era(), nil, outcomeJSON(outcome), nil, false)
	if failed {
		result = mcpwire.AppendToolFailure(req.era(), nil, outcomeJSON(outcome))
	}
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	n := s.arrivedLocked(req, name)
	how := audit.OK
	if failed {
		how = audit.Refused
	}
	s.decideOwnLocked(req, n).End(how)
	s.send(req.out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: mcpwire.ToolsCall, Status: "local"})
}

// failLocked answers a call of one of these tools that cannot be done.
func (s *Session) failLocked(req *request, why string) {
	s.sayLocked(req, simpleOutcome{Message: why}, true)
}

// metaLocked returns the tools of the groups, made when they are first asked for. Router.mu
// is held.
func (r *Router) metaLocked(o view.MetaTools) map[string]*metaTool {
	if _, ok := r.metas[o]; !ok {
		r.metas[o] = metaTools(o)
	}
	return r.metas[o]
}
