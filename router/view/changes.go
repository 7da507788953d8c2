package view

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Changes says which lists differ between two views. The catalog is part of a tool's description
// and therefore of the list of tools.
type Changes struct{ Tools, Resources, Prompts bool }

// Changes returns the difference between v and to.
func (v *View) Changes(to *View) Changes {
	if v == to {
		return Changes{}
	}
	differ := func(k mcpwire.Kind) bool {
		return !slices.EqualFunc(v.ActiveEntries(k), to.ActiveEntries(k), (*catalog.Entry).Same)
	}
	resources := differ(mcpwire.Resource) || differ(mcpwire.Template)
	return Changes{
		Tools:     resources || differ(mcpwire.Tool) || !sameCatalog(v.Catalog, to.Catalog),
		Resources: resources,
		Prompts:   differ(mcpwire.Prompt),
	}
}

func sameCatalog(a, b *catalog.Catalog) bool {
	return a == b || a.Same(b, mcpwire.Tool) && a.Same(b, mcpwire.Resource) && a.Same(b, mcpwire.Template)
}

// EntriesNamed returns every entry that a name may refer to. The first is the one that a request
// with the name resolves to.
func (v *View) EntriesNamed(name string) []*catalog.Entry {
	var all []*catalog.Entry
	add := func(entries ...*catalog.Entry) {
		for _, e := range entries {
			if e != nil && !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		t, _ := v.FindAny(k, name)
		add(t.Entry)
		for _, c := range [...]*catalog.Catalog{v.Catalog, v.Catalog.Denied} {
			add(c.ByName[k][name])
			add(c.LookupAlias(k, name)...)
			add(c.LookupDotted(k, name)...)
		}
		add(v.dotted(k, name)...)
	}
	return all
}

// Has reports whether the catalog contains a tool of this name, or for any other kind a resource or
// template.
func (v *View) Has(k mcpwire.Kind, name string) bool {
	if k == mcpwire.Tool {
		return v.Catalog.ByName[mcpwire.Tool][name] != nil
	}
	return v.Catalog.ByName[mcpwire.Resource][name] != nil || v.Catalog.ByName[mcpwire.Template][name] != nil
}
