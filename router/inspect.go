package router

import (
	"slices"

	"toolman/mcpwire/sanitize"
	"toolman/router/builtin"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/policy"
	"toolman/router/upstream"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// An Explanation says what a client may do with an item at the start of a session, and why.
type Explanation struct {
	Kind   mcpwire.Kind
	Name   string // as clients see it
	Server string

	Visible  bool // it is in the catalog, and in lists when it is active
	Active   bool
	Callable bool
	Rule     string // of the policy, with its place; or that its pin holds it back
	Activity string // why it is active or not, with the place of that; "" if it is not visible
	Unless   string // the rules that forbid certain arguments, with their places; "" if there are none
	Danger   string // what happens to a call of a dangerous tool, with the place of that; "" otherwise
	Error    string // what a caller is told, if it is not callable
}

// Explain returns what a client may do with the items of a name. The name may be the one that
// clients see, the server's own, or a qualified form of either, or a URI that matches a template.
// It returns nil if there is no such item.
func (r *Router) Explain(name string) []Explanation {
	if slices.Contains(r.ownNames, name) || name == catalog.CatalogURI {
		return []Explanation{r.ownExplanation(name)}
	}
	v := r.startView(r.catalog.Load(), r.current().Policy, client.Info{})
	var all []Explanation
	for _, e := range v.EntriesNamed(name) {
		all = append(all, explanationOf(v, e, r.guidance()))
	}
	for _, c := range v.Catalog.Collisions {
		if c.Loser.Name == name || c.Loser.Item.Name == name {
			all = append(all, Explanation{Kind: c.Loser.Item.Kind, Name: c.Loser.Name, Server: c.Loser.Source.Name,
				Rule: "it is not offered: " + c.By + " has that name already"})
		}
	}
	if everything := (view.MetaTools{Toolsets: true, Manage: true, Login: true}); len(all) == 0 && slices.Contains(metatool.Names(everything, metatool.Tools(everything)), name) {
		all = append(all, Explanation{Name: name, Server: "toolman", Rule: "it is toolman's own, and meta_tools does not ask for it",
			Error: r.guidance().Explain(view.New(v.Catalog, view.StartSets{}), mcpwire.Tool, name, catalog.Target{}, catalog.Unknown)})
	}
	return all
}

// ownExplanation explains an item of toolman's own.
func (r *Router) ownExplanation(name string) Explanation {
	own := Explanation{Name: name, Server: "toolman", Visible: true, Active: true, Callable: true,
		Rule: client.OwnRule, Activity: "it is toolman's own"}
	meta := metatool.Tools(r.MetaTools)[name]
	switch {
	case name == catalog.CatalogURI:
		own.Kind = mcpwire.Resource
	case r.Mode == view.ModeStatic && (meta == nil || !meta.InStaticMode):
		own.Visible, own.Active, own.Callable, own.Activity = false, false, false, ""
		has := r.guidance()
		own.Rule, own.Error = "it is toolman's own, and there is none with "+metatool.FixedByMode, has.Static()
	}
	return own
}

// explanationOf explains an entry.
func explanationOf(v *view.View, e *catalog.Entry, has *metatool.Guidance) Explanation {
	_, verdict := v.FindAny(e.Item.Kind, e.Name)
	x := Explanation{Kind: e.Item.Kind, Name: e.Name, Server: e.Source.Name, Rule: v.Catalog.Rule(e), Danger: e.Danger.String(),
		Unless:  v.Catalog.Conditions(e).String(),
		Visible: verdict != catalog.Denied && verdict != catalog.Held, Active: verdict == catalog.Active, Callable: verdict == catalog.Active}
	if x.Visible {
		x.Activity = v.Activity(e)
	}
	if !x.Callable {
		x.Error = has.Explain(v, e.Item.Kind, e.Name, catalog.TargetOf(e), verdict)
	}
	return x
}

// guidance returns the error texts for a client that is offered all of toolman's own tools.
func (r *Router) guidance() *metatool.Guidance {
	return &metatool.Guidance{Mode: r.Mode, Offers: r.MetaTools, Tools: metatool.Tools(r.MetaTools), Fixed: metatool.FixedByMode}
}

// Similar returns names of items, including denied ones, that are similar to an unknown name.
func (r *Router) Similar(name string) []string {
	v := view.New(r.catalog.Load(), view.StartSets{})
	var near []string
	for _, k := range [...]mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Prompt} {
		near = append(near, v.Catalog.Similar(k, name, r.ownNames...)...)
	}
	return near
}

// A Preview is the size of the tool lists.
type Preview struct {
	ActiveTools  int
	AllTools     int // tools that the policy allows
	Denied       int // items of any kind that the policy denies
	Bytes        int // size of the list at start
	AllBytes     int // size of the list if every tool were active
	CatalogBytes int // size of the catalog within the list
}

// Preview measures what a client would get now.
func (r *Router) Preview() Preview {
	v := r.startView(r.catalog.Load(), r.current().Policy, client.Info{})
	own, as := builtin.AtStart(r.sessionEnv.Builtin)
	p := Preview{AllTools: len(v.Catalog.Entries(mcpwire.Tool)), CatalogBytes: len(view.AppendCatalog(nil, v, 0))}
	p.Bytes = len(own.Tools(v, as))
	for _, e := range v.Catalog.Denied.All() {
		if _, verdict := v.Catalog.DeniedTarget(e); verdict == catalog.Denied {
			p.Denied++
		}
	}
	p.AllBytes = p.Bytes
	for _, e := range v.Catalog.Entries(mcpwire.Tool) {
		size := len(e.AppendListed(nil, e.Source.Modern, as.AlwaysLoad)) + 1
		p.AllBytes += size
		if v.Active(e) {
			p.ActiveTools++
			p.Bytes += size
		}
	}
	return p
}

