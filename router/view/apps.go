package view

import (
	"slices"
	"sync"

	"toolman/mcpwire"
	"toolman/router/apps"
	"toolman/router/catalog"
)

// Items that active tools with pages need are active too:
//
//   - the page of an active tool, so that hosts can read it, and find it in the list;
//   - the tools that only pages may call, while a tool with a page of their server is active. A
//     model cannot switch them on, because hosts do not show them to it.
//
// A page may also use inactive items of its server, see FindForPage.

// A showing says which servers have active tools with pages. It is computed on first use.
type showing struct {
	once    sync.Once
	servers map[*catalog.Source]bool
}

// shows reports whether a tool with a page of a server is active, apart from those that only pages
// may call.
func (v *View) shows(from *catalog.Source) bool {
	v.showing.once.Do(func() {
		v.showing.servers = map[*catalog.Source]bool{}
		for _, e := range v.Catalog.Entries(mcpwire.Tool) {
			if e.App.HasPage() && !e.App.HiddenFromModel() && v.isOn(e) {
				v.showing.servers[e.Source] = true
			}
		}
	})
	return v.showing.servers[from]
}

// neededByPage reports whether an entry is active because of an active tool with a page.
func (v *View) neededByPage(e *catalog.Entry) bool {
	switch {
	case v.opened[e.Source]:
		return true
	case e.App.HiddenFromModel():
		return v.shows(e.Source)
	}
	return slices.ContainsFunc(v.Catalog.Apps.ToolsOf(e), v.SwitchedOn)
}

// neededBy says for which tools an entry is active, or returns "".
func (v *View) neededBy(e *catalog.Entry) string {
	switch tools := v.Catalog.Apps.ToolsOf(e); {
	case v.Catalog.Apps == nil || !v.neededByPage(e):
		return ""
	case len(tools) > 0:
		return "it is the page of an active tool"
	}
	return "pages of its server's active tools may call it"
}

// FindForPage resolves a name for a client that may show pages of some servers. A page uses its
// server's own names, and may use all of its server's items that the client may have, active or
// not. t and verdict are what Find or FindURI has returned. FindForPage returns them for names that
// clients see, but an inactive item of such a server is active. For other names it finds the item
// of the only server whose page can be open. The verdict is Ambiguous if there are several.
//
// Inactive items stay inactive while a toolset is equipped.
func (v *View) FindForPage(k mcpwire.Kind, name string, opened *apps.Opened, t catalog.Target, verdict catalog.Verdict) (catalog.Target, catalog.Verdict) {
	by := v.withOpened(opened)
	switch {
	case k == mcpwire.Prompt, v.Catalog.FindDenied(name, catalog.SimilarKinds(k)...) != nil:
		return t, verdict
	case v.Has(k, name) && verdict == catalog.Inactive:
		return by.FindAny(k, name)
	case v.Has(k, name):
		return t, verdict
	}
	type finding struct {
		catalog.Target
		catalog.Verdict
	}
	found := map[string]finding{}
	var servers []string
	for _, from := range v.Catalog.Sources() {
		if !opened.Has(from.Name) {
			continue
		}
		if own, verdict := by.ofServer(k, from, name); verdict != catalog.Unknown {
			found[from.Name] = finding{own, verdict}
			servers = append(servers, from.Name)
		}
	}
	switch servers = opened.Narrow(servers); len(servers) {
	case 0:
		return t, verdict
	case 1:
		return found[servers[0]].Target, found[servers[0]].Verdict
	}
	return found[servers[0]].Target, catalog.Ambiguous
}

// withOpened returns the view in which all items are active of the servers that have an active tool
// with a page, and whose pages the client may show. With an equipped toolset only its items are.
func (v *View) withOpened(o *apps.Opened) *View {
	next := &View{Catalog: v.Catalog, tools: v.tools, resources: v.resources, Sets: v.Sets, start: v.start,
		opened: map[*catalog.Source]bool{}}
	if v.Sets != nil && v.Sets.Equipped != nil {
		return next
	}
	for _, from := range v.Catalog.Sources() {
		next.opened[from] = o.Has(from.Name) && v.shows(from)
	}
	return next
}

// ofServer resolves a server's own name or URI. The verdict is Unknown if the server has no such
// item.
func (v *View) ofServer(k mcpwire.Kind, from *catalog.Source, name string) (catalog.Target, catalog.Verdict) {
	var kept, denied []*catalog.Entry
	if k.IsURI() {
		kept, denied = v.Catalog.Bare[name], v.Catalog.Denied.Bare[name]
	} else {
		kept, denied = v.Catalog.Entries(k), v.Catalog.Denied.Entries(k)
	}
	ofIt := func(e *catalog.Entry) bool { return e.Source == from && e.Item.Name == name }
	if i := slices.IndexFunc(kept, ofIt); i >= 0 {
		return catalog.TargetOf(kept[i]), v.Verdict(kept[i])
	}
	if i := slices.IndexFunc(denied, ofIt); i >= 0 {
		return v.Catalog.DeniedTarget(denied[i])
	}
	if k.IsURI() {
		return v.byTemplateOf(from, name)
	}
	return catalog.Target{}, catalog.Unknown
}

// byTemplateOf is ofServer for a URI that the server does not list.
func (v *View) byTemplateOf(from *catalog.Source, uri string) (best catalog.Target, verdict catalog.Verdict) {
	for _, how := range [...]catalog.Matching{catalog.Strict, catalog.Loose} {
		for _, e := range v.Catalog.Entries(mcpwire.Template) {
			t := catalog.Target{Source: from, Entry: e, URI: uri}
			switch {
			case e.Source != from || !e.MatchesURI(uri, how):
			case v.grants(e, uri, how):
				return t, catalog.Active
			default:
				best, verdict = t, catalog.Inactive
			}
		}
	}
	return best, verdict
}
