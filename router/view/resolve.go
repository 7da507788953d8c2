package view

import (
	"iter"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Find resolves the name of a tool or a prompt.
func (v *View) Find(k mcpwire.Kind, name []byte) (catalog.Target, catalog.Verdict) {
	e := v.Catalog.Lookup(k, name)
	if e == nil {
		return v.findAlias(k, string(name))
	}
	return catalog.TargetOf(e), v.Verdict(e)
}

// FindAny calls Find or FindURI according to the kind.
func (v *View) FindAny(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if k.IsURI() {
		return v.FindURI([]byte(name))
	}
	return v.Find(k, []byte(name))
}

// Verdict reports whether an entry of the catalog is active.
func (v *View) Verdict(e *catalog.Entry) catalog.Verdict {
	if v.Active(e) {
		return catalog.Active
	}
	return catalog.Inactive
}

// FindURI resolves a URI. It tries in this order: a listed resource, the URI template of a resource
// template, a URI that matches a template (RFC 6570), and the same without a namespace. URIs
// without namespace are needed because results are forwarded unchanged. Listed items take
// precedence over templates, so that an inactive, denied or held resource is not available through
// an active template. A URI that matches no template by RFC 6570 may match one as its server
// matches.
//
// The items of a disconnected server keep their names, but they do not prevent an active template
// of another server from matching the URI.
func (v *View) FindURI(uri []byte) (catalog.Target, catalog.Verdict) {
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if e := v.Catalog.Lookup(k, uri); e != nil {
			return catalog.TargetOf(e), v.Verdict(e)
		}
	}
	text := string(uri)
	if e := v.Catalog.FindDenied(text, mcpwire.Resource, mcpwire.Template); e != nil {
		return v.Catalog.DeniedTarget(e)
	}
	if t, verdict := v.findByTemplate(text, catalog.Strict); verdict != catalog.Unknown {
		return t, verdict
	}
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if t, verdict := v.findAlias(k, text); verdict != catalog.Unknown {
			return t, verdict
		}
	}
	return v.findByTemplate(text, catalog.Loose)
}

// findByTemplate resolves a URI that matches a template, or one without a namespace.
func (v *View) findByTemplate(uri string, how catalog.Matching) (catalog.Target, catalog.Verdict) {
	var idle catalog.Target
	for _, e := range v.Catalog.Entries(mcpwire.Template) {
		bare, ok := e.MatchesNamespaced(uri, how)
		switch {
		case !ok:
		case v.grants(e, bare, how):
			return catalog.Target{Source: e.Source, Entry: e, URI: bare}, catalog.Active
		case idle.Entry == nil && !v.Active(e):
			idle = catalog.Target{Source: e.Source, Entry: e, URI: bare}
		}
	}
	if idle.Entry != nil {
		return idle, catalog.Inactive
	}
	return v.findBare(uri, how)
}

// grants reports whether template e is active and clients may use a URI that matches it. It denies
// the URI if the same server may take it for an item that the client may not use: if another,
// unavailable template matches and is not the wider one of the two, or if a URL parser would
// rewrite the URI.
func (v *View) grants(e *catalog.Entry, uri string, how catalog.Matching) bool {
	if !v.Active(e) {
		return false
	}
	for d := range v.withheld(e.Source, mcpwire.Template) {
		if d.MatchesURI(uri, catalog.Loose) && (how == catalog.Loose || !e.Narrower(d)) {
			return false
		}
	}
	if !catalog.IsNormalized(uri, catalog.LiteralStart(e.Item.Name)) {
		for range v.withheld(e.Source, mcpwire.Resource, mcpwire.Template) {
			return false
		}
	}
	return true
}

// withheld returns the entries of a server that are inactive, denied or held.
func (v *View) withheld(u *catalog.Source, kinds ...mcpwire.Kind) iter.Seq[*catalog.Entry] {
	return func(yield func(*catalog.Entry) bool) {
		for _, k := range kinds {
			for _, e := range v.Catalog.Entries(k) {
				if e.Source == u && !v.Active(e) && !yield(e) {
					return
				}
			}
			for _, e := range v.Catalog.Denied.Entries(k) {
				if e.Source == u && !yield(e) {
					return
				}
			}
		}
	}
}

// findBare resolves a server's own URI. It finds the URI only if exactly one active entry matches.
func (v *View) findBare(uri string, how catalog.Matching) (catalog.Target, catalog.Verdict) {
	var c choice
	for _, e := range v.Catalog.Bare[uri] {
		c.add(v, catalog.TargetOf(e))
		c.contested = c.contested || e.Contested()
	}
	if len(c.active) == 0 {
		for _, e := range v.Catalog.Entries(mcpwire.Template) {
			if v.listed(e.Source, uri) || e.Item.Name != uri && !e.MatchesURI(uri, how) {
				continue
			}
			if !v.Active(e) || e.Item.Name == uri || v.grants(e, uri, how) {
				c.add(v, catalog.Target{Source: e.Source, Entry: e, URI: uri})
				c.contested = c.contested || e.Contested()
			}
		}
	}
	if t, verdict := c.pick(); verdict != catalog.Unknown {
		return t, verdict
	}
	if e := v.Catalog.FindDeniedURI(uri, how); e != nil {
		return v.Catalog.DeniedTarget(e)
	}
	return catalog.Target{}, catalog.Unknown
}

