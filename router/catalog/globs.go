package catalog

import (
	"fmt"
	"slices"

	"github.com/gobwas/glob"
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
