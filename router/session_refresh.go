package router

import (
	"slices"

	"toolman/router/catalog"
	"toolman/router/upstream"
)

// Refresh implements Caller.
func (s *Session) Refresh() { s.refresh(true) }

// refresh shows the session what its own servers offer now.
func (s *Session) refresh(announce bool) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.startup.opened.Load() {
		s.catalogChanged(s.r.catalog.Load(), announce)
	}
}

// offeredLocked is the catalog of the session's servers; shared is that of the shared ones.
func (s *Session) offeredLocked(shared *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(s.servers.All, func(u *upstream.Upstream) bool { return u.Shared() != nil }) {
		return shared
	}
	return s.r.buildCatalog(s.servers.All)
}

// openLocked reports whether requests that need the catalog can be served.
func (s *Session) openLocked() bool { return s.r.startup.opened.Load() && s.servers.Awaited == 0 }

// ownSettled is called when no server of the session's own is waited for any more.
func (s *Session) ownSettled() {
	s.refresh(false)
	s.release()
}
