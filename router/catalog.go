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

// buildCatalog merges the items of upstreams, in their order.
func (r *Router) buildCatalog(upstreams []*upstream.Upstream) *catalog.Catalog {
	offers := make([]catalog.Offer, len(upstreams))
	for i, u := range upstreams {
		offers[i] = u.Offer()
	}
	return catalog.New(offers, r.ownNames, r.current().AllowStale)
}

// warnUnmatchedLocked warns of entries of dangerous_tools that match no tool, once all servers are
// ready: the tool that was meant runs without confirmation.
func (r *Router) warnUnmatchedLocked(c *catalog.Catalog) {
	ready := func(u *upstream.Upstream) bool { return u.Is(upstream.Ready) }
	guard := r.current().Dangers
	if guard == r.checkedDangers || !allOf(r.all(), ready) {
		return
	}
	r.checkedDangers = guard
	if idle := r.unmatchedDangers(c); len(idle) > 0 {
		r.log.Warn("dangerous_tools names tools that no server has", zap.String("text", strings.Join(idle, "; ")))
	}
}

// allOf reports whether ok is true for all elements.
func allOf[T any](all []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(all, func(one T) bool { return !ok(one) })
}

// logHeldBack logs items that are held back in next and were not before.
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

// logCollisions logs items that are not in the catalog because their name is in use, each once.
func (r *Router) logCollisions(next *catalog.Catalog) {
	known := map[*catalog.Entry]bool{}
	for _, c := range r.catalog.Load().Collisions {
		known[c.Loser] = true
	}
	for _, c := range next.Collisions {
		if !known[c.Loser] {
			r.log.Warn("a name is in use already; the first server in the configuration file has it", zap.Stringer("kind", c.Loser.Item.Kind),
				zap.String("tool", sanitize.Line(c.Loser.Name)), zap.String("upstream", c.Loser.Source.Name), zap.String("by", c.By))
		}
	}
}

// maxLogged is how many items a log entry lists.
const maxLogged = 20

// startView returns the view that a session starts with.
func (r *Router) startView(c *catalog.Catalog, p *policy.Policy, info client.Info) *view.View {
	if c != r.catalog.Load() {
		return r.newStartView(c, p, info)
	}
	sets := r.toolsetsNamed(info.Only)
	key := viewKey{policy: p, limited: info.Only != nil, all: info.AllActive}
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
		v = r.newStartView(c, p, info)
		r.viewCache.views[key] = v
	}
	return v
}

// newStartView is startView without the cache.
func (r *Router) newStartView(c *catalog.Catalog, p *policy.Policy, info client.Info) *view.View {
	c = c.Under(p)
	if info.AllActive {
		c = c.AllActive()
	}
	if info.Only != nil {
		only := r.toolsetsNamed(info.Only)
		return view.New(c.Within(only), view.StartSets{Fixed: only})
	}
	sets := view.StartSets{Preloaded: r.toolsetsNamed(r.current().Preloaded), Equipped: r.Equipped}
	for i := range r.current().Toolsets {
		sets.Fixed = append(sets.Fixed, &r.current().Toolsets[i])
	}
	return view.New(c, sets)
}

// A viewCache keeps the views that sessions with the same permissions start with, so that they
// share the pages of lists.
type viewCache struct {
	mu      sync.Mutex
	catalog *catalog.Catalog       // guarded by mu: the catalog of the views
	views   map[viewKey]*view.View // guarded by mu
}

// A viewKey is what a view at the start of a session depends on, besides the catalog.
type viewKey struct {
	policy  *policy.Policy
	limited bool   // client.Info.Only is not nil
	only    string // names of toolsets
	all     bool   // all items are active
}

// maxStartViews limits the cache: proxies may send any combination of toolsets.
const maxStartViews = 1024

// library returns the toolsets that the client may use. It may wait for the disk, unless the client
// is limited to some toolsets.
func (r *Router) library(info *client.Info) *metatool.Library {
	if info.Only != nil {
		return &metatool.Library{Sets: r.toolsetsNamed(info.Only)}
	}
	l := metatool.ReadLibrary(r.current().Toolsets, r.Shelf, info.Principal.Owner())
	l.Err = r.shelfError(info, l.Err)
	return l
}

// toolsetsNamed returns the toolsets of tools.toml with these names, in the order of that file,
// each once. It ignores saved toolsets, because clients can change them.
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

// shelfError returns the error for the client, and logs the real one if the client must not see it.
func (r *Router) shelfError(info *client.Info, err error) error {
	if err == nil || info.Sole {
		return err
	}
	r.log.Warn("saved toolsets cannot be used", zap.NamedError("err", err))
	if errors.Is(err, toolset.ErrUnavailable) {
		return toolset.ErrUnavailable
	}
	return errShelf
}

// errShelf is the error for clients when the file of saved toolsets cannot be used. The real error
// may contain names that other clients have saved.
var errShelf = errors.New("the file of saved toolsets cannot be used; toolman's log says why")
