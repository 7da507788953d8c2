package router

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
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
	v := s.View.Load()
	in := map[string][]string{}
	for _, set := range s.env.Host.Library(&s.Who).Sets {
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
	c := s.View.Load().Catalog
	return slices.Concat(c.Entries(mcpwire.Tool), c.Denied.Entries(mcpwire.Tool))
}

// FindTool returns a tool by its server's name for it or the one that clients see, also one
// that the session may not have: calls of that are refused. Nil: there is none.
func (s *Session) FindTool(server, tool string) *catalog.Entry {
	s.Mu.Lock()
	upstreams := s.servers.All
	s.Mu.Unlock()
	c := s.View.Load().Catalog
	for _, u := range upstreams {
		if !u.Source.HasName(server) {
			continue
		}
		for _, name := range []string{u.Source.Expose(mcpwire.Tool, tool), tool} {
			e := c.ByName[mcpwire.Tool][name]
			if e == nil {
				e = c.IsDenied(name, mcpwire.Tool)
			}
			if e != nil && (e.Item.Name == tool || e.Name == tool) && e.Source.HasName(server) {
				return e
			}
		}
	}
	return nil
}

// Verdict says what the session may do with a tool that FindTool has found.
func (s *Session) Verdict(e *catalog.Entry) catalog.Verdict {
	v := s.View.Load()
	if v.Catalog.ByName[e.Item.Kind][e.Name] == e {
		return v.Verdict(e)
	}
	_, verdict := v.Catalog.Keeps(e)
	return verdict
}

// Upstream returns what is known of a server by its name; false: there is none that the session may
// know of.
func (s *Session) Upstream(name string) (upstream.Status, bool) {
	for _, u := range s.known() {
		if u.Source.HasName(name) {
			return u.Status(), true
		}
	}
	return upstream.Status{}, false
}

// Servers are the names of the servers that the session may know of, in their order.
func (s *Session) Servers() []string {
	var names []string
	for _, u := range s.known() {
		names = append(names, u.Name)
	}
	return names
}

func (s *Session) known() []*upstream.Upstream {
	s.Mu.Lock()
	upstreams := s.servers.All
	s.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(upstreams), func(u *upstream.Upstream) bool { return !s.Knows(u) })
}

// Unstarted returns the name of a server that is another for each session, that this one may use and
// that starts with the first request of its client; "" if there is none. With a name it is about
// the servers that go by that.
func (s *Session) Unstarted(server string) string { return s.servers.Unstarted(server) }
