package catalog

import (
	"fmt"
	"slices"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// Under returns the catalog as it is for clients with this policy. What it denies
// is in no list and under no name there, and so nowhere in what such clients see:
// it is kept aside, to say why and to keep others out of its place.
func (c *Catalog) Under(p *policy.Policy) *Catalog {
	if p == nil {
		return c
	}
	verdicts := c.judge(p)
	next := c.keeping(func(e *Entry) bool { return verdicts[e].Allowed })
	next.policy, next.verdicts = p, verdicts
	return next
}

// Knows reports whether clients may know that there is a server: their policy and their toolsets
// leave something of it open, also when it is not there.
func (c *Catalog) Knows(u *Source, offer []*Entry) bool {
	if !c.policy.Opens(u.PolicyName) {
		return false
	}
	if c.Limit == nil {
		return true
	}
	return slices.ContainsFunc(offer, c.Limit.chooses)
}

// keeping returns the catalog with some of its entries. All others are aside, with what
// is there already: held back, or too dangerous.
func (c *Catalog) keeping(some func(*Entry) bool) *Catalog {
	next, denied := newCatalog(c.Own, c.stale), newCatalog(c.Own, c.stale)
	next.owners, next.sources, next.Collisions = c.owners, c.sources, c.Collisions
	next.Denied, next.policy, next.verdicts, next.AnyState = denied, c.policy, c.verdicts, c.AnyState
	denied.owners, denied.sources = c.owners, c.sources
	for _, e := range c.All() {
		if some(e) {
			next.put(e)
		} else {
			denied.put(e)
		}
	}
	for _, e := range c.Denied.All() {
		denied.put(e)
	}
	return next
}

// AllActive returns the catalog of clients that may use what is inactive as well.
func (c *Catalog) AllActive() *Catalog {
	next := c.keeping(func(*Entry) bool { return true })
	next.AnyState = true
	return next
}

// judge asks the policy about every entry, a server's all at once.
func (c *Catalog) judge(p *policy.Policy) map[*Entry]policy.Verdict {
	verdicts := map[*Entry]policy.Verdict{}
	for from, entries := range c.BySource() {
		for i, v := range p.Judge(from.PolicyName, PolicyItems(entries)) {
			verdicts[entries[i]] = v
		}
	}
	return verdicts
}

// BySource returns what each server has, with what is held back.
func (c *Catalog) BySource() map[*Source][]*Entry {
	all := map[*Source][]*Entry{}
	for _, e := range slices.Concat(c.All(), c.Denied.All()) {
		all[e.Source] = append(all[e.Source], e)
	}
	return all
}

func PolicyItems(entries []*Entry) []policy.Item {
	items := make([]policy.Item, len(entries))
	for i, e := range entries {
		items[i] = policyItem(e)
		items[i].Effects = e.Item.Kind == mcpwire.Tool && !e.Item.ReadOnly()
	}
	return items
}

// policyItem names an entry to a policy.
func policyItem(e *Entry) policy.Item {
	return policy.Item{Name: e.Item.Name, Shown: e.Name, Full: e.Prefix + e.Item.Name}
}

// Rule says which rule of the policy is about an entry, or that its pin holds it back, or
// that it is too dangerous.
func (c *Catalog) Rule(e *Entry) string {
	v, judged := c.verdicts[e]
	switch {
	case judged && !v.Allowed:
		return v.String()
	case e.Hold != NotHeld:
		return "it is held back: " + e.Hold.String()
	case e.Danger.Denies():
		return e.Danger.String()
	case c.Limit != nil:
		return c.Limit.Rule(e)
	}
	return v.String()
}

// Keeps returns where a name leads that is of an entry which clients may not have.
func (c *Catalog) Keeps(e *Entry) (Target, Verdict) {
	v, judged := c.verdicts[e]
	if judged && !v.Allowed || e.Hold == NotHeld {
		return At(e), Denied
	}
	return At(e), Held
}

// Denial says why a client may not have an entry, by the name that the client has used. Without
// the server in that name it tells the client neither the server nor the rule, which names it, but
// only where the rule stands.
func (c *Catalog) Denial(e *Entry, name string) string {
	kind, rule := e.Item.Kind, sanitize.Line(c.Rule(e))
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
	if _, verdict := c.Keeps(e); verdict == Held {
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
	return policy.Qualifies(name, server, e.Item.Name) || e.Source.Namespace == server && (name == e.Name || name == e.Prefix+e.Item.Name)
}

// IsDenied returns the entry with this name that clients may not have, or nil.
func (c *Catalog) IsDenied(name string, kinds ...mcpwire.Kind) *Entry {
	for _, k := range kinds {
		if e := c.Denied.ByName[k][name]; e != nil {
			return e
		}
	}
	return nil
}

// DeniesBare returns what owns an upstream's own URI, or a namespaced one that a
// template makes, if clients may not have that; or nil.
func (c *Catalog) DeniesBare(uri string, how Matching) *Entry {
	if all := c.Denied.Bare[uri]; len(all) > 0 {
		return all[0]
	}
	for _, e := range c.Denied.entries[mcpwire.Template] {
		if _, ok := e.Owns(uri, how); ok || e.Makes(uri, how) || e.Item.Name == uri {
			return e
		}
	}
	return nil
}

// AllowsUnlisted reports whether a policy and the catalog's toolsets allow a resource that its server
// does not list.
func (c *Catalog) AllowsUnlisted(p *policy.Policy, from *Source, uri string) bool {
	item := mcpwire.Item{Kind: mcpwire.Resource, Name: uri}
	e := &Entry{Item: item, Source: from, Prefix: from.prefix(item.Kind), Name: from.Expose(item.Kind, uri)}
	return p.Judge(from.PolicyName, PolicyItems([]*Entry{e}))[0].Allowed && (c.Limit == nil || c.Limit.from(e) != nil)
}
