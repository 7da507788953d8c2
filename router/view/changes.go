package view

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Changes say which lists differ between two views. The catalog stands in the
// description of a tool, and so belongs to the list of those.
type Changes struct{ Tools, Resources, Prompts bool }

func (v *View) Changes(to *View) Changes {
	if v == to {
		return Changes{}
	}
	differ := func(k mcpwire.Kind) bool { return !slices.Equal(v.ActiveEntries(k), to.ActiveEntries(k)) }
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

// Named returns every entry that a name may mean, the one that a caller gets first.
func (v *View) Named(name string) []*catalog.Entry {
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
			add(c.Spelled(k, name)...)
		}
	}
	return all
}

// FindAny is Find or FindURI, whichever looks up names of the kind.
func (v *View) FindAny(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if k.IsURI() {
		return v.FindURI([]byte(name))
	}
	return v.Find(k, []byte(name))
}

func (v *View) Has(k mcpwire.Kind, name string) bool {
	if k == mcpwire.Tool {
		return v.Catalog.ByName[mcpwire.Tool][name] != nil
	}
	return v.Catalog.ByName[mcpwire.Resource][name] != nil || v.Catalog.ByName[mcpwire.Template][name] != nil
}
