package main

import (
	"fmt"
	"slices"

	"toolman/cmd/internal/config"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

// maxPerSet is how many references of a toolset are named.
const maxPerSet = 20

// addToolsets says what toolsets leave out, and which files of them cannot be used.
func (rep *report) addToolsets(c *config.Config, r *router.Router) {
	o := &r.Options
	saved, err := o.Shelf.Load()
	if err != nil {
		rep.Problems = append(rep.Problems, sanitize.Line(err.Error()))
	}
	for _, set := range o.Toolsets {
		if _, hidden := saved[set.Name]; hidden {
			rep.Notes = append(rep.Notes, fmt.Sprintf("there is a saved toolset %s, too, which is not used: %s has its name", set.Name, &set))
		}
	}
	sets, _ := allSets(o)
	for i := range sets {
		rep.addSet(r.Catalog(), &sets[i])
	}
	switch set, err := equipped(o, c); {
	case err != nil:
		rep.Problems = append(rep.Problems, fmt.Sprintf("no toolset is equipped at start: %s; toolman toolset unequip ends that", sanitize.Line(err.Error())))
	case set != nil:
		rep.Notes = append(rep.Notes, fmt.Sprintf("%s is equipped: of tools only its own are active at start", set))
	}
}

// addSet says what one toolset leaves out. What a server has that is not ready, or what
// its pin holds back, is told elsewhere.
func (rep *report) addSet(offered *catalog.Catalog, set *toolset.Set) {
	said := 0
	for i, found := range offered.Expand(set).Resolutions {
		missing := found.Outcome == toolset.Missing
		if found.Problem == "" || missing && (!rep.allReady() || isHeld(offered, set, i)) {
			continue
		}
		if said++; said > maxPerSet {
			rep.Notes = append(rep.Notes, fmt.Sprintf("%s: toolman toolset show%s says more", set, shownBy(set)))
			return
		}
		text := fmt.Sprintf("%s: %s", set, sanitize.Line(found.Problem))
		if missing || len(found.Tools) > 0 {
			rep.Notes = append(rep.Notes, text)
		} else {
			rep.Problems = append(rep.Problems, text)
		}
	}
}

// shownBy are the arguments with which toolset show is about a set.
func shownBy(set *toolset.Set) string {
	if set.Owner != "" {
		return " --owner " + set.Owner + " " + set.Name
	}
	return " " + set.Name
}

// isHeld reports whether the i-th reference of a set leads to what its pin holds back.
func isHeld(offered *catalog.Catalog, set *toolset.Set, i int) bool {
	return slices.ContainsFunc(offered.Held(), func(e *catalog.Entry) bool {
		if i < len(set.Patterns) {
			return set.Patterns[i].Text == e.Name || set.Patterns[i].Glob.Match(e.Name)
		}
		return set.Tools[i-len(set.Patterns)].NamespacedName == e.Name
	})
}

// addIdle notes patterns of the file that nothing fits.
func (rep *report) addIdle(c *config.Config, r *router.Router) {
	if !rep.allReady() {
		return
	}
	for i, a := range c.ActiveToolsets {
		if a.Toolset == "" && !r.Catalog().Fits(r.Active[i]) {
			rep.Notes = append(rep.Notes, sanitize.Line(r.Active[i].Rule)+", which fits nothing")
		}
	}
	for i, pattern := range c.Unpinned {
		if !r.Catalog().Fits(r.Unpinned[i]) {
			rep.Notes = append(rep.Notes, fmt.Sprintf("unpinned has %q, which fits nothing now", sanitize.Line(pattern)))
		}
	}
}

// allReady reports whether it is known what every server has.
func (rep *report) allReady() bool {
	for _, s := range rep.Servers {
		if s.State != router.Ready.String() {
			return false
		}
	}
	return true
}
