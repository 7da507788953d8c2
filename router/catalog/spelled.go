package catalog

import (
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/policy"
)

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
