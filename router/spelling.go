package router

import (
	"toolman/mcpwire"
)

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
