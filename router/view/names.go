package view

import (
	"slices"
	"sync"

	"toolman/router/catalog"
	"toolman/router/toolset"
)

// members returns a function that returns the tools of toolsets by the names toolset.name.
func members(c *catalog.Catalog, sets []*toolset.Set) func() map[string][]*catalog.Entry {
	if len(sets) == 0 {
		return nil
	}
	return sync.OnceValue(func() map[string][]*catalog.Entry {
		all := map[string][]*catalog.Entry{}
		for _, set := range sets {
			for name, entries := range membersOf(c, c.Expand(set)) {
				all[name] = append(all[name], entries...)
			}
		}
		return all
	})
}

// membersOf returns the tools of a toolset by the names toolset.name, with the name that clients
// see and with the server's own.
func membersOf(c *catalog.Catalog, x *toolset.Expansion) map[string][]*catalog.Entry {
	all := map[string][]*catalog.Entry{}
	for _, e := range c.Tools() {
		if !x.Tools[e.Name] {
			continue
		}
		for _, own := range slices.Compact([]string{e.Name, e.Item.Name}) {
			key := x.Set.Name + "." + own
			all[key] = append(all[key], e)
		}
	}
	return all
}

// distinct returns the entries, each once.
func distinct(entries []*catalog.Entry) (all []*catalog.Entry) {
	for _, e := range entries {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
