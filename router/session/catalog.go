package session

import (
	"fmt"
	"slices"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/policy"
	"toolman/router/upstream"
	"toolman/router/view"
)

// Refresh implements Caller.
func (s *Session) Refresh() { s.refresh(true) }

// refresh shows the session what its own servers offer now.
func (s *Session) refresh(announce bool) { s.env.Host.Refresh(s, announce) }

// sessionCatalogLocked is the catalog of the session's servers; shared is that of the shared ones.
func (s *Session) sessionCatalogLocked(shared *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(s.servers.All, func(u *upstream.Upstream) bool { return u.Shared() != nil }) {
		return shared
	}
	return s.env.Host.BuildCatalog(s.servers.All)
}

// catalogReadyLocked reports whether requests that need the catalog can be served.
func (s *Session) catalogReadyLocked() bool { return s.env.Host.Opened() && s.servers.Awaited == 0 }

// dedicatedSettled is called when no server of the session's own is waited for any more.
func (s *Session) dedicatedSettled() {
	s.refresh(false)
	s.ServeDeferred()
}

// CatalogChanged shows the client a new catalog; what it has switched stays. The
// first catalog is not announced: nothing was listed before it.
func (s *Session) CatalogChanged(next *catalog.Catalog, announce bool) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.servers.StartDedicated()
	before := s.View.Load()
	after := before.Rebase(s.startViewLocked(next))
	s.View.Store(after)
	if announce && s.servers.Awaited == 0 {
		s.announceLocked(before, after, &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// startViewLocked is what the session sees, while nothing is switched, when the shared servers
// offer this catalog.
func (s *Session) startViewLocked(shared *catalog.Catalog) *view.View {
	return s.env.Host.StartView(s.sessionCatalogLocked(shared), s.Policy, s.Who)
}

// ReplaceServer gives the session an upstream in the place of one that is gone. What it has
// subscribed to stays subscribed.
func (s *Session) ReplaceServer(gone, next *upstream.Upstream) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.servers.Exchange(gone, next)
	s.subscriptions.ReplaceServer(gone, next, &out)
	s.Mu.Unlock()
	out.Flush()
}

// Reconnect implements Caller.
func (s *Session) Reconnect(own *upstream.Upstream) { s.env.Host.Reconnect(s, own) }

// ShareAgain gives the session the shared upstream in the place of its own that is gone. It reports
// whether the session had that.
func (s *Session) ShareAgain(own, shared *upstream.Upstream) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.servers.Releasing || !s.servers.Exchange(own, shared) {
		return false
	}
	s.servers.Dismiss(own)
	return true
}

// Reload gives the session the upstreams of other options. It keeps its own ones of
// servers that stay.
func (s *Session) Reload(old, next []*upstream.Upstream, p *policy.Policy) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.Policy = p
	for _, u := range s.servers.Succeed(next) {
		s.revokeCallsLocked(u, &out)
		u.EndBecause("the configuration was changed")
		s.servers.Dismiss(u)
	}
	s.subscriptions.DropServers(func(u *upstream.Upstream) bool { return slices.Contains(old, u) && !slices.Contains(next, u) })
	s.subscriptions.Follow(&out)
	s.Mu.Unlock()
	out.Flush()
}

// Uses reports whether the session has this upstream, and neither an own one in its place nor none.
func (s *Session) Uses(u *upstream.Upstream) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Contains(s.servers.All, u) && s.servers.Missing[u] == nil
}

// RevokeQueued refuses, after a reload, the calls that wait for their turn at a server and are of
// what the client may not have any more.
func (s *Session) RevokeQueued() {
	var out peer.Outgoing
	s.Mu.Lock()
	for _, u := range s.servers.Reachable() {
		for _, c := range u.TakeQueued(func(c *upstream.Call) bool { return s.owns(c) && s.whyRevokedLocked(u, c.Entry) != "" }) {
			c.Audited.End(audit.Refused)
			input.Conclude(&c, s.input.Failure(s.whyRevokedLocked(u, c.Entry), audit.Refused), &out)
		}
	}
	s.Mu.Unlock()
	out.Flush()
}

