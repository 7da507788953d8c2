package router

import (
	"fmt"
	"slices"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// under returns the catalog as it is for clients with this policy. What it denies
// is in no list and under no name there, and so nowhere in what such clients see:
// it is kept aside, to say why and to keep others out of its place.
func (c *Catalog) under(p *policy.Policy) *Catalog {
	if p == nil {
		return c
	}
	verdicts := c.judge(p)
	next := c.keeping(func(e *Entry) bool { return verdicts[e].Allowed })
	next.policy, next.verdicts = p, verdicts
	return next
}

// knows reports whether clients may know that there is a server: their policy and their toolsets
// leave something of it open, also when it is not there.
func (c *Catalog) knows(u *Source, offer []*Entry) bool {
	if !c.policy.Opens(u.PolicyName) {
		return false
	}
	if c.limit == nil {
		return true
	}
	return slices.ContainsFunc(offer, c.limit.chooses)
}

// keeping returns the catalog with some of its entries. All others are aside, with what
// is there already: held back, or too dangerous.
func (c *Catalog) keeping(some func(*Entry) bool) *Catalog {
	next, denied := newCatalog(c.own, c.stale), newCatalog(c.own, c.stale)
	next.owners, next.sources, next.Collisions = c.owners, c.sources, c.Collisions
	next.denied, next.policy, next.verdicts, next.anyState = denied, c.policy, c.verdicts, c.anyState
	denied.owners, denied.sources = c.owners, c.sources
	for _, e := range c.All() {
		if some(e) {
			next.put(e)
		} else {
			denied.put(e)
		}
	}
	for _, e := range c.denied.All() {
		denied.put(e)
	}
	return next
}

// allActive returns the catalog of clients that may use what is inactive as well.
func (c *Catalog) allActive() *Catalog {
	next := c.keeping(func(*Entry) bool { return true })
	next.anyState = true
	return next
}

// judge asks the policy about every entry, a server's all at once.
func (c *Catalog) judge(p *policy.Policy) map[*Entry]policy.Verdict {
	verdicts := map[*Entry]policy.Verdict{}
	for from, entries := range c.bySource() {
		for i, v := range p.Judge(from.PolicyName, policyItems(entries)) {
			verdicts[entries[i]] = v
		}
	}
	return verdicts
}

// bySource returns what each server has, with what is held back.
func (c *Catalog) bySource() map[*Source][]*Entry {
	all := map[*Source][]*Entry{}
	for _, e := range slices.Concat(c.All(), c.denied.All()) {
		all[e.Source] = append(all[e.Source], e)
	}
	return all
}

func policyItems(entries []*Entry) []policy.Item {
	items := make([]policy.Item, len(entries))
	for i, e := range entries {
		items[i] = policyItem(e)
		items[i].Effects = e.Item.Kind == mcpwire.Tool && !e.Item.ReadOnly()
	}
	return items
}

// policyItem names an entry to a policy.
func policyItem(e *Entry) policy.Item {
	return policy.Item{Name: e.Item.Name, Shown: e.Name, Full: e.prefix + e.Item.Name}
}

// rule says which rule of the policy is about an entry, or that its pin holds it back, or
// that it is too dangerous.
func (c *Catalog) rule(e *Entry) string {
	v, judged := c.verdicts[e]
	switch {
	case judged && !v.Allowed:
		return v.String()
	case e.Hold != NotHeld:
		return "it is held back: " + e.Hold.String()
	case e.Danger.Denies():
		return e.Danger.String()
	case c.limit != nil:
		return c.limit.rule(e)
	}
	return v.String()
}

// keeps returns where a name leads that is of an entry which clients may not have.
func (c *Catalog) keeps(e *Entry) (target, Verdict) {
	v, judged := c.verdicts[e]
	if judged && !v.Allowed || e.Hold == NotHeld {
		return at(e), Denied
	}
	return at(e), Held
}

// denial says why a client may not have an entry, by the name that the client has used. Without
// the server in that name it tells the client neither the server nor the rule, which names it, but
// only where the rule stands.
func (c *Catalog) denial(e *Entry, name string) string {
	kind, rule := e.Item.Kind, sanitize.Line(c.rule(e))
	if e.namedBy(name) {
		name = e.Name
	} else {
		if kind == mcpwire.Template {
			kind = mcpwire.Resource // a URI that it makes
		}
		if v, judged := c.verdicts[e]; judged && !v.Allowed {
			rule = "the rule is at " + sanitize.Line(v.Place())
		}
	}
	what := kind.String() + " " + sanitize.Name(name)
	if _, verdict := c.keeps(e); verdict == Held {
		return heldText(what, e.Hold)
	}
	if c.outside(e) {
		return fmt.Sprintf("%s is not for this client: %s. Go on without it", what, rule)
	}
	return fmt.Sprintf("%s is denied by policy: %s. Go on without it; whoever keeps that file can allow it there", what, rule)
}

// namedBy reports whether a name of an entry has in it what policies call the server.
func (e *Entry) namedBy(name string) bool {
	server := e.Source.PolicyName
	return policy.Qualifies(name, server, e.Item.Name) || e.Source.Namespace == server && (name == e.Name || name == e.prefix+e.Item.Name)
}

// isDenied returns the entry with this name that clients may not have, or nil.
func (c *Catalog) isDenied(name string, kinds ...mcpwire.Kind) *Entry {
	for _, k := range kinds {
		if e := c.denied.byName[k][name]; e != nil {
			return e
		}
	}
	return nil
}

// deniesBare returns what owns an upstream's own URI, or a namespaced one that a
// template makes, if clients may not have that; or nil.
func (c *Catalog) deniesBare(uri string, how matching) *Entry {
	if all := c.denied.bare[uri]; len(all) > 0 {
		return all[0]
	}
	for _, e := range c.denied.entries[mcpwire.Template] {
		if _, ok := e.owns(uri, how); ok || e.makes(uri, how) || e.Item.Name == uri {
			return e
		}
	}
	return nil
}

// allowsUnlisted reports whether a policy and the catalog's toolsets allow a resource that its server
// does not list.
func (c *Catalog) allowsUnlisted(p *policy.Policy, from *Source, uri string) bool {
	item := mcpwire.Item{Kind: mcpwire.Resource, Name: uri}
	e := &Entry{Item: item, Source: from, prefix: from.prefix(item.Kind), Name: from.expose(item.Kind, uri)}
	return p.Judge(from.PolicyName, policyItems([]*Entry{e}))[0].Allowed && (c.limit == nil || c.limit.from(e) != nil)
}
