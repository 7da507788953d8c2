package router

import (
	"iter"
	"slices"

	"toolman/mcpwire"
)

// find looks up a tool or a prompt.
func (v *View) find(k mcpwire.Kind, name []byte) (target, Verdict) {
	e := v.catalog.lookup(k, name)
	if e == nil {
		return v.findSpelled(k, string(name))
	}
	return at(e), v.verdict(e)
}

func (v *View) verdict(e *Entry) Verdict {
	if v.Active(e) {
		return Active
	}
	return Inactive
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
func (v *View) findURI(uri []byte) (target, Verdict) {
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if e := v.catalog.lookup(k, uri); e != nil {
			return at(e), v.verdict(e)
		}
	}
	text := string(uri)
	if e := v.catalog.isDenied(text, mcpwire.Resource, mcpwire.Template); e != nil {
		return v.catalog.keeps(e)
	}
	if t, verdict := v.findMade(text, strictly); verdict != Unknown {
		return t, verdict
	}
	for _, k := range [...]mcpwire.Kind{mcpwire.Resource, mcpwire.Template} {
		if t, verdict := v.findSpelled(k, text); verdict != Unknown {
			return t, verdict
		}
	}
	return v.findMade(text, loosely)
}

// findMade looks up a URI that a template makes, or one without a namespace.
func (v *View) findMade(uri string, how matching) (target, Verdict) {
	var idle target
	for _, e := range v.catalog.Entries(mcpwire.Template) {
		bare, ok := e.owns(uri, how)
		switch {
		case !ok:
		case v.opens(e, bare, how):
			return target{e.Source, e, bare}, Active
		case idle.entry == nil && !v.Active(e):
			idle = target{e.Source, e, bare}
		}
	}
	if idle.entry != nil {
		return idle, Inactive
	}
	return v.findBare(uri, how)
}

// opens reports whether a template is active and clients may have a URI by it that it makes. They
// may not where the same server may take the URI for something that they may not use: another of
// its templates fits, and is not the wider one of the two, or a parser rewrites the URI.
func (v *View) opens(e *Entry, uri string, how matching) bool {
	if !v.Active(e) {
		return false
	}
	for d := range v.withheld(e.Source, mcpwire.Template) {
		if d.makes(uri, loosely) && (how == loosely || !e.narrower(d)) {
			return false
		}
	}
	if !asWritten(uri, literalStart(e.Item.Name)) {
		for range v.withheld(e.Source, mcpwire.Resource, mcpwire.Template) {
			return false
		}
	}
	return true
}

// withheld are an upstream's entries that are inactive, denied or held.
func (v *View) withheld(u *Source, kinds ...mcpwire.Kind) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, k := range kinds {
			for _, e := range v.catalog.Entries(k) {
				if e.Source == u && !v.Active(e) && !yield(e) {
					return
				}
			}
			for _, e := range v.catalog.denied.Entries(k) {
				if e.Source == u && !yield(e) {
					return
				}
			}
		}
	}
}

// listed reports whether an upstream lists a resource with this URI, be it denied or held.
func (v *View) listed(u *Source, uri string) bool {
	ofIt := func(e *Entry) bool { return e.Source == u }
	return slices.ContainsFunc(v.catalog.bare[uri], ofIt) || slices.ContainsFunc(v.catalog.denied.bare[uri], ofIt)
}

// findBare looks up an upstream's own URI. It counts when exactly one active
// entry owns it.
func (v *View) findBare(uri string, how matching) (target, Verdict) {
	var c choice
	for _, e := range v.catalog.bare[uri] {
		c.add(v, at(e))
	}
	if len(c.active) == 0 {
		for _, e := range v.catalog.Entries(mcpwire.Template) {
			if v.listed(e.Source, uri) || e.Item.Name != uri && !e.makes(uri, how) {
				continue
			}
			if !v.Active(e) || e.Item.Name == uri || v.opens(e, uri, how) {
				c.add(v, target{e.Source, e, uri})
			}
		}
	}
	if t, verdict := c.made(); verdict != Unknown {
		return t, verdict
	}
	if e := v.catalog.deniesBare(uri, how); e != nil {
		return v.catalog.keeps(e)
	}
	return target{}, Unknown
}

// verdictOf says what the session may do with a URI of an upstream, in that upstream's own spelling.
// As for findURI, what is listed goes before what a template makes.
func (v *View) verdictOf(u *Source, uri string) Verdict {
	ofIt := func(e *Entry) bool { return e.Source == u }
	if at := slices.IndexFunc(v.catalog.bare[uri], ofIt); at >= 0 {
		return v.verdict(v.catalog.bare[uri][at])
	}
	if at := slices.IndexFunc(v.catalog.denied.bare[uri], ofIt); at >= 0 {
		_, verdict := v.catalog.keeps(v.catalog.denied.bare[uri][at])
		return verdict
	}
	verdict := Unknown
	for _, e := range v.catalog.Entries(mcpwire.Template) {
		switch {
		case !ofIt(e):
		case e.Item.Name == uri && v.Active(e),
			e.makes(uri, strictly) && v.opens(e, uri, strictly),
			e.makes(uri, loosely) && v.opens(e, uri, loosely):
			return Active
		case e.Item.Name == uri || e.makes(uri, loosely):
			verdict = Inactive
		}
	}
	for _, e := range v.catalog.denied.Entries(mcpwire.Template) {
		if ofIt(e) && (e.Item.Name == uri || e.makes(uri, loosely)) {
			_, verdict = v.catalog.keeps(e)
			return verdict
		}
	}
	return verdict
}