// A ToolStatus lists the tools and toolsets, in the JSON format of Toolception.
type ToolStatus struct {
	Available  []string            `json:"availableToolsets"`
	Active     []string            `json:"activeToolsets"`
	Registered []string            `json:"registeredModules"` // always empty, because toolman has no modules
	Total      int                 `json:"totalToolsets"`
	Count      int                 `json:"activeCount"`
	Tools      []string            `json:"tools"` // the active tools
	Toolsets   map[string][]string `json:"toolsetToTools"`
	Warnings   []string            `json:"warnings,omitempty"`
}

// ToolStatus returns the tools and toolsets at the start of a client's session. It may wait for the
// disk if there are saved toolsets.
func (r *Router) ToolStatus(info client.Info) ToolStatus {
	v, l := r.startView(r.catalog.Load(), r.policyFor(info), info), r.library(&info)
	st := ToolStatus{Available: []string{}, Active: []string{}, Registered: []string{}, Tools: []string{}, Toolsets: map[string][]string{}}
	for _, set := range l.Sets {
		one := metatool.Status(v, set)
		st.Available = append(st.Available, one.Key)
		st.Toolsets[one.Key] = one.Tools
		for _, w := range one.Warnings {
			st.Warnings = append(st.Warnings, "toolset "+one.Key+": "+w)
		}
		if one.Active || info.Only != nil {
			st.Active = append(st.Active, one.Key)
		}
	}
	for _, e := range v.Catalog.Tools() {
		if v.Active(e) {
			st.Tools = append(st.Tools, e.Name)
		}
	}
	if l.Err != nil {
		st.Warnings = append(st.Warnings, sanitize.Line(l.Err.Error()))
	}
	st.Total, st.Count = len(st.Available), len(st.Active)
	return st
}

// Upstreams returns the status of every upstream, in the order of the configuration file.
func (r *Router) Upstreams() []upstream.Status {
	var all []upstream.Status
	for _, u := range r.all() {
		all = append(all, r.status(u))
	}
	return all
}

// status returns the status of an upstream, with the configured secrets replaced in its problem.
func (r *Router) status(u *upstream.Upstream) upstream.Status {
	st := u.Status()
	if scrub := r.current().Scrub; scrub != nil {
		st.Problem = scrub(st.Problem)
	}
	return st
}

// Known returns the status of the servers that the client may know of. The result is never nil.
func (r *Router) Known(info client.Info) []upstream.Status {
	c := r.startView(r.catalog.Load(), r.policyFor(info), info).Catalog
	known := []upstream.Status{}
	for _, u := range r.all() {
		if u.KnownTo(c) {
			known = append(known, r.status(u))
		}
	}
	return known
}

// UnmatchedRules returns the entries of the policy's lists that match no item of a known server,
// with their places.
func (r *Router) UnmatchedRules() []string {
	c := r.catalog.Load()
	entries := c.BySource()
	var idle []string
	for _, u := range r.all() {
		if len(entries[u.Source]) > 0 {
			for _, text := range r.current().Policy.Idle(u.Source.PolicyName, catalog.PolicyItems(entries[u.Source])) {
				idle = append(idle, u.Name+": "+text)
			}
		}
	}
	return idle
}

// UnmatchedReadOnly returns the entries of read_only_tools that match no tool of their server, with
// their places.
func (r *Router) UnmatchedReadOnly() (idle []string) {
	for u, entries := range r.catalog.Load().BySource() {
		tools := slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return e.Item.Kind != mcpwire.Tool })
		idle = append(idle, r.current().ReadOnly.Idle(u.PolicyName, catalog.PolicyItems(tools))...)
	}
	slices.Sort(idle)
	return slices.Compact(idle)
}

// IdleDenials says which rules of the policy's deny never apply, with their places: they match no
// item of a known server, or name an argument that none of their tools has.
func (r *Router) IdleDenials() (idle []string) {
	entries, items := map[string][]*catalog.Entry{}, map[string][]policy.Item{}
	for u, all := range r.catalog.Load().BySource() {
		entries[u.PolicyName] = append(entries[u.PolicyName], all...)
		items[u.PolicyName] = append(items[u.PolicyName], catalog.PolicyItems(all)...)
	}
	for _, use := range r.current().Policy.Denials(items) {
		var tools []*catalog.Entry
		for server, indices := range use.Matches {
			for _, i := range indices {
				tools = append(tools, entries[server][i])
			}
		}
		if len(tools) == 0 {
			idle = append(idle, use.Rule+", which matches nothing")
			continue
		}
		for _, c := range use.Where {
			if !slices.ContainsFunc(tools, func(e *catalog.Entry) bool { return e.MayHaveArgument(c.Argument) }) {
				idle = append(idle, use.Rule+", and no such tool has the argument "+c.Argument)
			}
		}
	}
	return idle
}

// Dangerous returns the dangerous tools, and the entries of dangerous_tools that match no tool,
// with their places.
func (r *Router) Dangerous() (tools []*catalog.Entry, idle []string) {
	c := r.catalog.Load()
	tools = slices.Concat(c.Tools(), c.Denied.Tools())
	return slices.DeleteFunc(tools, func(e *catalog.Entry) bool { return e.Danger == nil }), r.unmatchedDangers(c)
}

// unmatchedDangers returns the entries of dangerous_tools that match no tool of a known server.
func (r *Router) unmatchedDangers(c *catalog.Catalog) []string {
	tools := map[string][]policy.Item{}
	for u, entries := range c.BySource() {
		of := slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return e.Item.Kind != mcpwire.Tool })
		tools[u.PolicyName] = append(tools[u.PolicyName], catalog.PolicyItems(of)...)
	}
	return r.current().Dangers.Idle(tools)
}
