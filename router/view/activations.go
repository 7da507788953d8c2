package view

import (
	"slices"

	"toolman/router/toolset"
)

// Activations are what a client has switched, without a catalog. They are a value: their parts must
// not change. The zero value is a client that has switched nothing.
type Activations struct {
	Tools, Resources map[string]bool // states set by toolman_activate, by name
	Toolsets         *Toolsets       // nil: those of the start
}

// Toolsets are the toolsets that a client has enabled, disabled or equipped.
type Toolsets struct {
	Enabled  []*toolset.Set // besides the preloaded ones
	Disabled []string       // preloaded ones that are not enabled
	Equipped *toolset.Set   // nil: none
	Before   *Activations   // before a toolset was equipped; nil: those of the start, without an equipped toolset
}

// selectionIn returns the toolsets, resolved in the catalog of a start view.
func (t *Toolsets) selectionIn(start *View) *selection {
	next := selection{before: t.Before}
	if t.Equipped != nil {
		next.Equipped = start.Catalog.Expand(t.Equipped)
	}
	for _, x := range start.preloaded.enabledSets() {
		if !slices.Contains(t.Disabled, x.Set.Name) {
			next.enabled = append(next.enabled, x)
		}
	}
	for _, set := range t.Enabled {
		if next.indexOf(set.Name) < 0 {
			next.enabled = append(next.enabled, start.Catalog.Expand(set))
		}
	}
	if next.Equipped == nil && len(next.enabled) == 0 {
		return nil
	}
	return next.resolved()
}
