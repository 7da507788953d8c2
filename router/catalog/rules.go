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
	Rule   string // describes the pattern
	Server string // it matches only items of the server with this name in policies; "" for all
}

// Globs are the patterns of active_toolsets. An item that matches one of them is active at start.
type Globs []Glob

// CompileGlobs compiles patterns. There are no separators: * matches any characters.
func CompileGlobs(patterns []string) (Globs, error) {
	globs := make(Globs, 0, len(patterns))
	for _, p := range patterns {
		g, err := glob.Compile(p)
		if err != nil {
			return nil, err
		}
		globs = append(globs, Glob{Pattern: g, Rule: fmt.Sprintf("active_toolsets has %q", p)})
	}
	return globs, nil
}

// Match reports whether one of the patterns matches the entry.
func (g Globs) Match(e *Entry) bool { return g.FirstFor(e) != nil }

// MatchesAny reports whether a pattern matches any entry, including denied ones.
func (c *Catalog) MatchesAny(g Glob) bool {
	return slices.ContainsFunc(slices.Concat(c.All(), c.Denied.All()), Globs{g}.Match)
}

// FirstFor returns the first pattern that matches the entry, or nil. A pattern that is the name of
// the entry's server, a dot and the server's name for the entry matches, too.
func (g Globs) FirstFor(e *Entry) *Glob {
	name := e.Prefix + e.Item.Name
	for i := range g {
		if (g[i].Server == "" || g[i].Server == e.Source.PolicyName) && g[i].Match(name) {
			return &g[i]
		}
	}
	if e.Item.Kind.IsURI() {
		return nil
	}
	for i := range g {
		if e.dotted(g[i].String()) {
			return &g[i]
		}
	}
	return nil
}

// First returns the first pattern that matches a name, or nil.
func (g Globs) First(name string) *Glob {
	for i := range g {
		if g[i].Server == "" && g[i].Match(name) {
			return &g[i]
		}
	}
	return nil
}

// Pins are the references (mcpwire.RefID) of accepted items, by Entry.PinName. An item that differs
// from its pin is held back: it is not offered, and no client can use it.
type Pins [mcpwire.Kinds]map[string]string

// A Hold is the reason why an item is held back.
type Hold uint8

// The reasons.
const (
	NotHeld Hold = iota
	NotPinned
	NotAsPinned
	NotPinnable // the item has no definition, see mcpwire.Item.Definition
	OtherEra    // not as pinned, and the server is used in another era than when it was pinned
)

// String returns the reason as text that follows "held back: ".
func (h Hold) String() string {
	return [...]string{"", "it is not in the lock file", "it is not what the lock file says it was", "its definition is ambiguous",
		"it is not what the lock file says it was in the other era (see era in tools.toml)"}[h]
}

// pinHold compares an item with its pin. Without pins no item is held back.
func (r *Rules) pinHold(e *Entry) Hold {
	p := r.Pins
	if p == nil || r.Unpinned.Match(e) {
		return NotHeld
	}
	was, pinned := p[e.Item.Kind][e.PinName()]
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

// Held returns the items that are held back, ordered by kind, then in catalog order. Their names
// stay reserved.
func (c *Catalog) Held() []*Entry {
	return slices.DeleteFunc(c.Denied.All(), func(e *Entry) bool { return e.Hold == NotHeld })
}

// heldText says that an item is held back, and what a person can do about it. The text contains no
// command with the item's name, because a name (for example a URI) could contain a shell command
// and a person could paste it.
func heldText(what string, why Hold) string {
	return fmt.Sprintf("%s is held back: %s. Go on without it; a person can look at it with toolman lock --diff, "+
		"take it with toolman lock --accept NAME, and restart toolman", what, why)
}
