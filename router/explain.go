package router

import (
	"slices"

	"toolman/router/client"
	"toolman/router/metatool"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// An Explanation says what a client may do with an item at start, and why.
type Explanation struct {
	Kind   mcpwire.Kind
	Name   string // as clients see it
	Server string

	Visible  bool // it is in lists when it is active, and in the catalog
	Active   bool
	Callable bool
	Rule     string // of the policy, and where it stands; or that its pin holds it back
	Activity string // why it is active or not, and where that stands; "" when it is not visible
	Danger   string // what becomes of a call of a dangerous tool, and where that is written; "" otherwise
	Error    string // what a caller is told, when it is not callable
}

// Explain says what a client may do with whatever has a name: an item as clients
// see it, as its server has it, or as both qualify it, and a URI that a template
// makes. What nothing has gives no Explanation.
func (r *Router) Explain(name string) []Explanation {
	if slices.Contains(r.ownNames, name) || name == catalog.CatalogURI {
		return []Explanation{r.ownExplanation(name)}
	}
	v := r.startView(r.catalog.Load(), r.current().Policy, client.Info{})
	var all []Explanation
	for _, e := range v.Named(name) {
		all = append(all, explanationOf(v, e, r.guidance()))
	}
	for _, c := range v.Catalog.Collisions {
		if c.Loser.Name == name || c.Loser.Item.Name == name {
			all = append(all, Explanation{Kind: c.Loser.Item.Kind, Name: c.Loser.Name, Server: c.Loser.Source.Name,
				Rule: "it is not offered: " + c.By + " has that name already"})
		}
	}
	if everything := (view.MetaTools{Toolsets: true, Manage: true}); len(all) == 0 && slices.Contains(metatool.Names(everything, metatool.Tools(everything)), name) {
		all = append(all, Explanation{Name: name, Server: "toolman", Rule: "it is toolman's own, and meta_tools does not ask for it",
			Error: r.guidance().Explain(view.New(v.Catalog, nil), mcpwire.Tool, name, catalog.Target{}, catalog.Unknown)})
	}
	return all
}

// ownExplanation is about what toolman itself offers.
func (r *Router) ownExplanation(name string) Explanation {
	own := Explanation{Name: name, Server: "toolman", Visible: true, Active: true, Callable: true,
		Rule: client.OwnRule, Activity: "it is toolman's own"}
	meta := metatool.Tools(r.MetaTools)[name]
	switch {
	case name == catalog.CatalogURI:
		own.Kind = mcpwire.Resource
	case r.Mode == view.ModeStatic && (meta == nil || !meta.Free):
		own.Visible, own.Active, own.Callable, own.Activity = false, false, false, ""
		has := r.guidance()
		own.Rule, own.Error = "it is toolman's own, and there is none with "+metatool.FixedByMode, has.Static()
	}
	return own
}

func explanationOf(v *view.View, e *catalog.Entry, has *metatool.Guidance) Explanation {
	_, verdict := v.FindAny(e.Item.Kind, e.Name)
	x := Explanation{Kind: e.Item.Kind, Name: e.Name, Server: e.Source.Name, Rule: v.Catalog.Rule(e), Danger: e.Danger.String(),
		Visible: verdict != catalog.Denied && verdict != catalog.Held, Active: verdict == catalog.Active, Callable: verdict == catalog.Active}
	if x.Visible {
		x.Activity = v.Activity(e)
	}
	if !x.Callable {
		x.Error = has.Explain(v, e.Item.Kind, e.Name, catalog.At(e), verdict)
	}
	return x
}

// Similar returns names of items, denied ones included, that somebody may have
// meant by one that nothing has.
func (r *Router) Similar(name string) []string {
	v := view.New(r.catalog.Load(), nil)
	var near []string
	for _, k := range [...]mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Prompt} {
		near = append(near, v.Catalog.Similar(k, name, r.ownNames...)...)
	}
	return near
}

// guidance is that of a client that everything is offered to.
func (r *Router) guidance() *metatool.Guidance {
	return &metatool.Guidance{Mode: r.Mode, Offers: r.MetaTools, Tools: metatool.Tools(r.MetaTools), Fixed: metatool.FixedByMode}
}
