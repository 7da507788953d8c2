package setup

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/store"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// toolsetsOf returns the toolsets of the configuration.
func toolsetsOf(c *config.Config) (sets []toolset.Set, err error) {
	for _, s := range c.Toolsets {
		patterns, err := CompilePatterns(s.Tools)
		if err != nil {
			return nil, err
		}
		if s.Server != "" {
			patterns = []toolset.Pattern{toolset.OfServer(s.Server)}
		}
		sets = append(sets, toolset.Set{Name: s.Name, Description: s.Description, Patterns: patterns, Default: s.Server != "",
			File: filepath.Base(c.Path), Line: max(1, s.Line)})
	}
	return sets, nil
}

// MetaTools returns the groups of toolman's own tools that clients are offered.
func MetaTools(c *config.Config) view.MetaTools {
	search := view.SearchNever
	switch {
	case slices.Contains(c.MetaTools, "search"):
		search = view.SearchAlways
	case slices.Contains(c.MetaTools, config.SearchIfCut):
		search = view.SearchAuto
	}
	return view.MetaTools{
		Search:     search,
		NoActivate: !slices.Contains(c.MetaTools, "activate"),
		Toolsets:   slices.Contains(c.MetaTools, "toolsets"),
		Manage:     slices.Contains(c.MetaTools, "manage"),
		Login:      slices.Contains(c.MetaTools, "login"),
	}
}

// CompilePatterns turns names and globs into patterns.
func CompilePatterns(texts []string) ([]toolset.Pattern, error) {
	globs, err := catalog.CompileGlobs(texts)
	if err != nil {
		return nil, err
	}
	var patterns []toolset.Pattern
	for i, text := range texts {
		patterns = append(patterns, toolset.Pattern{Text: text, Glob: globs[i]})
	}
	return patterns, nil
}

// Equipped returns the toolset that is equipped at start, or nil.
func Equipped(o *router.Options, c *config.Config) (*toolset.Set, error) {
	name, err := store.ToolsetsBeside(c.Beside).Equipped()
	if err != nil || name == "" {
		return nil, err
	}
	set, err := FindSet(o, "", name)
	if err != nil {
		return nil, fmt.Errorf("the equipped toolset: %w", err)
	}
	return set, nil
}

// FindSet returns the toolset with an owner and a name. One of tools.toml wins over a saved one.
func FindSet(o *router.Options, owner, name string) (*toolset.Set, error) {
	sets, err := AllSets(o)
	sets = slices.DeleteFunc(sets, func(s toolset.Set) bool { return s.Name != name })
	if i := slices.IndexFunc(sets, func(s toolset.Set) bool { return s.Owner == owner }); i >= 0 {
		if set := &sets[i]; set.Broken != "" {
			return nil, cli.Failed(fmt.Errorf("%s cannot be used: %s", set, sanitize.Line(set.Broken)), "correct the file, or remove this toolset: toolman toolset delete NAME")
		}
		return &sets[i], nil
	}
	if err != nil {
		return nil, err
	}
	problem, hint := fmt.Errorf("there is no toolset %q", name), "toolman toolset list shows all toolsets"
	if owner != "" {
		problem = fmt.Errorf("%s has no toolset %q", sanitize.Line(owner), name)
	} else if len(sets) > 0 {
		var owners []string
		for _, s := range sets {
			owners = append(owners, s.Owner)
		}
		hint = "clients have saved toolsets of that name; name one of them with --owner: " + strings.Join(owners, ", ")
	}
	return nil, cli.Failed(problem, hint)
}

// AllSets returns the toolsets of tools.toml, followed by the saved ones of all owners and the
// default ones, each sorted by name. With an error it returns none that is saved.
func AllSets(o *router.Options) ([]toolset.Set, error) {
	isDefault := func(s toolset.Set) bool { return s.Default }
	sets := slices.DeleteFunc(slices.Clone(o.Toolsets), isDefault)
	saved, err := o.Shelf.Load()
	byName := func(a, b string) int {
		return cmp.Or(strings.Compare(saved[a].Name, saved[b].Name), strings.Compare(a, b))
	}
	for _, key := range slices.SortedFunc(maps.Keys(saved), byName) {
		if !slices.ContainsFunc(o.Toolsets, func(s toolset.Set) bool { return s.Name == saved[key].Name && !s.Default }) {
			sets = append(sets, saved[key])
		}
	}
	for _, s := range o.Toolsets {
		if _, hidden := saved[s.Name]; s.Default && !hidden {
			sets = append(sets, s)
		}
	}
	return sets, err
}
