package router

import (
	"maps"
	"slices"

	"toolman/mcpwire"
)

// A View is what one session sees: the catalog, and what the client has switched
// on or off. It does not change but for the pages it keeps.
type View struct {
	catalog *Catalog
	// What toolman_activate has set, by name; the rest is as at start. Resources
	// and resource templates share names.
	tools, resources map[string]bool

	start *View // the same catalog with nothing switched; nil: this is it

	pages map[pageKey]*page // guarded by Session.mu: first pages, made when they are first asked for
}

// newView returns the view of a catalog as it is at start.
func newView(c *Catalog) *View { return &View{catalog: c, pages: map[pageKey]*page{}} }

// atStart returns the view without what the client has switched.
func (v *View) atStart() *View {
	if v.start == nil {
		return v
	}
	return v.start
}

// over returns the view of another catalog in which the same is switched.
func (v *View) over(c *Catalog) *View {
	return newView(c).switched(v.tools, v.resources)
}

func (v *View) switched(tools, resources map[string]bool) *View {
	if len(tools)+len(resources) == 0 {
		return v.atStart()
	}
	return &View{catalog: v.catalog, tools: tools, resources: resources, start: v.atStart(), pages: map[pageKey]*page{}}
}

// Active reports whether an entry may be used.
func (v *View) Active(e *Entry) bool {
	switched := v.resources
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return true
	case mcpwire.Tool:
		switched = v.tools
	}
	if on, ok := switched[e.Name]; ok {
		return on
	}
	return e.active
}

// active returns the entries of a kind that may be used, in catalog order.
func (v *View) active(k mcpwire.Kind) []*Entry {
	all := v.catalog.entries[k]
	out := make([]*Entry, 0, len(all))
	for _, e := range all {
		if v.Active(e) {
			out = append(out, e)
		}
	}
	return out
}

// visible returns the active entries of a kind that clients of an era are shown.
func (v *View) visible(k mcpwire.Kind, modern bool) []*Entry {
	return slices.DeleteFunc(v.active(k), func(e *Entry) bool { return e.hiddenFrom(modern) })
}

// with returns the view that an activation leads to.
func (v *View) with(a *activation) *View {
	return v.switched(switched(v.tools, a.toolsOn, a.toolsOff), switched(v.resources, a.resourcesOn, a.resourcesOff))
}

func switched(old map[string]bool, on, off []string) map[string]bool {
	next := maps.Clone(old)
	if next == nil {
		next = map[string]bool{}
	}
	for _, name := range on {
		next[name] = true
	}
	for _, name := range off {
		next[name] = false
	}
	return next
}
