package catalog

import (
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/suggest"
)

// MaxSimilar is how many names Similar returns.
const MaxSimilar = 5

// Similar returns names of a kind that a caller may have meant by one that is unknown, the likeliest
// first. For tools it considers the names in own as well.
func (c *Catalog) Similar(k mcpwire.Kind, name string, own ...string) []string {
	search := suggest.For(name)
	for _, kind := range AlikeKinds(k) {
		for _, e := range c.entries[kind] {
			search.Add(e.Name, e.folded, e.foldedItem)
		}
	}
	switch {
	case k == mcpwire.Tool:
		for _, name := range own {
			search.Add(name, name, name)
		}
	case k.IsURI():
		search.Add(CatalogURI, CatalogURI, CatalogURI)
	}
	names := search.Best(MaxSimilar)
	for i := range names {
		names[i] = sanitize.Name(names[i])
	}
	return names
}

// AlikeKinds returns the kinds whose names Similar considers for k.
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
