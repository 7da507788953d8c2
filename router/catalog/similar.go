package catalog

import (
	"cmp"
	"slices"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"
)

// MaxSimilar is how many names are suggested for one that is unknown.
const MaxSimilar = 5

// Similar returns existing names of a kind that somebody may have meant, the
// likeliest first. Those of tools may be among toolman's own.
func (c *Catalog) Similar(k mcpwire.Kind, name string, own ...string) []string {
	type scored struct {
		name  string
		score int
	}
	var found []scored
	wanted := suggest.NewPattern(suggest.Fold(name))
	add := func(name, full, bare string) {
		if score, ok := wanted.Near(full, bare); ok {
			found = append(found, scored{name, score})
		}
	}
	for _, kind := range AlikeKinds(k) {
		for _, e := range c.entries[kind] {
			add(e.Name, e.folded, e.foldedItem)
		}
	}
	switch {
	case k == mcpwire.Tool:
		for _, name := range own {
			add(name, name, name)
		}
	case k.IsURI():
		add(CatalogURI, CatalogURI, CatalogURI)
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	names := make([]string, 0, MaxSimilar)
	for _, f := range found[:min(len(found), MaxSimilar)] {
		names = append(names, sanitize.Name(f.name))
	}
	return names
}

// AlikeKinds are the kinds whose names are given where one of k is meant.
func AlikeKinds(k mcpwire.Kind) []mcpwire.Kind {
	if k.IsURI() {
		return []mcpwire.Kind{mcpwire.Resource, mcpwire.Template}
	}
	return []mcpwire.Kind{k}
}
