package router

import (
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/hook"
	"toolman/router/upstream"
	"toolman/router/view"
)

// hookView runs on_equip if a client has equipped a toolset.
func (r *Router) hookView(info *client.Info, name string, before, after *view.View) {
	o := r.current()
	if o.OnEquip == nil || after.Sets.EquippedName() == "" {
		return
	}
	x := after.Sets.Equipped
	if before.Sets.EquippedName() == "" || before.Sets.Equipped.Set != x.Set {
		r.Hooks.Equipped(o.OnEquip, hook.EquippedBy(x, info.Agent, name))
	}
}

// hookStartLocked runs on_equip for the toolset that sessions start with.
func (r *Router) hookStartLocked() {
	if o := r.current(); o.OnEquip != nil && r.Equipped != nil {
		r.Hooks.Equipped(o.OnEquip, hook.EquippedBy(r.catalog.Load().Expand(r.Equipped), "", ""))
	}
}

// hookCatalogLocked runs on_drift if the catalog shows that tools of saved toolsets have drifted.
func (r *Router) hookCatalogLocked(c *catalog.Catalog) {
	if o := r.current(); o.OnDrift != nil {
		r.Hooks.Catalog(o.OnDrift, r.Shelf, c, allOf(r.all(), func(u *upstream.Upstream) bool { return u.Is(upstream.Ready) }))
	}
}
