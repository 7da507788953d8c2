package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/toolsets"
	"toolman/router"
	"toolman/router/toolset"
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
func metaTools(c *config.Config) router.MetaTools {
	return router.MetaTools{
		NoActivate: !slices.Contains(c.MetaTools, "activate"),
		Toolsets:   slices.Contains(c.MetaTools, "toolsets"),
		Manage:     slices.Contains(c.MetaTools, "manage"),
	}
}

// compile makes patterns of names and globs.
func compile(texts []string) ([]toolset.Pattern, error) {
	globs, err := router.CompileGlobs(texts)
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
	set, err := findSet(o, name)
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

// findSet returns the toolset of that name, one of tools.toml before a saved one.
func findSet(o *router.Options, name string) (*toolset.Set, error) {
	sets, err := allSets(o)
	if i := slices.IndexFunc(sets, func(s toolset.Set) bool { return s.Name == name }); i >= 0 {
		return &sets[i], nil
	}
	if err != nil {
		return nil, err
	}
	return nil, &exitError{fmt.Errorf("there is no toolset %q", name), exitFailed, "toolman toolset list shows those there are"}
}

// allSets are the toolsets of tools.toml, and then those that were saved, each
// by name. With an error they are the first alone.
func allSets(o *router.Options) ([]toolset.Set, error) {
	sets := slices.Clone(o.Toolsets)
	saved, err := o.Shelf.Load()
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if !slices.ContainsFunc(sets, func(s toolset.Set) bool { return s.Name == name }) {
			sets = append(sets, saved[name])
		}
	}
	return sets, err
}