// listed reports whether a server lists a resource with this URI, including denied and held
// resources.
func (v *View) listed(u *catalog.Source, uri string) bool {
	ofIt := func(e *catalog.Entry) bool { return e.Source == u }
	return slices.ContainsFunc(v.Catalog.Bare[uri], ofIt) || slices.ContainsFunc(v.Catalog.Denied.Bare[uri], ofIt)
}

// findAlias resolves a name that no available entry has: the name of a denied entry, or another
// spelling of a name (Catalog.LookupAlias).
func (v *View) findAlias(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if e := v.Catalog.FindDenied(name, k); e != nil {
		return v.Catalog.DeniedTarget(e)
	}
	var c choice
	entries, strict := v.aliases(k, name)
	if strict && len(entries) > 1 {
		return catalog.TargetOf(entries[0]), catalog.Ambiguous
	}
	for _, e := range entries {
		c.add(v, catalog.TargetOf(e))
	}
	if t, verdict := c.pick(); verdict != catalog.Unknown {
		return t, verdict
	}
	if all := append(v.Catalog.Denied.LookupAlias(k, name), v.Catalog.Denied.LookupDotted(k, name)...); len(all) > 0 {
		return v.Catalog.DeniedTarget(all[0])
	}
	return catalog.Target{}, catalog.Unknown
}

// Qualified returns the entries that a name refers to in one of the forms server:name,
// mcp__server__name, server.name and toolset.name, each once. If it is of the last two forms, they
// include those whose servers have that name for them.
func (v *View) Qualified(k mcpwire.Kind, name string) (all []*catalog.Entry) {
	for _, kind := range catalog.SimilarKinds(k) {
		entries, dotted := v.aliases(kind, name)
		if !dotted {
			entries = v.Catalog.LookupQualified(kind, name)
		}
		all = append(all, entries...)
	}
	return all
}

// aliases returns the entries that a name refers to although it is not their name. strict reports
// whether the name is only valid if it refers to one entry, active or not. That holds for names
// with a dot, which servers may use, too.
func (v *View) aliases(k mcpwire.Kind, name string) (all []*catalog.Entry, strict bool) {
	all = v.Catalog.LookupAlias(k, name)
	if dotted := v.dotted(k, name); len(dotted) > 0 {
		return distinct(append(all, dotted...)), true
	}
	return all, false
}

// dotted returns the entries that a name refers to in the form server.name or toolset.name.
func (v *View) dotted(k mcpwire.Kind, name string) []*catalog.Entry {
	all := v.Catalog.LookupDotted(k, name)
	if k != mcpwire.Tool || !strings.Contains(name, ".") {
		return all
	}
	if members := v.AtStart().members; members != nil {
		all = append(all, members()[name]...)
	}
	if v.Sets != nil {
		for _, x := range v.Sets.toolsets() {
			if strings.HasPrefix(name, x.Set.Name+".") {
				all = append(all, membersOf(v.Catalog, x)[name]...)
			}
		}
	}
	return distinct(all)
}

// A choice collects the entries that one name may refer to.
type choice struct {
	active, inactive []catalog.Target
	contested        bool // the name is a URI of pages of several servers
}

func (c *choice) add(v *View, t catalog.Target) {
	if v.Active(t.Entry) {
		c.active = append(c.active, t)
	} else {
		c.inactive = append(c.inactive, t)
	}
}

// pick returns the first active entry. The verdict is Ambiguous if several servers have an active
// entry, and Inactive if only inactive entries exist. A contested URI is always ambiguous, because
// a client may know it from the time before another server used it.
func (c *choice) pick() (catalog.Target, catalog.Verdict) {
	switch {
	case c.contested:
		return slices.Concat(c.active, c.inactive)[0], catalog.Ambiguous
	case slices.ContainsFunc(c.active, func(t catalog.Target) bool { return t.Source != c.active[0].Source }):
		return c.active[0], catalog.Ambiguous
	case len(c.active) > 0:
		return c.active[0], catalog.Active
	case len(c.inactive) > 0:
		return c.inactive[0], catalog.Inactive
	}
	return catalog.Target{}, catalog.Unknown
}

// VerdictOf returns the verdict about a server's own URI. As in FindURI, listed items take
// precedence over templates.
func (v *View) VerdictOf(u *catalog.Source, uri string) catalog.Verdict {
	ofIt := func(e *catalog.Entry) bool { return e.Source == u }
	if at := slices.IndexFunc(v.Catalog.Bare[uri], ofIt); at >= 0 {
		return v.Verdict(v.Catalog.Bare[uri][at])
	}
	if at := slices.IndexFunc(v.Catalog.Denied.Bare[uri], ofIt); at >= 0 {
		_, verdict := v.Catalog.DeniedTarget(v.Catalog.Denied.Bare[uri][at])
		return verdict
	}
	verdict := catalog.Unknown
	for _, e := range v.Catalog.Entries(mcpwire.Template) {
		switch {
		case !ofIt(e):
		case e.Item.Name == uri && v.Active(e),
			e.MatchesURI(uri, catalog.Strict) && v.grants(e, uri, catalog.Strict),
			e.MatchesURI(uri, catalog.Loose) && v.grants(e, uri, catalog.Loose):
			return catalog.Active
		case e.Item.Name == uri || e.MatchesURI(uri, catalog.Loose):
			verdict = catalog.Inactive
		}
	}
	for _, e := range v.Catalog.Denied.Entries(mcpwire.Template) {
		if ofIt(e) && (e.Item.Name == uri || e.MatchesURI(uri, catalog.Loose)) {
			_, verdict = v.Catalog.DeniedTarget(e)
			return verdict
		}
	}
	return verdict
}
