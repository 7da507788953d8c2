package toolset

import (
	"fmt"

	"toolman/mcpwire/sanitize"
)

// Add returns the update of a [Shelf] that adds a  The update fails if a toolset
// that the owner may see has the name, or if the owner has reached its limit.
func Add(set Set, fixed []Set) func(map[string]Set) error {
	return func(saved map[string]Set) error {
		for _, other := range fixed {
			if other.Name == set.Name && !other.Default {
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
			if err := checkOwnerLimit(&set, saved); err != nil {
				return err
			}
		}
		saved[set.Key()] = set
		return nil
	}
}

// checkOwnerLimit returns an error if saving the set would exceed the limits of its owner.
func checkOwnerLimit(set *Set, saved map[string]Set) error {
	sets, refs := 1, len(set.Tools)
	for _, other := range saved {
		if other.Owner == set.Owner {
			sets, refs = sets+1, refs+len(other.Tools)
		}
	}
	switch {
	case sets > MaxOwned:
		return fmt.Errorf("you can save at most %d toolsets; delete one first", MaxOwned)
	case refs > MaxOwnedRefs:
		return fmt.Errorf("with this one your saved toolsets would have %d tools, and %d is the limit; delete a toolset first", refs, MaxOwnedRefs)
	}
	return nil
}

// Remove returns the update of a [Shelf] that removes an owner's
func Remove(owner, name string, fixed []Set) func(map[string]Set) error {
	return func(saved map[string]Set) error {
		key := Key(owner, name)
		if _, ok := saved[key]; ok {
			delete(saved, key)
			return nil
		}
		for _, other := range fixed {
			if other.Name == name && other.Default {
				return fmt.Errorf("toolset %s is made from the tools of a server (tools.toml:%d); default_toolsets = false ends that", name, other.Line)
			}
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
