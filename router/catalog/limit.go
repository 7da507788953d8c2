package catalog

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// A ToolsetLimit is the toolsets that some clients are limited to. It does not change.
type ToolsetLimit struct {
	sets []*toolset.Expansion
}

// Within returns the catalog of clients that are limited to these toolsets. Everything
// in it is active; all else is aside, as what a policy denies.
func (c *Catalog) Within(sets []*toolset.Set) *Catalog {
	l := &ToolsetLimit{}
	for _, set := range sets {
		l.sets = append(l.sets, c.Expand(set))
	}
	next := c.keeping(func(e *Entry) bool { return l.from(e) != nil })
	next.Limit = l
	return next
}

// from returns the first of the toolsets that has an entry, or nil. Patterns also choose
// resources, by the names that active_toolsets has for them, and prompts.
func (l *ToolsetLimit) from(e *Entry) *toolset.Set {
	for _, x := range l.sets {
		has := x.Tools[e.Name]
		if e.Item.Kind != mcpwire.Tool {
			has = slices.ContainsFunc(x.Set.Patterns, e.fits)
		}
		if has {
			return x.Set
		}
	}
	return nil
}

// chooses reports whether one of the toolsets is about an entry, be it there or not.
func (l *ToolsetLimit) chooses(e *Entry) bool {
	return slices.ContainsFunc(l.sets, func(x *toolset.Expansion) bool { return slices.ContainsFunc(x.Set.Patterns, e.fits) })
}

// fits reports whether a pattern of a toolset is about the entry.
func (e *Entry) fits(p toolset.Pattern) bool {
	return p.Text == e.Name || p.Glob != nil && p.Glob.Match(e.Prefix+e.Item.Name)
}

// outside reports whether it is only the limit that keeps an entry from clients.
func (c *Catalog) outside(e *Entry) bool {
	v, judged := c.verdicts[e]
	return c.Limit != nil && (v.Allowed || !judged) && e.Hold == NotHeld && !e.Danger.Denies()
}

// Rule says which toolset has an entry, or that none has.
func (l *ToolsetLimit) Rule(e *Entry) string {
	if set := l.from(e); set != nil {
		return set.String() + " has it"
	}
	names := make([]string, len(l.sets))
	for i, x := range l.sets {
		names[i] = x.Set.Name
	}
	switch len(names) {
	case 0:
		return "the client may use no toolset"
	case 1:
		return fmt.Sprintf("the client is limited to the toolset %s, and that does not have it", names[0])
	}
	return fmt.Sprintf("the client is limited to the toolsets %s, and none of them has it", sanitize.Cut(strings.Join(names, ", "), 400))
}
