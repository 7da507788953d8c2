package view

import (
	"iter"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Find looks up a tool or a prompt.
func (v *View) Find(k mcpwire.Kind, name []byte) (catalog.Target, catalog.Verdict) {
	e := v.Catalog.Lookup(k, name)
	if e == nil {
		return v.findSpelled(k, string(name))
	}
	return catalog.At(e), v.Verdict(e)
}

func (v *View) Verdict(e *catalog.Entry) catalog.Verdict {
	if v.Active(e) {
		return catalog.Active
	}
	return catalog.Inactive
}

// FindURI looks up a URI: a listed resource, a resource template under its own
// name, a URI that a template makes, and at last the same without a namespace,
// because results pass through as they are and the URIs in them are bare. What is
// listed goes before what a template makes, so that an inactive, denied or held
// resource cannot be had through an active template. What no template makes by RFC 6570,
// one may match as its server does.
//
// What a server that is gone had listed does not stand in the way: its names stay
// taken, but an active template of another server makes the URIs that it makes.
func (v *View) FindURI(uri []byte) (catalog.Target, catalog.Verdict) {
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if e := v.Catalog.Lookup(k, uri); e != nil {
			return catalog.At(e), v.Verdict(e)
		}
	}
	text := string(uri)
	if e := v.Catalog.IsDenied(text, mcpwire.Resource, mcpwire.Template); e != nil {
		return v.Catalog.Keeps(e)
	}
	if t, verdict := v.findMade(text, catalog.Strictly); verdict != catalog.Unknown {
		return t, verdict
	}
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if t, verdict := v.findSpelled(k, text); verdict != catalog.Unknown {
			return t, verdict
		}
	}
	return v.findMade(text, catalog.Loosely)
}

// findMade looks up a URI that a template makes, or one without a namespace.
func (v *View) findMade(uri string, how catalog.Matching) (catalog.Target, catalog.Verdict) {
	var idle catalog.Target
	for _, e := range v.Catalog.Entries(mcpwire.Template) {
		bare, ok := e.Owns(uri, how)
		switch {
		case !ok:
		case v.opens(e, bare, how):
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

// opens reports whether a template is active and clients may have a URI by it that it makes. They
// may not where the same server may take the URI for something that they may not use: another of
// its templates fits, and is not the wider one of the two, or a parser rewrites the URI.
func (v *View) opens(e *catalog.Entry, uri string, how catalog.Matching) bool {
	if !v.Active(e) {
		return false
	}
	for d := range v.withheld(e.Source, mcpwire.Template) {
		if d.Makes(uri, catalog.Loosely) && (how == catalog.Loosely || !e.Narrower(d)) {
			return false
		}
	}
	if !catalog.AsWritten(uri, catalog.LiteralStart(e.Item.Name)) {
		for range v.withheld(e.Source, mcpwire.Resource, mcpwire.Template) {
			return false
		}
	}
	return true
}

// withheld are an upstream's entries that are inactive, denied or held.
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

// listed reports whether an upstream lists a resource with this URI, be it denied or held.
func (v *View) listed(u *catalog.Source, uri string) bool {
	ofIt := func(e *catalog.Entry) bool { return e.Source == u }
	return slices.ContainsFunc(v.Catalog.Bare[uri], ofIt) || slices.ContainsFunc(v.Catalog.Denied.Bare[uri], ofIt)
}

// findBare looks up an upstream's own URI. It counts when exactly one active
// entry owns it.
func (v *View) findBare(uri string, how catalog.Matching) (catalog.Target, catalog.Verdict) {
	var c choice
	for _, e := range v.Catalog.Bare[uri] {
		c.add(v, catalog.At(e))
	}
	if len(c.active) == 0 {
		for _, e := range v.Catalog.Entries(mcpwire.Template) {
			if v.listed(e.Source, uri) || e.Item.Name != uri && !e.Makes(uri, how) {
				continue
			}
			if !v.Active(e) || e.Item.Name == uri || v.opens(e, uri, how) {
				c.add(v, catalog.Target{Source: e.Source, Entry: e, URI: uri})
			}
		}
	}
	if t, verdict := c.made(); verdict != catalog.Unknown {
		return t, verdict
	}
	if e := v.Catalog.DeniesBare(uri, how); e != nil {
		return v.Catalog.Keeps(e)
	}
	return catalog.Target{}, catalog.Unknown
}

// VerdictOf says what the session may do with a URI of an upstream, in that upstream's own spelling.
// As for FindURI, what is listed goes before what a template makes.
func (v *View) VerdictOf(u *catalog.Source, uri string) catalog.Verdict {
	ofIt := func(e *catalog.Entry) bool { return e.Source == u }
	if at := slices.IndexFunc(v.Catalog.Bare[uri], ofIt); at >= 0 {
		return v.Verdict(v.Catalog.Bare[uri][at])
	}
	if at := slices.IndexFunc(v.Catalog.Denied.Bare[uri], ofIt); at >= 0 {
		_, verdict := v.Catalog.Keeps(v.Catalog.Denied.Bare[uri][at])
		return verdict
	}
	verdict := catalog.Unknown
	for _, e := range v.Catalog.Entries(mcpwire.Template) {
		switch {
		case !ofIt(e):
		case e.Item.Name == uri && v.Active(e),
			e.Makes(uri, catalog.Strictly) && v.opens(e, uri, catalog.Strictly),
			e.Makes(uri, catalog.Loosely) && v.opens(e, uri, catalog.Loosely):
			return catalog.Active
		case e.Item.Name == uri || e.Makes(uri, catalog.Loosely):
			verdict = catalog.Inactive
		}
	}
	for _, e := range v.Catalog.Denied.Entries(mcpwire.Template) {
		if ofIt(e) && (e.Item.Name == uri || e.Makes(uri, catalog.Loosely)) {
			_, verdict = v.Catalog.Keeps(e)
			return verdict
		}
	}
	return verdict
}

// findSpelled looks up a name that no entry has that the client may have.
func (v *View) findSpelled(k mcpwire.Kind, name string) (catalog.Target, catalog.Verdict) {
	if e := v.Catalog.IsDenied(name, k); e != nil {
		return v.Catalog.Keeps(e)
	}
	var c choice
	for _, e := range v.Catalog.Spelled(k, name) {
		c.add(v, catalog.At(e))
	}
	if t, verdict := c.made(); verdict != catalog.Unknown {
		return t, verdict
	}
	if all := v.Catalog.Denied.Spelled(k, name); len(all) > 0 {
		return v.Catalog.Keeps(all[0])
	}
	return catalog.Target{}, catalog.Unknown
}

// A choice is between the entries that one name may mean.
type choice struct{ active, idle []catalog.Target }

func (c *choice) add(v *View, t catalog.Target) {
	if v.Active(t.Entry) {
		c.active = append(c.active, t)
	} else {
		c.idle = append(c.idle, t)
	}
}

// made is the one active entry there is. Of one server's the first is meant.
func (c *choice) made() (catalog.Target, catalog.Verdict) {
	switch {
	case len(c.active) > 0 && sameUpstream(c.active):
		return c.active[0], catalog.Active
	case len(c.active) > 0:
		return c.active[0], catalog.Ambiguous
	case len(c.idle) > 0:
		return c.idle[0], catalog.Inactive
	}
	return catalog.Target{}, catalog.Unknown
}

func sameUpstream(owners []catalog.Target) bool {
	for _, o := range owners {
		if o.Source != owners[0].Source {
			return false
		}
	}
	return true
}
