package catalog

import (
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/suggest"
)

// MaxSimilar is the maximum number of names that Similar returns.
const MaxSimilar = 5

// Similar returns names of a kind that are similar to an unknown name, the most similar first. For
// tools it also considers the names in own.
func (c *Catalog) Similar(k mcpwire.Kind, name string, own ...string) []string {
	search := suggest.For(name)
	for _, kind := range SimilarKinds(k) {
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

// SimilarKinds returns the kinds whose names Similar considers for k.
func SimilarKinds(k mcpwire.Kind) []mcpwire.Kind {
	if k.IsURI() {
		return []mcpwire.Kind{mcpwire.Resource, mcpwire.Template}
	}
	return []mcpwire.Kind{k}
}

// LookupAlias returns the entries that a name refers to although it is not their name: in the form
// server:name or mcp__server__name, or, if there is none, without a server.
func (c *Catalog) LookupAlias(k mcpwire.Kind, name string) []*Entry {
	var full, plain []*Entry
	for _, e := range c.Entries(k) {
		if e.Item.Name == name && !c.isReserved(k, name, e.Source) {
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

// isReserved reports whether a name belongs to another server. It may belong to a server that does
// not have such an item, is not ready, or has disconnected. No other server may use such a name.
func (c *Catalog) isReserved(k mcpwire.Kind, name string, by *Source) bool {
	if _, taken := c.owners[k][name]; taken {
		return true
	}
	return slices.ContainsFunc(c.sources, func(u *Source) bool { return u != by && u.Addresses(k, name) })
}

// Addresses reports whether a name begins like those that clients use for the server's items.
func (s *Source) Addresses(k mcpwire.Kind, name string) bool {
	prefix := s.prefix(k)
	return prefix != "" && strings.HasPrefix(name, prefix) || policy.Addresses(name, s.PolicyName)
}
