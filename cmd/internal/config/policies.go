package config

import (
	"path/filepath"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
	"toolman/router/suggest"
)

// policies decodes exposed_tools, agent_policies, default_policy and task_rules, and has the task rules add to the rest.
func (d *decoder) policies(t table, c *Config) {
	names := d.serverNames(c.Servers)
	rules := &policy.Rules{File: filepath.Base(d.file)}
	rules.Exposed = d.lists(t, "exposed_tools", "exposed_tools", names)
	rules.Agents = d.agents(t, names)
	rules.Default = d.defaultPolicy(t)
	t.note("default_policy", form{"type": "object"})
	if !slices.ContainsFunc([]string{"exposed_tools", "agent_policies", "default_policy"}, t.has) {
		rules = nil
	}
	d.checkAgent(t, rules)
	var tasks []policy.TaskRule
	for _, n := range d.elements(t, "task_rules", "rule", `"keywords": […], "tools": {…}`) {
		if task, active := d.taskRule(n, names); task.Matches(d.Service, d.Task) {
			tasks = append(tasks, task)
			c.ActiveToolsets = append(c.ActiveToolsets, active...)
		}
	}
	c.Rules = rules.With(d.Agent, tasks)
}

// serverNames are the names that policies can use, each once. A name that one server was given is no other's.
func (d *decoder) serverNames(servers []Server) []string {
	first := map[string]Server{}
	var names []string
	for _, s := range servers {
		other, taken := first[s.Name]
		switch {
		case taken && (s.Name != s.Namespace || other.Name != other.Namespace):
			d.fail(s.Line, "give one of the two another name", "the name %s is that of the server in line %d", shown(s.Name), other.Line)
		case !taken && s.Name != "":
			first[s.Name] = s
			names = append(names, s.Name)
		}
	}
	return names
}

// lists are the lists by server under key.
func (d *decoder) lists(t table, key, path string, names []string) map[string]policy.List {
	const example = `["get_*"]`
	lists := map[string]policy.List{}
	for _, m := range d.members(t, key, path, example) {
		at := path + "." + m.key
		if !slices.Contains(names, m.key) {
			d.fail(m.line, serverInstead(m.key, names), "%s names the server %s, which is not in the file", sanitize.Line(path), shown(m.key))
		}
		nodes, ok := m.value.([]node)
		if !ok {
			d.fail(m.line, "write "+d.write(sanitize.Line(m.key), example), "%s is %s where an array of strings is expected", sanitize.Line(at), m.kind())
		}
		lists[m.key] = policy.List{Line: m.line, Entries: d.entries(sanitize.Line(at), nodes)}
	}
	return lists
}

// serverInstead says what to write instead of a name that no server has.
func serverInstead(name string, names []string) string {
	if near := suggest.Nearest(name, names); near != "" {
		return "did you mean " + sanitize.Line(near) + "?"
	}
	if len(names) == 0 {
		return "give a server that name: " + `name = "…"`
	}
	return "the servers are " + sanitize.Line(strings.Join(names, ", "))
}

// members are the keys of the table that is the value of key.
func (d *decoder) members(t table, key, path, example string) []member {
	t.note(key, mapForm(stringsForm()))
	n, ok := t.values[key]
	if !ok {
		return nil
	}
	all, ok := n.value.([]member)
	if !ok {
		d.fail(n.line, "write "+d.write("NAME", example)+" in it", "%s is %s where a table is expected", sanitize.Line(path), n.kind())
	}
	return all
}

func (d *decoder) agents(t table, names []string) map[string]policy.Agent {
	agents := map[string]policy.Agent{}
	for _, m := range d.members(t, "agent_policies", "agent_policies", "{…}") {
		path := "agent_policies." + m.key
		switch _, ok := m.value.([]member); {
		case m.key == "":
			d.fail(m.line, "give the agent a name", "agent_policies holds an agent without a name")
		case !ok:
			d.fail(m.line, "write a table with allowed_servers", "%s is %s where a table is expected", sanitize.Line(path), m.kind())
		default:
			agents[m.key] = d.agent(d.agentTable(path, m.node), path, names)
		}
	}
	return agents
}

func (d *decoder) agentTable(path string, n node) table {
	return d.table(n, "in "+sanitize.Line(path), "allowed_servers", "read_only", "tool_overrides")
}

func (d *decoder) agent(t table, path string, names []string) policy.Agent {
	a := policy.Agent{Overrides: d.lists(t, "tool_overrides", path+".tool_overrides", names)}
	const example = `["github"]`
	t.need("allowed_servers")
	if !t.has("allowed_servers") {
		d.fail(t.line, "write "+d.write("allowed_servers", example)+`, or ["*"] for all servers`, "%s has no allowed_servers", sanitize.Line(path))
	}
	a.Servers = policy.List{Line: t.values["allowed_servers"].line, Entries: d.entries(sanitize.Line(path)+".allowed_servers", t.array("allowed_servers", example))}
	for _, e := range a.Servers.Entries {
		if e.Text != "*" && !slices.ContainsFunc(names, e.Matches) {
			d.fail(e.Line, serverInstead(e.Text, names), "%s.allowed_servers names the server %s, which is not in the file", sanitize.Line(path), shown(e.Text))
		}
	}
	a.ReadOnly = policy.Flag{On: t.boolean("read_only", false), Line: t.values["read_only"].line}
	return a
}

func (d *decoder) defaultPolicy(t table) policy.Flag {
	n, ok := t.values["default_policy"]
	if !ok {
		return policy.Flag{}
	}
	if _, ok := n.value.([]member); !ok {
		d.fail(n.line, "write "+d.write("allow_unknown_tools", "true")+" in it", "default_policy is %s where a table is expected", n.kind())
		return policy.Flag{}
	}
	p := d.table(n, "in default_policy", "allow_unknown_tools")
	return policy.Flag{On: p.boolean("allow_unknown_tools", false), Line: p.values["allow_unknown_tools"].line}
}

// agentInstead says what to write instead of a name that no agent has.
func agentInstead(name string, agents []string) string {
	if near := suggest.Nearest(name, agents); near != "" {
		return "did you mean " + sanitize.Line(near) + "?"
	}
	return "the agents are " + sanitize.Line(strings.Join(agents, ", "))
}

// agentNames are the keys of agent_policies.
func agentNames(t table) []string {
	var names []string
	all, _ := t.values["agent_policies"].value.([]member)
	for _, m := range all {
		names = append(names, m.key)
	}
	return names
}

// checkAgent notes that the agent is none that the file knows.
func (d *decoder) checkAgent(t table, rules *policy.Rules) {
	if d.Agent == "" {
		return
	}
	var names []string
	if rules != nil {
		if _, ok := rules.Agents[d.Agent]; ok {
			return
		}
		for name := range rules.Agents {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	hint := "add [agent_policies.NAME], or leave --agent out"
	if len(names) > 0 {
		hint = agentInstead(d.Agent, names)
	}
	d.fail(max(1, t.values["agent_policies"].line), hint, "agent_policies has no agent %s", shown(d.Agent))
}
