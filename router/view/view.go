package view

import (
	"maps"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// A View is what one session sees: the catalog, and what the client has switched
// on or off. It does not change but for the pages it keeps.
type View struct {
	Catalog *catalog.Catalog
	// What toolman_activate has set, by name; the rest is as the toolsets say, or as at
	// start. Resources and resource templates share names.
	tools, resources map[string]bool
	Sets             *selection // toolsets that were chosen

	start *View // the same catalog with nothing switched; nil: this is it

	pages pages
}

// New returns the view of a catalog as it is at start, with a toolset equipped; nil for none.
func New(c *catalog.Catalog, equipped *toolset.Set) *View {
	if equipped == nil {
		return &View{Catalog: c}
	}
	return &View{Catalog: c, Sets: (&selection{Equipped: &toolset.Expansion{Set: equipped}}).over(c)}
}

// AtStart returns the view without what the client has switched.
func (v *View) AtStart() *View {
	if v.start == nil {
		return v
	}
	return v.start
}

// Rebase returns the view in which the same is switched as in v, of the catalog of start,
// where nothing is.
func (v *View) Rebase(start *View) *View {
	if v.start == nil {
		return start
	}
	sets := start.Sets
	if v.Sets != v.start.Sets {
		sets = v.Sets.over(start.Catalog)
	}
	return start.chosen(v.tools, v.resources, sets)
}

func (v *View) Switched(tools, resources map[string]bool) *View {
	return v.chosen(tools, resources, v.Sets)
}

// chosen returns the view of the same catalog with this switched and these toolsets.
func (v *View) chosen(tools, resources map[string]bool, sets *selection) *View {
	if len(tools)+len(resources) == 0 && sets == v.AtStart().Sets {
		return v.AtStart()
	}
	return &View{Catalog: v.Catalog, tools: tools, resources: resources, Sets: sets, start: v.AtStart()}
}

// Active reports whether an entry may be used.
func (v *View) Active(e *catalog.Entry) bool { return v.Catalog.AnyState || v.SwitchedOn(e) }

// SwitchedOn is Active by what is switched and chosen alone.
func (v *View) SwitchedOn(e *catalog.Entry) bool {
	if v.Catalog.Limit != nil {
		return true
	}
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return true
	case mcpwire.Tool:
		if on, ok := v.tools[e.Name]; ok {
			return on
		}
		if on, ok := v.Sets.decides(e.Name); ok {
			return on
		}
	default:
		if on, ok := v.resources[e.Name]; ok {
			return on
		}
	}
	return e.AtStart
}

// ActiveEntries returns the entries of a kind that may be used, in catalog order.
func (v *View) ActiveEntries(k mcpwire.Kind) []*catalog.Entry {
	all := v.Catalog.Entries(k)
	out := make([]*catalog.Entry, 0, len(all))
	for _, e := range all {
		if v.Active(e) {
			out = append(out, e)
		}
	}
	return out
}

// Visible returns the active entries of a kind that clients of an era are shown.
func (v *View) Visible(k mcpwire.Kind, modern bool) []*catalog.Entry {
	return slices.DeleteFunc(v.ActiveEntries(k), func(e *catalog.Entry) bool { return e.HiddenFrom(modern) })
}

// Switches are what is switched at once: tools and resources by their names, and toolsets.
type Switches struct {
	ToolsOn, ToolsOff, ResourcesOn, ResourcesOff []string
	Enable, Disable                              []*toolset.Set
}

// Apply returns the view with this switched. What it says of a tool counts more than what it says of
// a toolset.
func (v *View) Apply(s *Switches) *View {
	for _, set := range s.Disable {
		v = v.Disable(set)
	}
	for _, set := range s.Enable {
		v = v.Enable(set)
	}
	return v.Switched(switched(v.tools, s.ToolsOn, s.ToolsOff), switched(v.resources, s.ResourcesOn, s.ResourcesOff))
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
