package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/toolsets"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// addToolsets gives the router the toolsets of the configuration, and where saved
// ones are.
func addToolsets(o *router.Options, c *config.Config) error {
	for _, s := range c.Toolsets {
		set := toolset.Set{Name: s.Name, Description: s.Description, File: filepath.Base(c.Path), Line: max(1, s.Line)}
		patterns, err := compile(s.Tools)
		if err != nil {
			return err
		}
		set.Patterns = patterns
		o.Toolsets = append(o.Toolsets, set)
	}
	o.Shelf, o.AllowStale = toolsets.In(c.Path), c.AllowStaleRefs
	o.MetaTools = metaTools(c)
	return nil
}

// metaTools are the groups of toolman's own tools that clients are offered.
func metaTools(c *config.Config) view.MetaTools {
	return view.MetaTools{
		NoActivate: !slices.Contains(c.MetaTools, "activate"),
		Toolsets:   slices.Contains(c.MetaTools, "toolsets"),
		Manage:     slices.Contains(c.MetaTools, "manage"),
	}
}

// compile makes patterns of names and globs.
func compile(texts []string) ([]toolset.Pattern, error) {
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

// equipped is the toolset that a start begins with, nil for none.
func equipped(o *router.Options, c *config.Config) (*toolset.Set, error) {
	name, err := toolsets.In(c.Path).Equipped()
	if err != nil || name == "" {
		return nil, err
	}
	set, err := findSet(o, "", name)
	if err != nil {
		return nil, fmt.Errorf("the equipped toolset: %w", err)
	}
	return set, nil
}

// equip has sessions begin with that toolset. An error says why they do not.
func equip(o *router.Options, c *config.Config) (err error) {
	o.Equipped, err = equipped(o, c)
	return err
}

// findSet returns the toolset of that owner and name, one of tools.toml before a saved one.
func findSet(o *router.Options, owner, name string) (*toolset.Set, error) {
	sets, err := allSets(o)
	var owners []string
	for i := range sets {
		if sets[i].Name != name {
			continue
		}
		if sets[i].Owner == owner {
			return &sets[i], nil
		}
		owners = append(owners, sets[i].Owner)
	}
	if err != nil {
		return nil, err
	}
	return nil, noSet(owner, name, owners)
}

// noSet is the error for a toolset that an owner does not have. Others may have one of its name.
func noSet(owner, name string, others []string) error {
	err := fmt.Errorf("there is no toolset %q", name)
	if owner != "" {
		err = fmt.Errorf("%s has no toolset %q", sanitize.Line(owner), name)
	}
	hint := "toolman toolset list shows those there are"
	if owner == "" && len(others) > 0 {
		hint = "clients have saved toolsets of that name, which show, export and delete know by --owner: " + strings.Join(others, ", ")
	}
	return &exitError{err, exitFailed, hint}
}

// allSets are the toolsets of tools.toml, and then those that were saved, of all owners, each
// by name. With an error they are the first alone.
func allSets(o *router.Options) ([]toolset.Set, error) {
	sets := slices.Clone(o.Toolsets)
	saved, err := o.Shelf.Load()
	for _, key := range slices.SortedFunc(maps.Keys(saved), byName(saved)) {
		if !slices.ContainsFunc(o.Toolsets, func(s toolset.Set) bool { return s.Name == saved[key].Name }) {
			sets = append(sets, saved[key])
		}
	}
	return sets, err
}

// byName orders keys by the names of their toolsets, and then by owners.
func byName(saved map[string]toolset.Set) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(strings.Compare(saved[a].Name, saved[b].Name), strings.Compare(a, b))
	}
}