// Revoke takes from a session what is under way with items that its client may not have any more:
// calls, rounds and subscriptions. What it may have goes on.
func (s *Session) Revoke() {
	var out peer.Outgoing
	s.Mu.Lock()
	for _, u := range s.servers.Reachable() {
		s.revokeCallsLocked(u, &out)
	}
	s.input.FailRounds(s.whyRevokedLocked, audit.Failed, &out)
	s.subscriptions.Revoke(&out)
	s.subscriptions.Follow(&out)
	s.Mu.Unlock()
	out.Flush()
}

// whyRevokedLocked says why the client may not have an entry of an upstream any more, or "".
func (s *Session) whyRevokedLocked(u *upstream.Upstream, e *catalog.Entry) string {
	if !s.MayUse(u) {
		return fmt.Sprintf("this client may have nothing of server %s any more; go on without it", u.Name)
	}
	c := s.View.Load().Catalog
	if e != nil {
		if d := c.IsDenied(e.Name, e.Item.Kind); d != nil && d.Source == e.Source {
			if _, verdict := c.Keeps(d); verdict == catalog.Denied {
				return c.Denial(d, d.Name)
			}
		}
	}
	return ""
}

// revokeCallsLocked ends the session's calls at an upstream that are of what it may not have any more.
func (s *Session) revokeCallsLocked(u *upstream.Upstream, out *peer.Outgoing) {
	ends := map[uint64]string{}
	u.EachCall(func(id uint64, c upstream.Call) {
		if s.owns(&c) {
			if why := s.whyRevokedLocked(u, c.Entry); why != "" {
				ends[id] = why
			}
		}
	})
	for id, why := range ends {
		s.input.BreakOff(u, id, "the client may not make this call any more", s.input.Failure(why, audit.Failed), out)
	}
}

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

// FindTool finds a tool by its server's name for it or by the one that clients see. It also finds tools
// that the session may not use: their Verdict refuses calls. Nil: there is no such tool.
func (s *Session) FindTool(server, tool string) *client.FoundTool {
	s.Mu.Lock()
	upstreams := s.servers.All
	s.Mu.Unlock()
	v := s.View.Load()
	for _, u := range upstreams {
		if !u.Source.HasName(server) {
			continue
		}
		for _, name := range []string{u.Source.Expose(mcpwire.Tool, tool), tool} {
			e, verdict := v.Catalog.ByName[mcpwire.Tool][name], catalog.Active
			if e != nil {
				verdict = v.Verdict(e)
			} else if e = v.Catalog.IsDenied(name, mcpwire.Tool); e != nil {
				_, verdict = v.Catalog.Keeps(e)
			}
			if e != nil && (e.Item.Name == tool || e.Name == tool) && e.Source.HasName(server) {
				return &client.FoundTool{Entry: e, Verdict: verdict, View: v}
			}
		}
	}
	return nil
}

// Upstream returns what is known of a server by its name; false: there is none that the session may
// know of.
func (s *Session) Upstream(name string) (upstream.Status, bool) {
	for _, u := range s.knownServers() {
		if u.Source.HasName(name) {
			return u.Status(), true
		}
	}
	return upstream.Status{}, false
}

// Servers are the names of the servers that the session may know of, in their order.
func (s *Session) Servers() []string {
	var names []string
	for _, u := range s.knownServers() {
		names = append(names, u.Name)
	}
	return names
}

func (s *Session) knownServers() []*upstream.Upstream {
	s.Mu.Lock()
	upstreams := s.servers.All
	s.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(upstreams), func(u *upstream.Upstream) bool { return !s.Knows(u) })
}

// Unstarted returns the name of a server that is another for each session, that this one may use and
// that starts with the first request of its client; "" if there is none. With a name it is about
// the servers that go by that.
func (s *Session) Unstarted(server string) string { return s.servers.Unstarted(server) }
