package view

import (
	"maps"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// A View is what one session sees: the catalog, and the client's activations. It is immutable
// except for its caches.
type View struct {
	Catalog *catalog.Catalog
	// The states set by toolman_activate, by name. The state of other items depends on the toolsets
	// or the start. Resources and resource templates share names.
	tools, resources map[string]bool
	Sets             *selection // toolsets that are enabled or equipped

	// Of a start view: the toolsets that are enabled unless one is equipped, and the tools of the
	// fixed toolsets by the names toolset.name.
	preloaded *selection
	members   func() map[string][]*catalog.Entry

	start *View // view of the same catalog without activations; nil: this is it

	opened  map[*catalog.Source]bool // servers whose inactive items are active, see withOpened
	showing showing
	pages   pages
}

// StartSets are the toolsets that a start view depends on.
type StartSets struct {
	Fixed     []*toolset.Set // whose names may stand before those of their tools
	Preloaded []*toolset.Set // that are enabled
	Equipped  *toolset.Set   // if not nil, only its tools are active, and none is enabled
}

// New returns the start view of a catalog.
func New(c *catalog.Catalog, sets StartSets) *View {
	v := &View{Catalog: c, preloaded: preload(c, sets.Preloaded), members: members(c, sets.Fixed)}
	v.Sets = v.preloaded
	if sets.Equipped != nil {
		v.Sets = (&selection{Equipped: &toolset.Expansion{Set: sets.Equipped}}).resolveIn(c)
	}
	return v
}

// AtStart returns the view without the client's activations.
func (v *View) AtStart() *View {
	if v.start == nil {
		return v
	}
	return v.start
}

// Rebase returns the view with the activations of v and the catalog of start, which has no
// activations.
func (v *View) Rebase(start *View) *View {
	if v.start == nil {
		return start
	}
	return start.Activated(v.Activations())
}

// Activations returns the activations of the view.
func (v *View) Activations() Activations {
	a := Activations{Tools: v.tools, Resources: v.resources}
	start := v.AtStart()
	if v.Sets == start.Sets {
		return a
	}
	a.Toolsets = &Toolsets{}
	for _, x := range v.Sets.enabledSets() {
		if !start.preloaded.IsEnabled(x.Set.Name) {
			a.Toolsets.Enabled = append(a.Toolsets.Enabled, x.Set)
		}
	}
	for _, x := range start.preloaded.enabledSets() {
		if !v.Sets.IsEnabled(x.Set.Name) {
			a.Toolsets.Disabled = append(a.Toolsets.Disabled, x.Set.Name)
		}
	}
	if v.Sets != nil {
		a.Toolsets.Before = v.Sets.before
		if v.Sets.Equipped != nil {
			a.Toolsets.Equipped = v.Sets.Equipped.Set
		}
	}
	return a
}

// Activated returns the start view with a client's activations.
func (v *View) Activated(a Activations) *View {
	start := v.AtStart()
	sets := start.Sets
	if a.Toolsets != nil {
		sets = a.Toolsets.selectionIn(start)
	}
	return start.with(a.Tools, a.Resources, sets)
}

// Switched returns the view with these states of tools and resources.
func (v *View) Switched(tools, resources map[string]bool) *View {
	return v.with(tools, resources, v.Sets)
}

// with returns the view of the same catalog with these states and toolsets.
func (v *View) with(tools, resources map[string]bool, sets *selection) *View {
	if len(tools)+len(resources) == 0 && sets == v.AtStart().Sets {
		return v.AtStart()
	}
	return &View{Catalog: v.Catalog, tools: tools, resources: resources, Sets: sets, start: v.AtStart()}
}

// Active reports whether an entry may be used.
func (v *View) Active(e *catalog.Entry) bool {
	return v.Catalog.AnyState && v.Rejection(e) == "" || v.SwitchedOn(e)
}

// Rejection returns why a tool cannot be active as long as a toolset is in use that leaves it out
// for security reasons, or "".
func (v *View) Rejection(e *catalog.Entry) string { return v.Sets.rejects(e) }

// SwitchedOn is Active without regard to Catalog.AnyState.
func (v *View) SwitchedOn(e *catalog.Entry) bool {
	return v.isOn(e) || v.Catalog.Apps != nil && v.Rejection(e) == "" && v.neededByPage(e)
}

// isOn is SwitchedOn for the entry itself: without regard to tools with pages that need it.
func (v *View) isOn(e *catalog.Entry) bool {
	if v.Catalog.Limit != nil {
		return true
	}
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return true
	case mcpwire.Tool:
		if v.Rejection(e) != "" {
			return false
		}
		if on, ok := v.tools[e.Name]; ok {
			return on
		}
		if on, ok := v.Sets.decides(e.Name); ok {
			return on
		}
	default:
		if v.Catalog.Apps.OnlyPage(e) {
			return false
		}
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

// Visible returns the active entries of a kind that are listed for clients of an era.
func (v *View) Visible(k mcpwire.Kind, modern bool) []*catalog.Entry {
	return slices.DeleteFunc(v.ActiveEntries(k), func(e *catalog.Entry) bool { return e.HiddenFrom(modern) })
}

// Search returns the items that fit a query in plain words best and that clients of an era may know,
// active or not, the best first.
func (v *View) Search(query string, limit int, modern bool, wanted func(mcpwire.Kind) bool) []*catalog.Entry {
	return v.Catalog.Search(query, limit, func(e *catalog.Entry) bool {
		return wanted(e.Item.Kind) && !e.HiddenFrom(modern) && !v.Catalog.Apps.OnlyPage(e)
	})
}

// Listed returns the view whose items are listed in a mode.
func (v *View) Listed(m Mode) *View {
	if m == ModeMutate {
		return v
	}
	return v.AtStart()
}

// Switches are simultaneous changes: of tools and resources by name, and of toolsets.
type Switches struct {
	ToolsOn, ToolsOff, ResourcesOn, ResourcesOff []string
	Enable, Disable                              []*toolset.Set
}

// Apply returns the view with these changes. Changes of single tools override those of toolsets.
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
