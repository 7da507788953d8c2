package router

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/policy"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/upstream"
	"toolman/router/view"
	"toolman/spawn"
)

// An adapter implements upstream.Router, session.Host and builtin.Host for a Router.
type adapter struct{ r *Router }

// Rules implements upstream.Router.
func (h adapter) Rules() *catalog.Rules { return h.r.rules.Load() }

// Servers implements upstream.Router.
func (h adapter) Servers() int { return len(h.r.all()) }

// Changed implements upstream.Router.
func (h adapter) Changed() { h.r.update() }

// Replace implements upstream.Router.
func (h adapter) Replace(gone, next *upstream.Upstream) bool { return h.r.replace(gone, next) }

// Ladder implements upstream.Router.
func (h adapter) Ladder() spawn.Ladder { return h.r.ladder() }

// Sharing implements upstream.Router.
func (h adapter) Sharing(u *upstream.Upstream) []upstream.Caller {
	var sharing []upstream.Caller
	for _, s := range h.r.sessions.list() {
		if s.Uses(u) {
			sharing = append(sharing, s)
		}
	}
	return sharing
}

// Toolsets implements builtin.Host.
func (h adapter) Toolsets() []toolset.Set { return h.r.current().Toolsets }

// ViewChanged implements builtin.Host.
func (h adapter) ViewChanged(info *client.Info, name string, before, after *view.View) {
	h.r.hookView(info, name, before, after)
}

// Scrub implements session.Host.
func (h adapter) Scrub() func(string) string { return h.r.current().Scrub }

// Library implements builtin.Host.
func (h adapter) Library(info *client.Info) *metatool.Library { return h.r.library(info) }

// ShelfError implements builtin.Host.
func (h adapter) ShelfError(info *client.Info, err error) error { return h.r.shelfError(info, err) }

// Opened implements builtin.Host.
func (h adapter) Opened() bool { return h.r.startup.opened.Load() }

// Greet implements session.Host.
func (h adapter) Greet(hello mcpwire.Hello) { h.r.handshake(hello) }

// Ended implements session.Host.
func (h adapter) Ended(s *session.Session) { h.r.sessions.remove(s) }

// StartView implements session.Host.
func (h adapter) StartView(shared *catalog.Catalog, servers []*upstream.Upstream, p *policy.Policy, info client.Info) *view.View {
	if slices.ContainsFunc(servers, func(u *upstream.Upstream) bool { return u.Shared() != nil }) {
		shared = h.r.buildCatalog(servers)
	}
	return h.r.startView(shared, p, info)
}

// Refresh implements session.Host.
func (h adapter) Refresh(s *session.Session, announce bool) {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if h.r.startup.opened.Load() {
		s.CatalogChanged(h.r.catalog.Load(), announce)
	}
}
