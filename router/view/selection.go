package view

import (
	"maps"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// A selection contains the toolsets that determine which tools are active. Enabled toolsets add
// their tools. If a toolset is equipped, only the tools of toolsets are active. A selection is
// immutable. A nil selection contains no toolsets.
type selection struct {
	Equipped *toolset.Expansion // nil: none
	enabled  []*toolset.Expansion
	before   *Activations // restored by Unequip; nil: the start view without toolsets

	tools    map[string]bool     // union of all toolsets, so that a call needs one lookup
	rejected map[string]rejected // tools that toolsets leave out for security reasons
}

// A rejected tool is not what a toolset that refers to it was saved with, or may be a replacement
// of such a tool.
type rejected struct {
	by      *toolset.Set
	problem string
}

// preload returns the selection of these toolsets, or nil if there are none.
func preload(c *catalog.Catalog, sets []*toolset.Set) *selection {
	if len(sets) == 0 {
		return nil
	}
	var s selection
	for _, set := range sets {
		s.enabled = append(s.enabled, c.Expand(set))
	}
	return s.resolved()
}

// enabledSets returns the enabled toolsets.
func (s *selection) enabledSets() []*toolset.Expansion {
	if s == nil {
		return nil
	}
	return s.enabled
}

// resolved returns the selection with its union of tools.
func (s selection) resolved() *selection {
	all := s.toolsets()
	s.tools, s.rejected = map[string]bool{}, nil
	if len(all) == 1 {
		s.tools = all[0].Tools
	} else {
		for _, x := range all {
			maps.Copy(s.tools, x.Tools)
		}
	}
	for _, x := range all {
		s.reject(x)
	}
	return &s
}

// reject adds the tools that a toolset leaves out for security reasons, except those that it has by
// another reference. A tool with only the same definition may be in another toolset.
func (s *selection) reject(x *toolset.Expansion) {
	for _, r := range x.Resolutions {
		add := func(name string) {
			if name == "" || x.Tools[name] {
				return
			}
			if s.rejected == nil {
				s.rejected = map[string]rejected{}
			}
			s.rejected[name] = rejected{x.Set, r.ClientProblem}
		}
		add(r.RefusedByName)
		for _, name := range r.RefusedByHash {
			if !s.tools[name] {
				add(name)
			}
		}
	}
}

// rejects returns why a tool cannot be active while a toolset is in use, or "". A tool that is
// active at start stays so until a toolset is equipped.
func (s *selection) rejects(e *catalog.Entry) string {
	if s == nil || s.rejected == nil || e.Item.Kind != mcpwire.Tool || e.AtStart && s.Equipped == nil {
		return ""
	}
	r, ok := s.rejected[e.Name]
	if !ok {
		return ""
	}
	return r.by.String() + " leaves it out: " + r.problem
}

// toolsets returns all toolsets of the selection.
func (s *selection) toolsets() []*toolset.Expansion {
	if s.Equipped == nil {
		return s.enabled
	}
	return append(slices.Clone(s.enabled), s.Equipped)
}

// resolveIn returns the same toolsets, resolved among the tools of another catalog.
func (s *selection) resolveIn(c *catalog.Catalog) *selection {
	if s == nil {
		return nil
	}
	next := selection{before: s.before}
	if s.Equipped != nil {
		next.Equipped = c.Expand(s.Equipped.Set)
	}
	for _, x := range s.enabled {
		next.enabled = append(next.enabled, c.Expand(x.Set))
	}
	return next.resolved()
}

// decides reports whether the toolsets activate a tool. ok is false if they do not determine its
// state.
func (s *selection) decides(name string) (on, ok bool) {
	if s == nil {
		return false, false
	}
	on = s.tools[name]
	return on, on || s.Equipped != nil
}

// IsEnabled reports whether a toolset is enabled.
func (s *selection) IsEnabled(name string) bool { return s.indexOf(name) >= 0 }

// indexOf returns the index of an enabled toolset, or -1.
func (s *selection) indexOf(name string) int {
	if s == nil {
		return -1
	}
	return slices.IndexFunc(s.enabled, hasName(name))
}

func hasName(name string) func(*toolset.Expansion) bool {
	return func(x *toolset.Expansion) bool { return x.Set.Name == name }
}

// EnabledNames returns the enabled toolsets as text.
func (s *selection) EnabledNames() string {
	if s == nil || len(s.enabled) == 0 {
		return "none"
	}
	var names []string
	for _, x := range s.enabled {
		names = append(names, x.Set.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// EquippedName returns the name of the equipped toolset, or "".
func (s *selection) EquippedName() string {
	if s == nil || s.Equipped == nil {
		return ""
	}
	return s.Equipped.Set.Name
}

// Enable returns the view with a toolset enabled. Its tools are active, including those that were
// switched off before.
func (v *View) Enable(set *toolset.Set) *View {
	x := v.Catalog.Expand(set)
	tools := maps.Clone(v.tools)
	maps.DeleteFunc(tools, func(name string, on bool) bool { return !on && x.Tools[name] })
	next := v.Sets.without(set.Name)
	next.enabled = append(next.enabled, x)
	return v.with(tools, v.resources, next.resolved())
}

// Disable returns the view with a toolset disabled. Its tools are inactive, for whatever reason
// they were active, except those of other enabled toolsets. Tools that have changed since the
// toolset was saved are also switched off.
func (v *View) Disable(set *toolset.Set) *View {
	next := v.Sets.without(set.Name)
	rest := selection{enabled: next.enabled}.resolved()
	tools := maps.Clone(v.tools)
	if tools == nil {
		tools = map[string]bool{}
	}
	for name := range v.Catalog.ToolIndex().Expand(set, true).Tools {
		if on, _ := rest.decides(name); !on {
			tools[name] = false
		}
	}
	return v.with(tools, v.resources, next.resolved())
}

// without returns a copy of the selection in which a toolset is not enabled.
func (s *selection) without(name string) selection {
	next := selection{}
	if s != nil {
		next = *s
	}
	next.enabled = slices.DeleteFunc(slices.Clone(next.enabled), hasName(name))
	return next
}

// Equip returns the view in which only the tools of a toolset are active.
func (v *View) Equip(set *toolset.Set) *View {
	next := selection{Equipped: v.Catalog.Expand(set)}
	if v.Sets != nil && v.Sets.Equipped != nil {
		next.before = v.Sets.before
	} else {
		now := v.Activations()
		next.before = &now
	}
	return v.with(nil, v.resources, next.resolved())
}

// Unequip returns the view before a toolset was equipped. The state of resources stays.
func (v *View) Unequip() *View {
	if v.Sets.before == nil {
		return v.with(nil, v.resources, v.AtStart().preloaded)
	}
	was := v.AtStart().Activated(*v.Sets.before)
	return v.with(was.tools, v.resources, was.Sets)
}

// WithoutSaved returns the view after an owner's saved toolset was deleted.
func (v *View) WithoutSaved(owner, name string) *View {
	if v.Sets.EquippedName() == name && v.Sets.Equipped.Set.SavedBy(owner) {
		v = v.Unequip()
	}
	if i := v.Sets.indexOf(name); i >= 0 && v.Sets.enabled[i].Set.SavedBy(owner) {
		v = v.Disable(v.Sets.enabled[i].Set)
	}
	return v
}

// Activity says why an entry is or is not active. It checks the same conditions as Active, in the
// same order.
func (v *View) Activity(e *catalog.Entry) string {
	if v.Catalog.Limit != nil {
		return v.Catalog.Limit.Rule(e)
	}
	if why := v.neededBy(e); why != "" && !v.isOn(e) && v.Rejection(e) == "" {
		return why
	}
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return e.Rule
	case mcpwire.Tool:
		if why := v.Rejection(e); why != "" {
			return why
		}
		if on, ok := v.tools[e.Name]; ok {
			return switchedText(on)
		}
		if why := v.Sets.reason(e); why != "" && !v.byStart(e) {
			return why
		}
	default:
		if on, ok := v.resources[e.Name]; ok {
			return switchedText(on)
		}
	}
	if e.AtStart {
		return e.Rule
	}
	return "active_toolsets does not have it"
}

// byStart reports whether an entry is active because of active_toolsets, of which a preloaded
// toolset is a part.
func (v *View) byStart(e *catalog.Entry) bool {
	return e.AtStart && v.Sets == v.AtStart().Sets && v.Sets.EquippedName() == ""
}

func switchedText(on bool) string {
	if on {
		return "it was switched on"
	}
	return "it was switched off"
}

// reason says which toolset determines the state of a tool, or returns "".
func (s *selection) reason(e *catalog.Entry) string {
	if s == nil {
		return ""
	}
	has := func(x *toolset.Expansion) bool { return x.Tools[e.Name] }
	if i := slices.IndexFunc(s.enabled, has); i >= 0 {
		return s.enabled[i].Set.String() + " is enabled"
	}
	if s.Equipped != nil && has(s.Equipped) {
		return s.Equipped.Set.String() + " is equipped"
	}
	if s.Equipped != nil {
		return s.Equipped.Set.String() + " is equipped and does not have it"
	}
	return ""
}
