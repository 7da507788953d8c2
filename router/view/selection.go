package view

import (
	"maps"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// A selection is the toolsets that decide what is active in a view: those that are
// enabled add their tools, and with one equipped there are no others. It does not
// change. A nil one is no toolsets.
type selection struct {
	Equipped *toolset.Expansion // nil: none
	enabled  []*toolset.Expansion
	before   *View // what unequip goes back to; nil: the start, without any

	tools map[string]bool // those of all of them: a call asks once, however many there are
}

// made returns the selection, ready to decide.
func (s selection) made() *selection {
	all := s.chosen()
	if len(all) == 1 {
		s.tools = all[0].Tools
		return &s
	}
	s.tools = map[string]bool{}
	for _, x := range all {
		maps.Copy(s.tools, x.Tools)
	}
	return &s
}

// decides reports whether a tool is active by the toolsets, if they say anything
// about it.
func (s *selection) decides(name string) (on, ok bool) {
	if s == nil {
		return false, false
	}
	on = s.tools[name]
	return on, on || s.Equipped != nil
}

// IsEnabled reports whether a toolset is among the enabled ones.
func (s *selection) IsEnabled(name string) bool { return s.indexOf(name) >= 0 }

// indexOf is where a toolset is among the enabled ones, -1 for nowhere.
func (s *selection) indexOf(name string) int {
	if s == nil {
		return -1
	}
	return slices.IndexFunc(s.enabled, setNamed(name))
}

func setNamed(name string) func(*toolset.Expansion) bool {
	return func(x *toolset.Expansion) bool { return x.Set.Name == name }
}

// EquippedName is the name of the equipped toolset, "" for none.
func (s *selection) EquippedName() string {
	if s == nil || s.Equipped == nil {
		return ""
	}
	return s.Equipped.Set.Name
}

// over returns the same toolsets, resolved among the tools of another catalog.
func (s *selection) over(c *catalog.Catalog) *selection {
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
	return next.made()
}

// Enable returns the view with a toolset enabled: its tools are active, also those
// that were switched off before.
func (v *View) Enable(set *toolset.Set) *View {
	x := v.Catalog.Expand(set)
	tools := maps.Clone(v.tools)
	maps.DeleteFunc(tools, func(name string, on bool) bool { return !on && x.Tools[name] })
	next := v.Sets.without(set.Name)
	next.enabled = append(next.enabled, x)
	return v.chosen(tools, v.resources, next.made())
}

// Disable returns the view with a toolset disabled: its tools are not active any more,
// whatever made them so, but for those of other enabled toolsets. A tool that has
// changed since the set was saved is switched off all the same.
func (v *View) Disable(set *toolset.Set) *View {
	next := v.Sets.without(set.Name)
	rest := selection{enabled: next.enabled}.made()
	tools := maps.Clone(v.tools)
	if tools == nil {
		tools = map[string]bool{}
	}
	for name := range v.Catalog.ToolIndex().Expand(set, true).Tools {
		if on, _ := rest.decides(name); !on {
			tools[name] = false
		}
	}
	return v.chosen(tools, v.resources, next.made())
}

// without returns a copy of the selection in which a toolset is not enabled.
func (s *selection) without(name string) selection {
	next := selection{}
	if s != nil {
		next = *s
	}
	next.enabled = slices.DeleteFunc(slices.Clone(next.enabled), setNamed(name))
	return next
}

// Equip returns the view in which only the tools of a toolset are active.
func (v *View) Equip(set *toolset.Set) *View {
	next := selection{Equipped: v.Catalog.Expand(set), before: v}
	if v.Sets != nil && v.Sets.Equipped != nil {
		next.before = v.Sets.before
	}
	return v.chosen(nil, v.resources, next.made())
}

// Unequip returns the view as it was before a toolset was equipped; resources stay.
func (v *View) Unequip() *View {
	if v.Sets.before == nil {
		return v.chosen(nil, v.resources, nil)
	}
	was := v.Sets.before.Rebase(v.AtStart())
	return v.chosen(was.tools, v.resources, was.Sets)
}

// WithoutSaved returns the view after an owner's saved toolset is no more.
func (v *View) WithoutSaved(owner, name string) *View {
	if v.Sets.EquippedName() == name && v.Sets.Equipped.Set.SavedBy(owner) {
		v = v.Unequip()
	}
	if i := v.Sets.indexOf(name); i >= 0 && v.Sets.enabled[i].Set.SavedBy(owner) {
		v = v.Disable(v.Sets.enabled[i].Set)
	}
	return v
}

// EnabledNames lists the enabled toolsets for people.
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

// Activity says why an entry is active or is not: what Active asks, in the same order.
func (v *View) Activity(e *catalog.Entry) string {
	if v.Catalog.Limit != nil {
		return v.Catalog.Limit.Rule(e)
	}
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return e.Rule
	case mcpwire.Tool:
		if on, ok := v.tools[e.Name]; ok {
			return switchedText(on)
		}
		if why := v.Sets.reason(e); why != "" {
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

func switchedText(on bool) string {
	if on {
		return "it was switched on"
	}
	return "it was switched off"
}

// reason says which toolset decides about a tool, "" when none does. One that was to
// have it and leaves it out is a reason, too, for what is not active without.
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
	for _, x := range s.chosen() {
		if problem := leftOut(x, e.Name); problem != "" && (s.Equipped != nil || !e.AtStart) {
			return x.Set.String() + " leaves it out: " + problem
		}
	}
	if s.Equipped != nil {
		return s.Equipped.Set.String() + " is equipped and does not have it"
	}
	return ""
}

// chosen are all its toolsets.
func (s *selection) chosen() []*toolset.Expansion {
	if s.Equipped == nil {
		return s.enabled
	}
	return append(slices.Clone(s.enabled), s.Equipped)
}

// leftOut is what is wrong with a set's reference to a tool, "" for nothing.
func leftOut(x *toolset.Expansion, name string) string {
	for i, ref := range x.Set.Tools {
		if r := i + len(x.Set.Patterns); ref.NamespacedName == name && r < len(x.Resolutions) {
			return x.Resolutions[r].Problem
		}
	}
	return ""
}
