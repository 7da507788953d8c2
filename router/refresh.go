package router

import (
	"slices"

	"toolman/jsonrpc/peer"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/upstream"
	"toolman/router/view"
)

// Refresh implements Caller.
func (s *Session) Refresh() { s.refresh(true) }

// refresh shows the session what its own servers offer now.
func (s *Session) refresh(announce bool) { s.env.Host.Refresh(s, announce) }

// offeredLocked is the catalog of the session's servers; shared is that of the shared ones.
func (s *Session) offeredLocked(shared *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(s.servers.All, func(u *upstream.Upstream) bool { return u.Shared() != nil }) {
		return shared
	}
	return s.env.Host.BuildCatalog(s.servers.All)
}

// openLocked reports whether requests that need the catalog can be served.
func (s *Session) openLocked() bool { return s.env.Host.Opened() && s.servers.Awaited == 0 }

// ownSettled is called when no server of the session's own is waited for any more.
func (s *Session) ownSettled() {
	s.refresh(false)
	s.Unpark()
}

// CatalogChanged shows the client a new catalog; what it has switched stays. The
// first catalog is not announced: nothing was listed before it.
func (s *Session) CatalogChanged(next *catalog.Catalog, announce bool) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.servers.StartDedicated()
	before := s.View.Load()
	after := before.Rebase(s.startLocked(next))
	s.View.Store(after)
	if announce && s.servers.Awaited == 0 {
		s.announceLocked(before, after, &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// startLocked is what the session sees, while nothing is switched, when the shared servers
// offer this catalog.
func (s *Session) startLocked(shared *catalog.Catalog) *view.View {
	return s.env.Host.StartView(s.offeredLocked(shared), s.Policy, s.Who)
}

// ReplaceServer gives the session an upstream in the place of one that is gone. What it has
// subscribed to stays subscribed.
func (s *Session) ReplaceServer(gone, next *upstream.Upstream) {
	var out peer.Outgoing
	s.Mu.Lock()
	s.servers.Exchange(gone, next)
	s.subscriptions.Exchange(gone, next, &out)
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
	s.subscriptions.Drop(func(u *upstream.Upstream) bool { return slices.Contains(old, u) && !slices.Contains(next, u) })
	s.subscriptions.Follow(&out)
	s.Mu.Unlock()
	out.Flush()
}

// uses reports whether the session has this upstream, and neither an own one in its place nor none.
func (s *Session) uses(u *upstream.Upstream) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Contains(s.servers.All, u) && s.servers.Missing[u] == nil
}
