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
			search.Add(e.Name, e.folded.name, e.folded.item)
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

// SimilarStarts returns names of a kind that begin in a similar way, for a glob that matches
// nothing.
func (c *Catalog) SimilarStarts(k mcpwire.Kind, start string) []string {
	if start == "" {
		return nil
	}
	search := suggest.For(start)
	for _, kind := range SimilarKinds(k) {
		for _, e := range c.entries[kind] {
			folded := e.folded.name[:min(len(e.folded.name), len(start))]
			search.Add(e.Name, folded, folded)
		}
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
	if full := c.LookupQualified(k, name); len(full) > 0 {
		return full
	}
	var plain []*Entry
	for _, e := range c.Entries(k) {
		if e.Item.Name == name && !c.isReserved(k, name, e.Source) {
			plain = append(plain, e)
		}
	}
	return plain
}

// LookupQualified returns the entries that a name refers to in the form server:name or
// mcp__server__name.
func (c *Catalog) LookupQualified(k mcpwire.Kind, name string) (full []*Entry) {
	for _, e := range c.Entries(k) {
		if e.Item.Name != name && policy.Qualifies(name, e.Source.PolicyName, e.Item.Name) {
			full = append(full, e)
		}
	}
	return full
}

// LookupDotted returns the entries that a name refers to in the form server.name.
func (c *Catalog) LookupDotted(k mcpwire.Kind, name string) []*Entry {
	if k.IsURI() || !strings.Contains(name, ".") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Entries(k)), func(e *Entry) bool { return !e.dotted(name) })
}

// dotted reports whether a name is that of the entry's server, a dot, and the server's own name for
// the entry.
func (e *Entry) dotted(name string) bool {
	u := e.Source
	return policy.Dotted(name, u.PolicyName, e.Item.Name) || policy.Dotted(name, u.Namespace, e.Item.Name)
}

// dottedNames returns the names for which dotted reports true.
func (e *Entry) dottedNames() (names []string) {
	for _, server := range slices.Compact([]string{e.Source.PolicyName, e.Source.Namespace}) {
		if server != "" {
			names = append(names, server+"."+e.Item.Name)
		}
	}
	return names
}

// Offering returns the servers that have entries, in catalog order.
func (c *Catalog) Offering() (list []*Source) {
	seen := map[*Source]bool{}
	for _, entries := range c.entries {
		for _, e := range entries {
			if !seen[e.Source] {
				seen[e.Source] = true
				list = append(list, e.Source)
			}
		}
	}
	return list
}

// isReserved reports whether a name belongs to another server. It may belong to a server that does
// not have such an item, is not ready, or has disconnected. No other server may use such a name.
// Names with a dot are common, so that server.name is only reserved for an item that the server has
// and that cannot be used.
func (c *Catalog) isReserved(k mcpwire.Kind, name string, by *Source) bool {
	if _, taken := c.owners[k][name]; taken {
		return true
	}
	return slices.ContainsFunc(c.sources, func(u *Source) bool { return u != by && (u.Addresses(k, name) || c.lacks(k, name, u)) })
}

// Addresses reports whether a name begins like those that clients use for the server's items.
func (s *Source) Addresses(k mcpwire.Kind, name string) bool {
	prefix := s.prefix(k)
	return prefix != "" && strings.HasPrefix(name, prefix) || policy.Addresses(name, s.PolicyName)
}

// lacks reports whether a name is server.name for an item that the server has or, before it
// disconnected, had, and that is not in the catalog.
func (c *Catalog) lacks(k mcpwire.Kind, name string, u *Source) bool {
	for _, server := range []string{u.PolicyName, u.Namespace} {
		if own, ok := strings.CutPrefix(name, server+"."); ok && server != "" && !k.IsURI() {
			shown := u.Expose(k, own)
			if c.owners[k][shown] == u.Name && c.ByName[k][shown] == nil {
				return true
			}
		}
	}
	return false
}
