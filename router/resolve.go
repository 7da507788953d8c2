package router

import (
	"iter"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// find looks up a tool or a prompt.
func (v *View) find(k mcpwire.Kind, name []byte) (catalog.Target, catalog.Verdict) {
	e := v.catalog.Lookup(k, name)
	if e == nil {
		return v.findSpelled(k, string(name))
	}
	return catalog.At(e), v.verdict(e)
}

func (v *View) verdict(e *catalog.Entry) catalog.Verdict {
	if v.Active(e) {
		return catalog.Active
	}
	return catalog.Inactive
}

// findURI looks up a URI: a listed resource, a resource template under its own
// name, a URI that a template makes, and at last the same without a namespace,
// because results pass through as they are and the URIs in them are bare. What is
// listed goes before what a template makes, so that an inactive, denied or held
// resource cannot be had through an active template. What no template makes by RFC 6570,
// one may match as its server does.
//
// What a server that is gone had listed does not stand in the way: its names stay
// taken, but an active template of another server makes the URIs that it makes.
func (v *View) findURI(uri []byte) (catalog.Target, catalog.Verdict) {
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if e := v.catalog.Lookup(k, uri); e != nil {
			return catalog.At(e), v.verdict(e)
		}
	}
	text := string(uri)
	if e := v.catalog.IsDenied(text, mcpwire.Resource, mcpwire.Template); e != nil {
		return v.catalog.Keeps(e)
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
	for _, e := range v.catalog.Entries(mcpwire.Template) {
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
			for _, e := range v.catalog.Entries(k) {
				if e.Source == u && !v.Active(e) && !yield(e) {
					return
				}
			}
			for _, e := range v.catalog.Denied.Entries(k) {
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
	return slices.ContainsFunc(v.catalog.Bare[uri], ofIt) || slices.ContainsFunc(v.catalog.Denied.Bare[uri], ofIt)
}

// findBare looks up an upstream's own URI. It counts when exactly one active
// entry owns it.
func (v *View) findBare(uri string, how catalog.Matching) (catalog.Target, catalog.Verdict) {
	var c choice
	for _, e := range v.catalog.Bare[uri] {
		c.add(v, catalog.At(e))
	}
	if len(c.active) == 0 {
		for _, e := range v.catalog.Entries(mcpwire.Template) {
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
	if e := v.catalog.DeniesBare(uri, how); e != nil {
		return v.catalog.Keeps(e)
	}
	return catalog.Target{}, catalog.Unknown
}

// verdictOf says what the session may do with a URI of an upstream, in that upstream's own spelling.
// As for findURI, what is listed goes before what a template makes.
func (v *View) verdictOf(u *catalog.Source, uri string) catalog.Verdict {
	ofIt := func(e *catalog.Entry) bool { return e.Source == u }
	if at := slices.IndexFunc(v.catalog.Bare[uri], ofIt); at >= 0 {
		return v.verdict(v.catalog.Bare[uri][at])
	}
	if at := slices.IndexFunc(v.catalog.Denied.Bare[uri], ofIt); at >= 0 {
		_, verdict := v.catalog.Keeps(v.catalog.Denied.Bare[uri][at])
		return verdict
	}
	verdict := catalog.Unknown
	for _, e := range v.catalog.Entries(mcpwire.Template) {
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
	for _, e := range v.catalog.Denied.Entries(mcpwire.Template) {
		if ofIt(e) && (e.Item.Name == uri || e.Makes(uri, catalog.Loosely)) {
			_, verdict = v.catalog.Keeps(e)
			return verdict
		}
	}
	return verdict
}
