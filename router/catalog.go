package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/policy"
	"toolman/router/toolset"
	"toolman/router/upstream"
	"toolman/router/view"
)

// warnUnmatchedLocked warns, once all servers are there, of what dangerous_tools has and no
// server: a tool that was meant would run without a question.
func (r *Router) warnUnmatchedLocked(c *catalog.Catalog) {
	ready := func(u *upstream.Upstream) bool { return u.Is(upstream.Ready) }
	guard := r.current().Dangers
	if guard == r.checkedDangers || !allOf(r.all(), ready) {
		return
	}
	r.checkedDangers = guard
	if idle := r.unmatchedDangers(c); len(idle) > 0 {
		r.log.Warn("dangerous_tools names what no server has", zap.String("text", strings.Join(idle, "; ")))
	}
}

func allOf[T any](all []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(all, func(one T) bool { return !ok(one) })
}

// logHeldBack names items that are held back now and were not before.
func (r *Router) logHeldBack(next *catalog.Catalog) {
	known := map[*catalog.Entry]bool{}
	for _, e := range r.catalog.Load().Held() {
		known[e] = true
	}
	fresh := map[*catalog.Source][]string{}
	for _, e := range next.Held() {
		if !known[e] {
			fresh[e.Source] = append(fresh[e.Source], fmt.Sprintf("%s %s: %s", e.Item.Kind, sanitize.Name(e.Name), e.Hold))
		}
	}
	for _, u := range r.all() {
		if all := fresh[u.Source]; len(all) > 0 {
			r.log.Warn("items are held back; toolman lock --diff shows why", zap.String("upstream", u.Name),
				zap.Int("count", len(all)), zap.String("text", strings.Join(all[:min(len(all), maxLogged)], "; ")))
		}
	}
}

// logCollisions names items that are not offered, each once.
func (r *Router) logCollisions(next *catalog.Catalog) {
	known := map[*catalog.Entry]bool{}
	for _, c := range r.catalog.Load().Collisions {
		known[c.Loser] = true
	}
	for _, c := range next.Collisions {
		if !known[c.Loser] {
			r.log.Warn("a name is taken already; the first server in the file has it", zap.Stringer("kind", c.Loser.Item.Kind),
				zap.String("tool", sanitize.Line(c.Loser.Name)), zap.String("upstream", c.Loser.Source.Name), zap.String("by", c.By))
		}
	}
}

// buildCatalog merges what upstreams offer, in their order.
func (r *Router) buildCatalog(upstreams []*upstream.Upstream) *catalog.Catalog {
	offers := make([]catalog.Offer, len(upstreams))
	for i, u := range upstreams {
		offers[i] = u.Offer()
	}
	return catalog.New(offers, r.ownNames, r.current().AllowStale)
}

// maxLogged is how many items a log entry names.
const maxLogged = 20

// viewCache keeps what clients see of the shared servers while nothing is switched, one View
// for all that have the same rights: with it they share the pages of lists.
type viewCache struct {
	mu      sync.Mutex
	catalog *catalog.Catalog       // guarded by mu: the catalog that the views are of
	views   map[viewKey]*view.View // guarded by mu
}

// Rights are what a view at start depends on beside the catalog.
type viewKey struct {
	policy  *policy.Policy
	limited bool
	only    string // names of toolsets
	all     bool   // what is inactive, too
}

// maxStartViews bounds the views that are kept. Proxies may name any toolsets together.
const maxStartViews = 1024

// startView is what a client sees of a catalog while nothing is switched.
func (r *Router) startView(c *catalog.Catalog, p *policy.Policy, who client.Info) *view.View {
	if c != r.catalog.Load() {
		return r.newStartView(c, p, who)
	}
	sets := r.toolsetsNamed(who.Only)
	key := viewKey{policy: p, limited: who.Only != nil, all: who.AllActive}
	for _, set := range sets {
		key.only += set.Name + "\n"
	}
	r.viewCache.mu.Lock()
	defer r.viewCache.mu.Unlock()
	if r.viewCache.catalog != c || len(r.viewCache.views) >= maxStartViews {
		r.viewCache.catalog, r.viewCache.views = c, map[viewKey]*view.View{}
	}
	v := r.viewCache.views[key]
	if v == nil {
		v = r.newStartView(c, p, who)
		r.viewCache.views[key] = v
	}
	return v
}

func (r *Router) newStartView(c *catalog.Catalog, p *policy.Policy, who client.Info) *view.View {
	c = c.Under(p)
	if who.AllActive {
		c = c.AllActive()
	}
	if who.Only != nil {
		return view.New(c.Within(r.toolsetsNamed(who.Only)), nil)
	}
	return view.New(c, r.Equipped)
}

// errShelf is what clients hear of a file of toolsets that cannot be used: what is wrong with it may
// name what others have saved.
var errShelf = errors.New("the file of saved toolsets cannot be used; toolman's log says why")

// shelfError is an error of the shelf as the client may read it.
func (r *Router) shelfError(who *client.Info, err error) error {
	if err == nil || who.Sole {
		return err
	}
	r.log.Warn("saved toolsets cannot be used", zap.NamedError("err", err))
	return errShelf
}

// toolsetsNamed returns the toolsets of tools.toml with these names, in the order of that file,
// each once. Saved ones are not among them: clients can change those.
func (r *Router) toolsetsNamed(names []string) []*toolset.Set {
	var sets []*toolset.Set
	all := r.current().Toolsets
	for i := range all {
		if slices.Contains(names, all[i].Name) {
			sets = append(sets, &all[i])
		}
	}
	return sets
}

// library returns the toolsets that the client may know of. It may wait for the disk,
// unless the client is limited to some.
func (r *Router) library(who *client.Info) *metatool.Library {
	if who.Only != nil {
		return &metatool.Library{Sets: r.toolsetsNamed(who.Only)}
	}
	l := metatool.ReadLibrary(r.current().Toolsets, r.Shelf, who.Principal.Owner())
	l.Err = r.shelfError(who, l.Err)
	return l
}
