package catalog

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// A ToolsetLimit contains the toolsets that some clients are limited to. It is immutable.
type ToolsetLimit struct {
	sets []*toolset.Expansion
}

// Within returns the catalog for clients that are limited to these toolsets. Every item in it is
// active. All other items are in Denied.
func (c *Catalog) Within(sets []*toolset.Set) *Catalog {
	l := &ToolsetLimit{}
	for _, set := range sets {
		l.sets = append(l.sets, c.Expand(set))
	}
	next := c.filter(func(e *Entry) bool { return l.toolsetOf(e) != nil })
	next.Limit = l
	next.Absent = next.absencesAmong(c.Absent)
	return next
}

// toolsetOf returns the first toolset that contains an entry, or nil. Patterns also select
// resources, by their names in active_toolsets, and prompts.
func (l *ToolsetLimit) toolsetOf(e *Entry) *toolset.Set {
	for _, x := range l.sets {
		has := x.Tools[e.Name]
		if e.Item.Kind != mcpwire.Tool {
			has = slices.ContainsFunc(x.Set.Patterns, e.matchedBy)
		}
		if has {
			return x.Set
		}
	}
	return nil
}

// Names returns the names of the toolsets that contain a tool. l may be nil.
func (l *ToolsetLimit) Names(tool string) (names []string) {
	if l == nil {
		return nil
	}
	for _, x := range l.sets {
		if x.Tools[tool] {
			names = append(names, x.Set.Name)
		}
	}
	return names
}

// covers reports whether a pattern of the toolsets matches an entry. The entry need not exist.
func (l *ToolsetLimit) covers(e *Entry) bool {
	return slices.ContainsFunc(l.sets, func(x *toolset.Expansion) bool { return slices.ContainsFunc(x.Set.Patterns, e.matchedBy) })
}

// matchedBy reports whether a pattern of a toolset matches the entry.
func (e *Entry) matchedBy(p toolset.Pattern) bool {
	if p.Server != "" {
		return p.Server == e.Source.PolicyName
	}
	return p.Text == e.Name || p.Glob != nil && p.Glob.Match(e.Prefix+e.Item.Name)
}

// outsideLimit reports whether only the limit denies an entry.
func (c *Catalog) outsideLimit(e *Entry) bool {
	v, judged := c.verdicts[e]
	return c.Limit != nil && (v.Allowed || !judged) && e.Hold == NotHeld && !e.Danger.Denies()
}

// Rule says which toolset contains an entry, or that none does.
func (l *ToolsetLimit) Rule(e *Entry) string {
	if set := l.toolsetOf(e); set != nil {
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
		return fmt.Sprintf("the client is limited to the toolset %s, which does not contain it", names[0])
	}
	return fmt.Sprintf("the client is limited to the toolsets %s, and none of them contains it", sanitize.Cut(strings.Join(names, ", "), 400))
}
