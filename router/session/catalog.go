package session

import (
	"fmt"
	"slices"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/clientstate"
	"toolman/router/input"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// CatalogChanged gives the client a new catalog. Activations stay. The first catalog is not
// announced, because the client has listed nothing before it. While the session waits for dedicated
// servers nothing is announced either; then the change since the last list is.
func (s *Session) CatalogChanged(next *catalog.Catalog, announce bool) {
	s.WithLock(func(out *peer.Outgoing) {
		before, listed := s.View.Load(), s.own.CatalogReady()
		s.servers.StartDedicated()
		after := before.Rebase(s.env.Host.StartView(next, s.servers.All, s.Policy, s.Info))
		s.View.Store(after)
		if s.servers.Awaited > 0 {
			if listed {
				s.laterLocked().listed = before // only once: it does not wait yet
			}
			return
		}
		if s.later != nil && s.later.listed != nil {
			before, announce, s.later.listed = s.later.listed, true, nil
		}
		if announce {
			s.own.Announce(before, after, out)
		}
	})
}

// Share makes the session share its activations with the other sessions of its client. It must be
// called before the session handles messages.
func (s *Session) Share(store *clientstate.Store, k clientstate.Key) { s.own.Share(store, k) }

// Refresh implements upstream.Caller.
func (s *Session) Refresh() { s.env.Host.Refresh(s, true) }

// dedicatedSettled is called when the session waits for no dedicated server any more.
func (s *Session) dedicatedSettled() {
	s.env.Host.Refresh(s, false)
	s.ServeDeferred()
}

// ServeDeferred serves the requests that wait for servers. Those whose server is still not ready
// wait again.
func (s *Session) ServeDeferred() {
	s.restoreSubscriptions()
	s.waiting.ServeAll()
}

// ReplaceServer puts next in the place of an upstream server that is gone. The subscriptions at the
// server stay. It returns false if the session does not use the server, or no longer.
func (s *Session) ReplaceServer(gone, next *upstream.Upstream) (replaced bool) {
	s.WithLock(func(out *peer.Outgoing) {
		if replaced = s.servers.Replace(gone, next); replaced {
			s.subscriptions.ReplaceServer(gone, next, out)
		}
	})
	return replaced
}

// Reload gives the session the upstream servers and the policy of a new configuration. The session
// keeps its dedicated servers where the server stays.
func (s *Session) Reload(old, next []*upstream.Upstream, p *policy.Policy) {
	s.WithLock(func(out *peer.Outgoing) {
		s.Policy = p
		for _, u := range s.servers.Reconfigure(next) {
			s.revokeCallsLocked(u, out)
			u.SetProblem("the configuration was changed")
			s.servers.Dismiss(u)
		}
		s.subscriptions.DropServers(func(u *upstream.Upstream) bool { return slices.Contains(old, u) && !slices.Contains(next, u) })
		s.subscriptions.Follow(out)
	})
}

// Uses reports whether the session uses this upstream server, neither replaced by a dedicated one
// nor missing.
func (s *Session) Uses(u *upstream.Upstream) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Contains(s.servers.All, u) && s.servers.Missing[u] == nil
}

// RevokeQueued refuses, after a reload, the queued calls of items that the client may no longer
// use.
func (s *Session) RevokeQueued() {
	s.WithLock(func(out *peer.Outgoing) {
		for _, u := range s.servers.Reachable() {
			for _, c := range u.Calls.TakeQueued(func(c *calls.Call) bool { return s.owns(c) && s.whyRevokedLocked(u, c.Entry) != "" }) {
				why := s.whyRevokedLocked(u, c.Entry)
				c.Audited.Fail(audit.Refused, why)
				input.Conclude(&c, s.input.Failure(why, audit.Refused), out)
			}
		}
	})
}

// Revoke ends the session's calls, rounds and subscriptions of items that the client may no longer
// use. The others continue.
func (s *Session) Revoke() {
	s.WithLock(func(out *peer.Outgoing) {
		for _, u := range s.servers.Reachable() {
			s.revokeCallsLocked(u, out)
		}
		s.input.FailRounds(s.whyRevokedLocked, audit.Failed, out)
		s.subscriptions.Revoke(out)
		s.subscriptions.Follow(out)
	})
}

// whyRevokedLocked returns why the client may no longer use an entry of an upstream server, or "".
func (s *Session) whyRevokedLocked(u *upstream.Upstream, e *catalog.Entry) string {
	if !s.MayUse(u) {
		return fmt.Sprintf("this client may no longer use server %s; go on without it", u.Name)
	}
	c := s.View.Load().Catalog
	if e != nil {
		if d := c.FindDenied(e.Name, e.Item.Kind); d != nil && d.Source == e.Source {
			if _, verdict := c.DeniedTarget(d); verdict == catalog.Denied {
				return c.Denial(d, d.Name)
			}
		}
	}
	return ""
}

// revokeCallsLocked ends the session's calls at an upstream server of items that the client may no
// longer use.
func (s *Session) revokeCallsLocked(u *upstream.Upstream, out *peer.Outgoing) {
	ends := map[uint64]string{}
	u.Calls.EachCall(func(id uint64, c calls.Call) {
		if s.owns(&c) {
			if why := s.whyRevokedLocked(u, c.Entry); why != "" {
				ends[id] = why
			}
		}
	})
	for id, why := range ends {
		s.input.BreakOff(u, id, "the client may no longer make this call", s.input.Failure(why, audit.Failed), out)
	}
}

// A Tool is a tool that the session may use.
type Tool struct {
	*catalog.Entry
	Active   bool     // in the client's lists before any activation
	Toolsets []string // toolsets that contain it, in configuration order
}

// Tools returns the tools that the session may use, active or not, in catalog order. It may wait
// for the disk to read saved toolsets.
func (s *Session) Tools() []Tool {
	v := s.View.Load()
	in := map[string][]string{}
	for _, set := range s.env.Host.Library(&s.Info).Sets {
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

// Search returns the items that fit a query in plain words best, active or not, the best first.
func (s *Session) Search(query string, limit int) (best []Tool) {
	v := s.View.Load()
	for _, e := range v.Search(query, limit, true, func(mcpwire.Kind) bool { return true }) {
		best = append(best, Tool{Entry: e, Active: v.SwitchedOn(e)})
	}
	return best
}

// Known returns every tool that FindTool may return. The tools that the session may use come first.
func (s *Session) Known() []*catalog.Entry {
	c := s.View.Load().Catalog
	return slices.Concat(c.Entries(mcpwire.Tool), c.Denied.Entries(mcpwire.Tool))
}

// FindTool finds a tool for Call, as pool.Servers.FindTool does.
func (s *Session) FindTool(server, tool string) *client.FoundTool {
	return s.servers.FindTool(server, tool)
}

// Upstream returns the status of a server. It reports false if the session may see no server with
// this name.
func (s *Session) Upstream(name string) (upstream.Status, bool) { return s.servers.Status(name) }

// Servers returns the names of the servers that the session may see, in their order.
func (s *Session) Servers() []string { return s.servers.Names() }

// Unstarted returns the name of a server with a dedicated process per session that this session may
// use and that starts with the first request of its client, or "" if there is none. If server is
// not empty, only servers of that name count.
func (s *Session) Unstarted(server string) string { return s.servers.Unstarted(server) }
