package router

import (
	"slices"
	"strings"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/router/policy"
)

// Danger returns what becomes of a call of a dangerous tool, or nil.
func (e *Entry) Danger() *policy.Danger { return e.danger }

// Dangerous returns the dangerous tools there are, and the entries of dangerous_tools that
// no server has a tool for, with their places.
func (r *Router) Dangerous() (tools []*Entry, idle []string) {
	c := r.catalog.Load()
	tools = slices.Concat(c.tools(), c.denied.tools())
	return slices.DeleteFunc(tools, func(e *Entry) bool { return e.danger == nil }), r.idleDangers(c)
}

func (r *Router) idleDangers(c *Catalog) []string {
	tools := map[string][]policy.Item{}
	for u, entries := range c.bySource() {
		of := slices.DeleteFunc(entries, func(e *Entry) bool { return e.Item.Kind != mcpwire.Tool })
		tools[u.PolicyName] = append(tools[u.PolicyName], policyItems(of)...)
	}
	return r.current().Dangers.Idle(tools)
}

// warnIdleLocked warns, once all servers are there, of what dangerous_tools has and no
// server: a tool that was meant would run without a question.
func (r *Router) warnIdleLocked(c *Catalog) {
	ready := func(u *Upstream) bool {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.state == Ready
	}
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
