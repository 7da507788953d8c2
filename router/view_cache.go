package router

import (
	"sync"

	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/view"
)

// viewCache keeps what clients see of the shared servers while nothing is switched, one View
// for all that have the same rights: with it they share the pages of lists.
type viewCache struct {
	mu   sync.Mutex
	of   *catalog.Catalog       // guarded by mu: the catalog that the views are of
	made map[viewKey]*view.View // guarded by mu
}

// Rights are what a view at start depends on beside the catalog.
type viewKey struct {
	policy  *policy.Policy
	limited bool
	only    string // names of toolsets
	all     bool   // what is inactive, too
}

// maxStarts bounds the views that are kept. Proxies may name any toolsets together.
const maxStarts = 1024

// startView is what a client sees of a catalog while nothing is switched.
func (r *Router) startView(c *catalog.Catalog, p *policy.Policy, who client.Info) *view.View {
	if c != r.catalog.Load() {
		return r.newStart(c, p, who)
	}
	sets := r.only(who.Only)
	key := viewKey{policy: p, limited: who.Only != nil, all: who.AllActive}
	for _, set := range sets {
		key.only += set.Name + "\n"
	}
	r.viewCache.mu.Lock()
	defer r.viewCache.mu.Unlock()
	if r.viewCache.of != c || len(r.viewCache.made) >= maxStarts {
		r.viewCache.of, r.viewCache.made = c, map[viewKey]*view.View{}
	}
	v := r.viewCache.made[key]
	if v == nil {
		v = r.newStart(c, p, who)
		r.viewCache.made[key] = v
	}
	return v
}

func (r *Router) newStart(c *catalog.Catalog, p *policy.Policy, who client.Info) *view.View {
	c = c.Under(p)
	if who.AllActive {
		c = c.AllActive()
	}
	if who.Only != nil {
		return view.New(c.Within(r.only(who.Only)), nil)
	}
	return view.New(c, r.Equipped)
}
