package router

import (
	"maps"
	"slices"
	"strings"

	"toolman/router/catalog"
	"toolman/router/toolset"
)

// A selection is the toolsets that decide what is active in a view: those that are
// enabled add their tools, and with one equipped there are no others. It does not
// change. A nil one is no toolsets.
type selection struct {
	equipped *toolset.Expansion // nil: none
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
	return on, on || s.equipped != nil
}

// isEnabled reports whether a toolset is among the enabled ones.
func (s *selection) isEnabled(name string) bool { return s.indexOf(name) >= 0 }

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

// equippedName is the name of the equipped toolset, "" for none.
func (s *selection) equippedName() string {
	if s == nil || s.equipped == nil {
		return ""
	}
	return s.equipped.Set.Name
}

// over returns the same toolsets, resolved among the tools of another catalog.
func (s *selection) over(c *catalog.Catalog) *selection {
	if s == nil {
		return nil
	}
	next := selection{before: s.before}
	if s.equipped != nil {
		next.equipped = c.Expand(s.equipped.Set)
	}
	for _, x := range s.enabled {
		next.enabled = append(next.enabled, c.Expand(x.Set))
	}
	return next.made()
}

// enable returns the view with a toolset enabled: its tools are active, also those
// that were switched off before.
func (v *View) enable(set *toolset.Set) *View {
	x := v.catalog.Expand(set)
	tools := maps.Clone(v.tools)
	maps.DeleteFunc(tools, func(name string, on bool) bool { return !on && x.Tools[name] })
	next := v.sets.without(set.Name)
	next.enabled = append(next.enabled, x)
	return v.chosen(tools, v.resources, next.made())
}

// disable returns the view with a toolset disabled: its tools are not active any more,
// whatever made them so, but for those of other enabled toolsets. A tool that has
// changed since the set was saved is switched off all the same.
func (v *View) disable(set *toolset.Set) *View {
	next := v.sets.without(set.Name)
	rest := selection{enabled: next.enabled}.made()
	tools := maps.Clone(v.tools)
	if tools == nil {
		tools = map[string]bool{}
	}
	for name := range v.catalog.ToolIndex().Expand(set, true).Tools {
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

// equip returns the view in which only the tools of a toolset are active.
func (v *View) equip(set *toolset.Set) *View {
	next := selection{equipped: v.catalog.Expand(set), before: v}
	if v.sets != nil && v.sets.equipped != nil {
		next.before = v.sets.before
	}
	return v.chosen(nil, v.resources, next.made())
}

// unequip returns the view as it was before a toolset was equipped; resources stay.
func (v *View) unequip() *View {
	if v.sets.before == nil {
		return v.chosen(nil, v.resources, nil)
	}
	was := v.sets.before.over(v.atStart())
	return v.chosen(was.tools, v.resources, was.sets)
}

// deleted returns the view after an owner's saved toolset is no more.
func (v *View) deleted(owner, name string) *View {
	if v.sets.equippedName() == name && v.sets.equipped.Set.SavedBy(owner) {
		v = v.unequip()
	}
	if i := v.sets.indexOf(name); i >= 0 && v.sets.enabled[i].Set.SavedBy(owner) {
		v = v.disable(v.sets.enabled[i].Set)
	}
	return v
}

// enabledNames lists the enabled toolsets for people.
func (s *selection) enabledNames() string {
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
