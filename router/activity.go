package router

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// activity says why an entry is active or is not: what Active asks, in the same order.
func (v *View) activity(e *catalog.Entry) string {
	if v.catalog.Limit != nil {
		return v.catalog.Limit.Rule(e)
	}
	switch e.Item.Kind {
	case mcpwire.Prompt:
		return e.Rule
	case mcpwire.Tool:
		if on, ok := v.tools[e.Name]; ok {
			return switchedText(on)
		}
		if why := v.sets.reason(e); why != "" {
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
	if s.equipped != nil && has(s.equipped) {
		return s.equipped.Set.String() + " is equipped"
	}
	for _, x := range s.chosen() {
		if problem := leftOut(x, e.Name); problem != "" && (s.equipped != nil || !e.AtStart) {
			return x.Set.String() + " leaves it out: " + problem
		}
	}
	if s.equipped != nil {
		return s.equipped.Set.String() + " is equipped and does not have it"
	}
	return ""
}

// chosen are all its toolsets.
func (s *selection) chosen() []*toolset.Expansion {
	if s.equipped == nil {
		return s.enabled
	}
	return append(slices.Clone(s.enabled), s.equipped)
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
