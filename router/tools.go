package router

import (
	"slices"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// A Tool is one that a session may have.
type Tool struct {
	*catalog.Entry
	Active   bool     // in the lists of its agent's clients, as long as they have switched nothing
	Toolsets []string // those that have it, in the order of the configuration
}

// Tools returns the tools that the session may have, active or not, in catalog order. It
// may wait for the disk, where saved toolsets are.
func (s *Session) Tools() []Tool {
	v := s.view.Load()
	in := map[string][]string{}
	for _, set := range s.who.library(s.r).Sets {
		for name := range v.Catalog.Expand(set).Tools {
			in[name] = append(in[name], set.Name)
		}
	}
	var all []Tool
	for _, e := range v.Catalog.Entries(mcpwire.Tool) {
		if !e.HiddenFrom(true) {
			all = append(all, Tool{Entry: e, Active: v.SwitchedOn(e), Toolsets: in[e.Name]})
		}
	}
	return all
}

// Known returns every tool that FindTool may return, those first that the session may have.
func (s *Session) Known() []*catalog.Entry {
	c := s.view.Load().Catalog
	return slices.Concat(c.Entries(mcpwire.Tool), c.Denied.Entries(mcpwire.Tool))
}

// A FoundTool is a tool that FindTool has found, and what the session may do with it.
type FoundTool struct {
	*catalog.Entry
	Verdict catalog.Verdict
	view    *view.View // in which it was found
}

// FindTool finds a tool by its server's name for it or by the one that clients see. It also finds tools
// that the session may not use: their Verdict refuses calls. Nil: there is no such tool.
func (s *Session) FindTool(server, tool string) *FoundTool {
	s.mu.Lock()
	upstreams := s.servers.all
	s.mu.Unlock()
	v := s.view.Load()
	for _, u := range upstreams {
		if !u.source.HasName(server) {
			continue
		}
		for _, name := range []string{u.source.Expose(mcpwire.Tool, tool), tool} {
			e, verdict := v.Catalog.ByName[mcpwire.Tool][name], catalog.Active
			if e != nil {
				verdict = v.Verdict(e)
			} else if e = v.Catalog.IsDenied(name, mcpwire.Tool); e != nil {
				_, verdict = v.Catalog.Keeps(e)
			}
			if e != nil && (e.Item.Name == tool || e.Name == tool) && e.Source.HasName(server) {
				return &FoundTool{e, verdict, v}
			}
		}
	}
	return nil
}

// Call is Message for a tools/call of a tool that FindTool has found. The tool is not looked up again,
// unless the session's view has changed since then.
func (s *Session) Call(m *jsonrpc.Message, t *FoundTool, out *peer.Outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked(m, t, out)
}

// Upstream returns what is known of a server by its name; false: there is none that the session may
// know of.
func (s *Session) Upstream(name string) (Status, bool) {
	for _, u := range s.known() {
		if u.source.HasName(name) {
			return u.Status(), true
		}
	}
	return Status{}, false
}

// Servers are the names of the servers that the session may know of, in their order.
func (s *Session) Servers() []string {
	var names []string
	for _, u := range s.known() {
		names = append(names, u.Name)
	}
	return names
}

func (s *Session) known() []*Upstream {
	s.mu.Lock()
	upstreams := s.servers.all
	s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(upstreams), func(u *Upstream) bool { return !s.knows(u) })
}

// knows reports whether the client may know that there is a server.
func (s *Session) knows(u *Upstream) bool { return u.knownTo(s.view.Load().Catalog) }

// knownTo reports whether clients of a catalog may know that there is the server.
func (u *Upstream) knownTo(c *catalog.Catalog) bool { return c.Knows(u.source, u.offer().Entries) }
