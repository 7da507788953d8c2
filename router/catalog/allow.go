package catalog

import (
	"fmt"
	"slices"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// Under returns the catalog for clients with this policy. It does not list or find items that the
// policy denies, so clients never see them. They are in Catalog.Denied, which explains refusals and
// keeps other items from using the same names.
func (c *Catalog) Under(p *policy.Policy) *Catalog {
	if p == nil {
		return c
	}
	verdicts := c.judge(p)
	next := c.filter(func(e *Entry) bool { return verdicts[e].Allowed })
	next.policy, next.verdicts = p, verdicts
	next.Absent = next.absencesAmong(c.Absent)
	for _, v := range verdicts {
		next.conditional = next.conditional || v.Conditions() != nil
	}
	return next
}

// judge returns the policy's verdict about every entry. It passes all entries of a server at once.
func (c *Catalog) judge(p *policy.Policy) map[*Entry]policy.Verdict {
	verdicts := map[*Entry]policy.Verdict{}
	for from, entries := range c.BySource() {
		for i, v := range p.Judge(from.PolicyName, PolicyItems(entries)) {
			verdicts[entries[i]] = v
		}
	}
	return verdicts
}

// BySource returns all entries of each server, including denied ones.
func (c *Catalog) BySource() map[*Source][]*Entry {
	all := map[*Source][]*Entry{}
	for _, e := range slices.Concat(c.All(), c.Denied.All()) {
		all[e.Source] = append(all[e.Source], e)
	}
	return all
}

// PolicyItems returns the entries in the form that policies judge.
func PolicyItems(entries []*Entry) []policy.Item {
	items := make([]policy.Item, len(entries))
	for i, e := range entries {
		items[i] = policyItem(e)
		items[i].Effects = e.Item.Kind == mcpwire.Tool && !e.ReadOnly()
	}
	return items
}

// policyItem returns the names of an entry for a policy.
func policyItem(e *Entry) policy.Item {
	return policy.Item{Name: e.Item.Name, Shown: e.Name, Full: e.Prefix + e.Item.Name}
}

// AllActive returns the catalog for clients that may also use inactive items.
func (c *Catalog) AllActive() *Catalog {
	next := c.filter(func(*Entry) bool { return true })
	next.AnyState = true
	return next
}

// filter returns the catalog with the entries for which some returns true, and with the pages of
// the tools among them. The others join the entries in Denied, which are held back or too
// dangerous.
func (c *Catalog) filter(some func(*Entry) bool) *Catalog {
	next, denied := newCatalog(c.Own, c.allowChanged), newCatalog(c.Own, c.allowChanged)
	next.owners, next.sources, next.Absent, next.Collisions, next.former = c.owners, c.sources, c.Absent, c.Collisions, c.former
	next.Denied, next.policy, next.verdicts, next.AnyState = denied, c.policy, c.verdicts, c.AnyState
	next.conditional, next.finder = c.conditional, c.finder
	denied.owners, denied.sources = c.owners, c.sources
	only := map[*Entry]bool{} // pages that are kept for their tools
	for _, e := range c.All() {
		switch {
		case some(e):
			only[e] = c.Apps.OnlyPage(e)
			next.put(e)
		case c.Apps.isPageOf(e, some):
			only[e] = true
			next.put(e)
		default:
			denied.put(e)
		}
	}
	for _, e := range c.Denied.All() {
		denied.put(e)
	}
	if c.Apps != nil {
		next.Apps = newApps(next, c.Apps.names, only)
	}
	return next
}

// Sources returns the servers of the catalog, in their order.
func (c *Catalog) Sources() []*Source { return c.sources }

// Conditions returns what a tool cannot be called with under the policy; nil: there is nothing. e
// may be nil.
func (c *Catalog) Conditions(e *Entry) *policy.Conditions {
	if !c.conditional {
		return nil
	}
	return c.verdicts[e].Conditions()
}

// ArgumentDenial says that a rule forbids a call of an entry with certain arguments.
func (e *Entry) ArgumentDenial(rule string) string {
	return fmt.Sprintf("tool %s is denied by policy with these arguments: %s. Go on without it, or call it with other arguments; "+
		"the maintainer of that file can allow it there", sanitize.Name(e.Name), sanitize.Line(rule))
}

// Knows reports whether clients may know that a server exists: their policy and their toolsets
// allow some item of it, even if that item does not exist.
func (c *Catalog) Knows(u *Source, offer []*Entry) bool {
	if !c.policy.Opens(u.PolicyName) {
		return false
	}
	if c.Limit == nil {
		return true
	}
	return slices.ContainsFunc(offer, c.Limit.covers)
}

// AllowsUnlisted reports whether a policy and the catalog's toolsets allow an item that its server
// does not list.
func (c *Catalog) AllowsUnlisted(p *policy.Policy, from *Source, item mcpwire.Item) bool {
	e := &Entry{Item: item, Source: from, Prefix: from.prefix(item.Kind), Name: from.Expose(item.Kind, item.Name)}
	return p.Judge(from.PolicyName, PolicyItems([]*Entry{e}))[0].Allowed && (c.Limit == nil || c.Limit.toolsetOf(e) != nil)
}

// FindDenied returns the denied entry with this name, or nil.
func (c *Catalog) FindDenied(name string, kinds ...mcpwire.Kind) *Entry {
	for _, k := range kinds {
		if e := c.Denied.ByName[k][name]; e != nil {
			return e
		}
	}
	return nil
}

// FindDeniedURI returns the denied entry for a server's own URI or for a namespaced URI that
// matches a template, or nil.
func (c *Catalog) FindDeniedURI(uri string, how Matching) *Entry {
	if all := c.Denied.Bare[uri]; len(all) > 0 {
		return all[0]
	}
	for _, e := range c.Denied.entries[mcpwire.Template] {
		if _, ok := e.MatchesNamespaced(uri, how); ok || e.MatchesURI(uri, how) || e.Item.Name == uri {
			return e
		}
	}
	return nil
}

// DeniedTarget returns the target and the verdict for a name of a denied entry.
func (c *Catalog) DeniedTarget(e *Entry) (Target, Verdict) {
	v, judged := c.verdicts[e]
	if judged && !v.Allowed || e.Hold == NotHeld {
		return TargetOf(e), Denied
	}
	return TargetOf(e), Held
}

// Denial says why a client may not use an entry. name is the name that the client used. If name
// does not contain the server, Denial names neither the server nor the rule, which contains the
// server's name. It then only says where the rule is.
func (c *Catalog) Denial(e *Entry, name string) string {
	kind, rule := e.Item.Kind, sanitize.Line(c.Rule(e))
	if e.namedBy(name) {
		name = e.Name
	} else {
		if kind == mcpwire.Template {
			kind = mcpwire.Resource // the name is a URI that matches the template
		}
		if v, judged := c.verdicts[e]; judged && !v.Allowed {
			rule = "the rule is at " + sanitize.Line(v.Place())
		}
	}
	what := kind.String() + " " + sanitize.Name(name)
	if _, verdict := c.DeniedTarget(e); verdict == Held {
		return heldText(what, e.Hold)
	}
	if c.outsideLimit(e) {
		return fmt.Sprintf("%s is not for this client: %s. Go on without it", what, rule)
	}
	return fmt.Sprintf("%s is denied by policy: %s. Go on without it; the maintainer of that file can allow it there", what, rule)
}

// namedBy reports whether a name of an entry contains the server's name in policies.
func (e *Entry) namedBy(name string) bool {
	server := e.Source.PolicyName
	return policy.Qualifies(name, server, e.Item.Name) || e.dotted(name) || e.Source.Namespace == server && (name == e.Name || name == e.Prefix+e.Item.Name)
}

// Rule says which rule of the policy applies to an entry, or that its pin holds it back, or that it
// is too dangerous.
func (c *Catalog) Rule(e *Entry) string {
	v, judged := c.verdicts[e]
	switch {
	case c.Apps.OnlyPage(e):
		return "it is the page of " + sanitize.Name(c.Apps.ToolsOf(e)[0].Name)
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
