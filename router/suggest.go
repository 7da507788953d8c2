package router

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"toolman/mcpwire"
)

// maxSimilar is how many names are suggested for one that is unknown.
const maxSimilar = 5

// similar returns existing names of a kind that somebody may have meant, the
// likeliest first. Those of tools may be among toolman's own.
func (c *Catalog) similar(k mcpwire.Kind, name string, own ...string) []string {
	type scored struct {
		name  string
		score int
	}
	var found []scored
	wanted := newPattern(fold(name))
	add := func(name, full, bare string) {
		if score, ok := wanted.near(full, bare); ok {
			found = append(found, scored{name, score})
		}
	}
	for _, kind := range alikeKinds(k) {
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
	names := make([]string, 0, maxSimilar)
	for _, f := range found[:min(len(found), maxSimilar)] {
		names = append(names, plainName(f.name))
	}
	return names
}

// alikeKinds are the kinds whose names are given where one of k is meant.
func alikeKinds(k mcpwire.Kind) []mcpwire.Kind {
	if k.IsURI() {
		return []mcpwire.Kind{mcpwire.Resource, mcpwire.Template}
	}
	return []mcpwire.Kind{k}
}

// fold makes spellings alike that people mix up.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '.', ' ':
			return '_'
		}
		return unicode.ToLower(r)
	}, clean(name[:min(len(name), maxPattern)]))
}

// near says how far a name, with its namespace or without, is from what was
// wanted, and whether that is near enough to be meant. All three are folded.
func (p *pattern) near(full, bare string) (int, bool) {
	wanted := p.text
	if wanted == full || wanted == bare || strings.HasSuffix(wanted, full) && wanted[len(wanted)-len(full)-1] == '_' {
		return 0, true // only the namespace, the case or a separator is wrong
	}
	if len(wanted) >= 3 && (strings.Contains(full, wanted) || len(bare) >= 3 && strings.Contains(wanted, bare)) {
		return 1, true
	}
	limit := max(2, len(wanted)/3)
	d := p.distance(full, limit)
	if len(bare) < len(full) {
		d = min(d, p.distance(bare, limit))
	}
	return 1 + d, d <= limit && d < len(wanted)
}
