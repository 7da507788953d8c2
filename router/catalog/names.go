package catalog

import (
	"cmp"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
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

// Spelled returns the entries that a name means although it is not theirs: as
// server:name or mcp__server__name or, if there is none, without any server.
func (c *Catalog) Spelled(k mcpwire.Kind, name string) []*Entry {
	var full, plain []*Entry
	for _, e := range c.Entries(k) {
		if e.Item.Name == name && !c.claimed(k, name, e.Source) {
			plain = append(plain, e)
		} else if policy.Qualifies(name, e.Source.PolicyName, e.Item.Name) {
			full = append(full, e)
		}
	}
	if len(full) > 0 {
		return full
	}
	return plain
}

// claimed reports whether a name is another server's although that has no such
// item, or not yet, or is gone: nobody steps into its place.
func (c *Catalog) claimed(k mcpwire.Kind, name string, by *Source) bool {
	if _, taken := c.owners[k][name]; taken {
		return true
	}
	return slices.ContainsFunc(c.sources, func(u *Source) bool {
		prefix := u.prefix(k)
		return u != by && (prefix != "" && strings.HasPrefix(name, prefix) || policy.Addresses(name, u.PolicyName))
	})
}
