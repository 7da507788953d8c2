package router

import (
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/policy"
)

// spelled returns the entries that a name means although it is not theirs: as
// server:name or mcp__server__name or, if there is none, without any server.
func (c *Catalog) spelled(k mcpwire.Kind, name string) []*Entry {
	var full, plain []*Entry
	for _, e := range c.entries[k] {
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

// findSpelled looks up a name that no entry has that the client may have.
func (v *View) findSpelled(k mcpwire.Kind, name string) (target, Verdict) {
	if e := v.catalog.isDenied(name, k); e != nil {
		return v.catalog.keeps(e)
	}
	var c choice
	for _, e := range v.catalog.spelled(k, name) {
		c.add(v, at(e))
	}
	if t, verdict := c.made(); verdict != Unknown {
		return t, verdict
	}
	if all := v.catalog.denied.spelled(k, name); len(all) > 0 {
		return v.catalog.keeps(all[0])
	}
	return target{}, Unknown
}

// A choice is between the entries that one name may mean.
type choice struct{ active, idle []target }

func (c *choice) add(v *View, t target) {
	if v.Active(t.entry) {
		c.active = append(c.active, t)
	} else {
		c.idle = append(c.idle, t)
	}
}

// made is the one active entry there is. Of one server's the first is meant.
func (c *choice) made() (target, Verdict) {
	switch {
	case len(c.active) > 0 && sameUpstream(c.active):
		return c.active[0], Active
	case len(c.active) > 0:
		return c.active[0], Ambiguous
	case len(c.idle) > 0:
		return c.idle[0], Inactive
	}
	return target{}, Unknown
}

func sameUpstream(owners []target) bool {
	for _, o := range owners {
		if o.source != owners[0].source {
			return false
		}
	}
	return true
}
