package catalog

import (
	"fmt"
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// Tools returns the tools, in catalog order.
func (c *Catalog) Tools() []*Entry { return c.entries[mcpwire.Tool] }

// Build returns a toolset of tools of the catalog, made now. An error names every
// reference that does not lead to one tool.
func (c *Catalog) Build(name, description string, refs []toolset.Ref) (toolset.Set, error) {
	return c.ToolIndex().Build(name, description, refs, time.Now(), func(name string) []string { return c.Similar(mcpwire.Tool, name) })
}

// Add returns what puts a toolset on a shelf, for [toolset.Shelf]. An error says that the name is
// taken, by a toolset that the owner may know of, or that the owner has as much as it may have.
func Add(set toolset.Set, fixed []toolset.Set) func(map[string]toolset.Set) error {
	return func(saved map[string]toolset.Set) error {
		for _, other := range fixed {
			if other.Name == set.Name {
				return fmt.Errorf("toolset %s is in tools.toml (line %d); use a different name", set.Name, other.Line)
			}
		}
		if _, taken := saved[set.Key()]; taken {
			return fmt.Errorf("toolset %s already exists; use a different name or delete it first", set.Name)
		}
		if _, taken := saved[set.Name]; taken {
			return fmt.Errorf("toolset %s already exists, and is the operator's; use a different name", set.Name)
		}
		if set.Owner != "" {
			if err := room(&set, saved); err != nil {
				return err
			}
		}
		saved[set.Key()] = set
		return nil
	}
}

// room is an error when the owner of a set has saved too much to save that, too.
func room(set *toolset.Set, saved map[string]toolset.Set) error {
	sets, refs := 1, len(set.Tools)
	for _, other := range saved {
		if other.Owner == set.Owner {
			sets, refs = sets+1, refs+len(other.Tools)
		}
	}
	switch {
	case sets > toolset.MaxOwned:
		return fmt.Errorf("you can save %d toolsets and no more; delete one first", toolset.MaxOwned)
	case refs > toolset.MaxOwnedRefs:
		return fmt.Errorf("with this one your saved toolsets would have %d tools, and %d is the limit; delete a toolset first", refs, toolset.MaxOwnedRefs)
	}
	return nil
}

// Remove returns what takes an owner's toolset off a shelf, for [toolset.Shelf].
func Remove(owner, name string, fixed []toolset.Set) func(map[string]toolset.Set) error {
	return func(saved map[string]toolset.Set) error {
		key := toolset.Key(owner, name)
		if _, ok := saved[key]; ok {
			delete(saved, key)
			return nil
		}
		for _, other := range fixed {
			if other.Name == name {
				return fmt.Errorf("toolset %s is in tools.toml (line %d); remove it there", name, other.Line)
			}
		}
		if _, ok := saved[name]; ok {
			return fmt.Errorf("toolset %s is the operator's, who can delete it: toolman toolset delete %[1]s", name)
		}
		return fmt.Errorf("there is no saved toolset %s", sanitize.Short(name))
	}
}
