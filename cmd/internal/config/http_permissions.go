package config

import (
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
)

// Permissions say which toolsets clients may use: they have these and nothing else, and cannot switch anything.
type Permissions struct {
	Header bool                // source = "header": mcp-toolset-permissions, which trusted proxies set
	Agents map[string][]string // source = "config": toolsets, by the agent that a credential is for
}

// permissions decodes http.permissions; nil without it.
func (d *decoder) permissions(http table, agents []string) *Permissions {
	if !http.has("permissions") {
		return nil
	}
	t := d.within(http, "permissions", "http.permissions", "source", "agents")
	if _, isTable := http.values["permissions"].value.([]member); !isTable {
		return nil // which has been noted
	}
	t.needUnless("agents", "source", "header")
	p := &Permissions{Header: t.choice("source", "config", "header") == "header", Agents: d.permitted(t, agents)}
	switch line := t.values["source"].line; {
	case p.Header && t.has("agents"):
		d.fail(t.values["agents"].line, "take the one or the other out", "http.permissions has agents, and its source is the header")
	case p.Header && !http.has("trusted_proxies"):
		d.fail(line, "write "+d.write("trusted_proxies", `["127.0.0.1/32"]`)+" in http with the addresses of what sets the header",
			"permissions from a header need trusted_proxies: from anybody else mcp-toolset-permissions does not count")
	case !p.Header && !t.has("agents"):
		d.fail(t.line, "write "+d.write("agents", `{ NAME = ["TOOLSET"] }`), "http.permissions has no agents")
	}
	if mode := http.values["mode"]; mode.value == "dynamic" {
		d.fail(mode.line, "take mode out", "with http.permissions nobody can switch anything: mode cannot be dynamic")
	}
	return p
}

// permitted are the toolsets of each agent.
func (d *decoder) permitted(t table, agents []string) map[string][]string {
	all := map[string][]string{}
	for _, m := range d.members(t, "agents", "http.permissions.agents", `["reading"]`) {
		path := "http.permissions.agents." + m.key
		if len(agents) > 0 && !slices.Contains(agents, m.key) {
			d.fail(m.line, agentInstead(m.key, agents), "http.permissions names the agent %s, which is not in agent_policies", shown(m.key))
		}
		nodes, ok := m.value.([]node)
		if !ok {
			d.fail(m.line, "write "+d.write(sanitize.Line(m.key), `["reading"]`), "%s is %s where an array of strings is expected", sanitize.Line(path), m.kind())
		}
		all[m.key] = d.setNames(path, nodes)
	}
	if d.Agent != "" && len(agents) > 0 {
		all = map[string][]string{d.Agent: all[d.Agent]}
	}
	return all
}

// setNames are names of toolsets of the file.
func (d *decoder) setNames(path string, nodes []node) []string {
	names := []string{}
	for _, n := range nodes {
		name, ok := n.value.(string)
		switch {
		case !ok:
			d.fail(n.line, "write names of toolsets in quotes", "%s holds %s where a string is expected", sanitize.Line(path), n.kind())
		case !slices.ContainsFunc(d.sets, func(s Toolset) bool { return s.Name == name }):
			d.fail(n.line, d.setOf(name), "%s names the toolset %s, which is not in the file", sanitize.Line(path), shown(name))
		}
		names = append(names, name)
	}
	return names
}

// setOf says what to write instead of a name that no toolset has.
func (d *decoder) setOf(name string) string {
	return strings.ReplaceAll(d.setInstead(strings.TrimPrefix(name, "toolset:")), "toolset:", "")
}
