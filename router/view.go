package router

import (
	"maps"
	"slices"
	"sync/atomic"

	"toolman/mcpwire"
)

// A View is what one session sees: the catalog, and what the client has switched
// on or off. It does not change.
type View struct {
	catalog *Catalog
	// What toolman_activate has set, by name; the rest is as at start. Resources
	// and resource templates share names.
	tools, resources map[string]bool

	pages [2][mcpwire.Kinds]atomic.Pointer[page] // first pages for legacy and modern clients, made when they are first asked for
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
	return &View{
		catalog:   v.catalog,
		tools:     switched(v.tools, a.toolsOn, a.toolsOff),
		resources: switched(v.resources, a.resourcesOn, a.resourcesOff),
	}
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
