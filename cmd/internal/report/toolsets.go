package report

import (
	"slices"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// maxReferences is how many references of a toolset are named.
const maxReferences = 20

// addToolsets reports what toolsets leave out, and files with toolsets that cannot be used.
func (rep *Report) addToolsets(c *config.Config, r *router.Router) {
	o := &r.Options
	saved, err := o.Shelf.Load()
	if err != nil {
		rep.problem("%s", sanitize.Line(err.Error()))
	}
	for _, set := range o.Toolsets {
		if _, hidden := saved[set.Name]; hidden {
			rep.note("there is a saved toolset %s, too, which is not used: %s has its name", set.Name, &set)
		}
	}
	sets, _ := setup.AllSets(o)
	for i := range sets {
		rep.addSet(r.Catalog(), &sets[i])
	}
	switch set, err := setup.Equipped(o, c); {
	case err != nil:
		rep.problem("no toolset is equipped at start: %s; toolman toolset unequip ends that", sanitize.Line(err.Error()))
	case set != nil:
		rep.note("%s is equipped: of tools only its own are active at start", set)
	}
}

// addSet reports what one toolset leaves out, except for tools of servers that are not ready and
// tools that are held back, which are reported elsewhere.
func (rep *Report) addSet(offered *catalog.Catalog, set *toolset.Set) {
	reported := 0
	for i, found := range offered.Expand(set).Resolutions {
		missing := found.Outcome == toolset.Missing
		if found.Problem == "" || missing && (!rep.allReady() || isHeld(offered, set, i)) {
			continue
		}
		if reported++; reported > maxReferences {
			owner := ""
			if set.Owner != "" {
				owner = " --owner " + set.Owner
			}
			rep.note("%s: toolman toolset show%s %s says more", set, owner, set.Name)
			return
		}
		if missing || len(found.Tools) > 0 {
			rep.note("%s: %s", set, sanitize.Line(found.Problem))
		} else {
			rep.problem("%s: %s", set, sanitize.Line(found.Problem))
		}
	}
}

// isHeld reports whether the i-th reference of a set leads to a tool that is held back.
func isHeld(offered *catalog.Catalog, set *toolset.Set, i int) bool {
	return slices.ContainsFunc(offered.Held(), func(e *catalog.Entry) bool {
		if i < len(set.Patterns) {
			return set.Patterns[i].Text == e.Name || set.Patterns[i].Glob.Match(e.Name)
		}
		return set.Tools[i-len(set.Patterns)].NamespacedName == e.Name
	})
}
