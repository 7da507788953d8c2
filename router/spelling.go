package router

import (
	"toolman/mcpwire"
	"toolman/router/catalog"
)

// findSpelled looks up a name that no entry has that the client may have.
func (v *View) findSpelled(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if e := v.catalog.IsDenied(name, k); e != nil {
		return v.catalog.Keeps(e)
	}
	var c choice
	for _, e := range v.catalog.Spelled(k, name) {
		c.add(v, catalog.At(e))
	}
	if t, verdict := c.made(); verdict != catalog.Unknown {
		return t, verdict
	}
	if all := v.catalog.Denied.Spelled(k, name); len(all) > 0 {
		return v.catalog.Keeps(all[0])
	}
	return catalog.Target{}, catalog.Unknown
}

// A choice is between the entries that one name may mean.
type choice struct{ active, idle []catalog.Target }

func (c *choice) add(v *View, t catalog.Target) {
	if v.Active(t.Entry) {
		c.active = append(c.active, t)
	} else {
		c.idle = append(c.idle, t)
	}
}

// made is the one active entry there is. Of one server's the first is meant.
func (c *choice) made() (catalog.Target, catalog.Verdict) {
	switch {
	case len(c.active) > 0 && sameUpstream(c.active):
		return c.active[0], catalog.Active
	case len(c.active) > 0:
		return c.active[0], catalog.Ambiguous
	case len(c.idle) > 0:
		return c.idle[0], catalog.Inactive
	}
	return catalog.Target{}, catalog.Unknown
}

func sameUpstream(owners []catalog.Target) bool {
	for _, o := range owners {
		if o.Source != owners[0].Source {
			return false
		}
	}
	return true
}
