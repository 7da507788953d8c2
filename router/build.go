package router

import (
	"fmt"
	"time"

	"toolman/mcpwire"
	"toolman/router/toolset"
)

// tools returns the tools, in catalog order.
func (c *Catalog) tools() []*Entry { return c.entries[mcpwire.Tool] }

// Build returns a toolset of tools of the catalog, made now. An error names every
// reference that does not lead to one tool.
func (c *Catalog) Build(name, description string, refs []toolset.Ref) (toolset.Set, error) {
	v := newView(c, nil)
	return c.toolIndex().Build(name, description, refs, time.Now(), func(name string) []string { return v.similar(mcpwire.Tool, name) })
}

// Expand resolves a toolset among the tools of the catalog.
func (c *Catalog) Expand(set *toolset.Set) *toolset.Expansion { return c.expand(set) }

// Add returns what puts a toolset on a shelf, for [toolset.Shelf]. An error says that
// the name is taken: on the shelf, or by one of tools.toml.
func Add(set toolset.Set, fixed []toolset.Set) func(map[string]toolset.Set) error {
	return func(saved map[string]toolset.Set) error {
		for _, other := range fixed {
			if other.Name == set.Name {
				return fmt.Errorf("toolset %s is in tools.toml (line %d); use a different name", set.Name, other.Line)
			}
		}
		if _, taken := saved[set.Name]; taken {
			return fmt.Errorf("toolset %s already exists; use a different name or delete it first", set.Name)
		}
		saved[set.Name] = set
		return nil
	}
}

// Remove returns what takes a toolset off a shelf, for [toolset.Shelf].
func Remove(name string, fixed []toolset.Set) func(map[string]toolset.Set) error {
	return func(saved map[string]toolset.Set) error {
		if _, ok := saved[name]; ok {
			delete(saved, name)
			return nil
		}
		for _, other := range fixed {
			if other.Name == name {
				return fmt.Errorf("toolset %s is in tools.toml (line %d); remove it there", name, other.Line)
			}
		}
		return fmt.Errorf("there is no saved toolset %s", shown(name))
	}
}
