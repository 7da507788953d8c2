package pool

import (
	"cmp"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/upstream"
)

// FindTool finds a tool by its server's name for it, by the name that clients see, or by another
// name that addresses it alone. If server is "", the name alone decides, as in tools/call. FindTool
// also finds tools that the session may not use; their Verdict refuses calls. It returns nil if
// there is no such tool. Conn.Mu must not be held.
func (s *Servers) FindTool(server, tool string) *client.FoundTool {
	all, v := s.all(), s.View.Load()
	for _, u := range all {
		if !u.Source.HasName(server) {
			continue
		}
		for _, name := range []string{u.Source.Expose(mcpwire.Tool, tool), tool} {
			e, verdict := v.Catalog.ByName[mcpwire.Tool][name], catalog.Active
			if e != nil {
				verdict = v.Verdict(e)
			} else if e = v.Catalog.FindDenied(name, mcpwire.Tool); e != nil {
				_, verdict = v.Catalog.DeniedTarget(e)
			}
			if e != nil && (e.Item.Name == tool || e.Name == tool) && e.Source.HasName(server) {
				return &client.FoundTool{Entry: e, Verdict: verdict, View: v}
			}
		}
	}
	t, verdict := v.Find(mcpwire.Tool, []byte(tool))
	if t.Entry == nil || verdict == catalog.Ambiguous || server != "" && !t.Source.HasName(server) {
		return nil
	}
	return &client.FoundTool{Entry: t.Entry, Verdict: verdict, View: v}
}

// Status returns the status of a server for this session, which may go without it. It reports false
// if the session may see no server with this name. Conn.Mu must not be held.
func (s *Servers) Status(name string) (upstream.Status, bool) {
	for _, u := range s.known() {
		if u.Source.HasName(name) {
			return s.statusOf(u), true
		}
	}
	return upstream.Status{}, false
}

// statusOf returns the status of a server for this session.
func (s *Servers) statusOf(u *upstream.Upstream) upstream.Status {
	st := u.Status()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if err := s.Missing[u]; err != nil {
		st.State, st.Problem = upstream.Gone, err.Error()
	}
	return st
}

// Names returns the names of the servers that the session may see, in their order. Conn.Mu must not
// be held.
func (s *Servers) Names() []string {
	var names []string
	for _, u := range s.known() {
		names = append(names, u.Name)
	}
	return names
}

// known returns the servers that the session may see.
func (s *Servers) known() []*upstream.Upstream {
	return slices.DeleteFunc(slices.Clone(s.all()), func(u *upstream.Upstream) bool { return !s.Knows(u) })
}

// all returns All.
func (s *Servers) all() []*upstream.Upstream {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.All
}

// Unstarted returns the name of a server that is configured per session and that starts with the
// first request of this session; "" if there is none. A non-empty argument limits it to the servers
// with that name. Conn.Mu must not be held.
func (s *Servers) Unstarted(server string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, u := range s.All {
		if u.ForSession == nil || !u.Source.HasName(cmp.Or(server, u.Name)) || !s.MayUse(u) {
			continue
		}
		own, err := u.ForSession(s.Info.LoginAgent(), s.Info.Config)
		if err != nil {
			continue // the session goes without it
		}
		if own.Release != nil {
			own.Release()
		}
		return u.Name
	}
	return ""
}
