package router

import (
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// Known returns what is known now of the servers that a client may know of, never nil.
func (r *Router) Known(who client.Info) []upstream.Status {
	c := r.startView(r.catalog.Load(), r.policyFor(who), who).Catalog
	known := []upstream.Status{}
	for _, u := range r.all() {
		if u.KnownTo(c) {
			known = append(known, u.Status())
		}
	}
	return known
}

// IdleRules returns what the policy's lists hold for servers that are there and
// have no such item, with its place.
func (r *Router) IdleRules() []string {
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

// Dangerous returns the dangerous tools there are, and the entries of dangerous_tools that
// no server has a tool for, with their places.
func (r *Router) Dangerous() (tools []*catalog.Entry, idle []string) {
	c := r.catalog.Load()
	tools = slices.Concat(c.Tools(), c.Denied.Tools())
	return slices.DeleteFunc(tools, func(e *catalog.Entry) bool { return e.Danger == nil }), r.idleDangers(c)
}

func (r *Router) idleDangers(c *catalog.Catalog) []string {
	tools := map[string][]policy.Item{}
	for u, entries := range c.BySource() {
		of := slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return e.Item.Kind != mcpwire.Tool })
		tools[u.PolicyName] = append(tools[u.PolicyName], catalog.PolicyItems(of)...)
	}
	return r.current().Dangers.Idle(tools)
}

// warnIdleLocked warns, once all servers are there, of what dangerous_tools has and no
// server: a tool that was meant would run without a question.
func (r *Router) warnIdleLocked(c *catalog.Catalog) {
	ready := func(u *upstream.Upstream) bool { return u.Is(upstream.Ready) }
	guard := r.current().Dangers
	if guard == r.warned || !allOf(r.all(), ready) {
		return
	}
	r.warned = guard
	if idle := r.idleDangers(c); len(idle) > 0 {
		r.log.Warn("dangerous_tools names what no server has", zap.String("text", strings.Join(idle, "; ")))
	}
}

func allOf[T any](all []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(all, func(one T) bool { return !ok(one) })
}

// logHeld names items that are held back now and were not before.
func (r *Router) logHeld(next *catalog.Catalog) {
	known := map[*catalog.Entry]bool{}
	for _, e := range r.catalog.Load().Held() {
		known[e] = true
	}
	fresh := map[*catalog.Source][]string{}
	for _, e := range next.Held() {
		if !known[e] {
			fresh[e.Source] = append(fresh[e.Source], fmt.Sprintf("%s %s: %s", e.Item.Kind, sanitize.Name(e.Name), e.Hold))
		}
	}
	for _, u := range r.all() {
		if all := fresh[u.Source]; len(all) > 0 {
			r.log.Warn("items are held back; toolman lock --diff shows why", zap.String("upstream", u.Name),
				zap.Int("count", len(all)), zap.String("text", strings.Join(all[:min(len(all), maxNamed)], "; ")))
		}
	}
}

// logCollisions names items that are not offered, each once.
func (r *Router) logCollisions(next *catalog.Catalog) {
	known := map[*catalog.Entry]bool{}
	for _, c := range r.catalog.Load().Collisions {
		known[c.Loser] = true
	}
	for _, c := range next.Collisions {
		if !known[c.Loser] {
			r.log.Warn("a name is taken already; the first server in the file has it", zap.Stringer("kind", c.Loser.Item.Kind),
				zap.String("tool", sanitize.Line(c.Loser.Name)), zap.String("upstream", c.Loser.Source.Name), zap.String("by", c.By))
		}
	}
}

// buildCatalog merges what upstreams offer, in their order.
func (r *Router) buildCatalog(upstreams []*upstream.Upstream) *catalog.Catalog {
	offers := make([]catalog.Offer, len(upstreams))
	for i, u := range upstreams {
		offers[i] = u.Offer()
	}
	return catalog.New(offers, r.ownNames, r.current().AllowStale)
}

// maxNamed is how many items a log entry names.
const maxNamed = 20
