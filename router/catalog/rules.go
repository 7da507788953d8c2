package catalog

import (
	"fmt"
	"slices"

	"github.com/gobwas/glob"

	"toolman/mcpwire"
)

// A Glob is one pattern of active_toolsets.
type Glob struct {
	*glob.Pattern
	Rule string // says that it has an item, and where it stands
}

// Globs are the patterns of active_toolsets. An item that any of them matches
// is active at start.
type Globs []Glob

// CompileGlobs compiles patterns. There are no separators: * matches any
// characters.
func CompileGlobs(patterns []string) (Globs, error) {
	globs := make(Globs, 0, len(patterns))
	for _, p := range patterns {
		g, err := glob.Compile(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, Glob{g, fmt.Sprintf("active_toolsets has %q", p)})
	}
	return globs, nil
}

// Match reports whether any of the patterns is about the entry.
func (g Globs) Match(e *Entry) bool { return g.First(e.Prefix+e.Item.Name) != nil }

// Fits reports whether a pattern is about any entry, be it held back.
func (c *Catalog) Fits(g Glob) bool {
	return slices.ContainsFunc(slices.Concat(c.All(), c.Denied.All()), Globs{g}.Match)
}

// First returns the first pattern that matches, or nil.
func (g Globs) First(name string) *Glob {
	for i := range g {
		if g[i].Match(name) {
			return &g[i]
		}
	}
	return nil
}

// Pins say what each item was when somebody last looked at it: its reference
// (mcpwire.RefID), by its name as clients see it. What is not as its pin says is held
// back: not offered, and not to be had by any road.
type Pins [mcpwire.Kinds]map[string]string

// A Hold is why an item is held back.
type Hold uint8

// The reasons.
const (
	NotHeld Hold = iota
	NotPinned
	NotAsPinned
	NotPinnable // it has no definition, see mcpwire.Item.Definition
	OtherEra    // not as pinned, and its server is not spoken to in the era that it was pinned in
)

// String returns the reason in words that follow "held back: ".
func (h Hold) String() string {
	return [...]string{"", "it is not in the lock file", "it is not what the lock file says it was", "its definition can be understood in more than one way",
		"it is not what the lock file says it was in the other era (see era in tools.toml)"}[h]
}

// holds judges an item by its pin. No pins hold nothing.
func (r *Rules) holds(e *Entry) Hold {
	p := r.Pins
	if p == nil || r.Unpinned.Match(e) {
		return NotHeld
	}
	was, pinned := p[e.Item.Kind][e.Name]
	switch is := e.RefID(); {
	case is == "":
		return NotPinnable
	case !pinned:
		return NotPinned
	case was != is && r.Eras[e.Source.Name] == otherEra(e.Source.Modern):
		return OtherEra
	case was != is:
		return NotAsPinned
	}
	return NotHeld
}

func otherEra(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Legacy
	}
	return mcpwire.Modern
}

// Held returns the items that are held back, kind by kind in catalog order. Their
// names are taken all the same.
func (c *Catalog) Held() []*Entry {
	return slices.DeleteFunc(c.Denied.All(), func(e *Entry) bool { return e.Hold == NotHeld })
}

// heldText says that an item is held back, and who can do what about it. The name
// stands in no command that somebody may copy: a URI can be a command itself.
func heldText(what string, why Hold) string {
	return fmt.Sprintf("%s is held back: %s. Go on without it; a person can look at it with toolman lock --diff, "+
		"take it with toolman lock --accept NAME, and restart toolman", what, why)
}
