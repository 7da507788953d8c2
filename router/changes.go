package router

import (
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Changes say which lists differ between two views. The catalog stands in the
// description of a tool, and so belongs to the list of those.
type changes struct{ tools, resources, prompts bool }

func (v *View) changes(to *View) changes {
	if v == to {
		return changes{}
	}
	differ := func(k mcpwire.Kind) bool { return !slices.Equal(v.active(k), to.active(k)) }
	resources := differ(mcpwire.Resource) || differ(mcpwire.Template)
	return changes{
		tools:     resources || differ(mcpwire.Tool) || !sameCatalog(v.catalog, to.catalog),
		resources: resources,
		prompts:   differ(mcpwire.Prompt),
	}
}

func sameCatalog(a, b *catalog.Catalog) bool {
	return a == b || a.Same(b, mcpwire.Tool) && a.Same(b, mcpwire.Resource) && a.Same(b, mcpwire.Template)
}

// named returns every entry that a name may mean, the one that a caller gets first.
func (v *View) named(name string) []*catalog.Entry {
	var all []*catalog.Entry
	add := func(entries ...*catalog.Entry) {
		for _, e := range entries {
			if e != nil && !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		t, _ := v.findAny(k, name)
		add(t.Entry)
		for _, c := range [...]*catalog.Catalog{v.catalog, v.catalog.Denied} {
			add(c.ByName[k][name])
			add(c.Spelled(k, name)...)
		}
	}
	return all
}

// findAny is find or findURI, whichever looks up names of the kind.
func (v *View) findAny(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if k.IsURI() {
		return v.findURI([]byte(name))
	}
	return v.find(k, []byte(name))
}

func (v *View) has(k mcpwire.Kind, name string) bool {
	if k == mcpwire.Tool {
		return v.catalog.ByName[mcpwire.Tool][name] != nil
	}
	return v.catalog.ByName[mcpwire.Resource][name] != nil || v.catalog.ByName[mcpwire.Template][name] != nil
}
