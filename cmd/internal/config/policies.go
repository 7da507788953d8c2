package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/deny"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// policies decodes exposed_tools, agent_policies, default_policy and task_rules, and adds what the
// task rules say to the rest.
func (d *decoder) policies(t table.Table, c *Config) {
	names := d.serverNames(c.Servers)
	rules := &policy.Rules{File: filepath.Base(d.File)}
	rules.Exposed = d.lists(t, "exposed_tools", "exposed_tools", names)
	rules.Agents = d.agents(t, names)
	rules.Default = d.defaultPolicy(t)
	if !slices.ContainsFunc([]string{"exposed_tools", "agent_policies", "default_policy"}, t.Has) {
		rules = nil
	}
	d.checkAgent(t, rules)
	var tasks []policy.TaskRule
	for _, n := range t.Tables("task_rules", "rule", `"keywords": […], "tools": {…}`) {
		if task, active := d.taskRule(n, names); task.Matches(d.options.Service, d.options.Task) {
			tasks = append(tasks, task)
			c.ActiveToolsets = append(c.ActiveToolsets, active...)
		}
	}
	c.Rules = rules.With(d.options.Agent, tasks)
}

// serverNames returns the names that policies can use, each once. No two servers may have a name
// that is given to one of them by its key.
func (d *decoder) serverNames(servers []Server) []string {
	first := map[string]Server{}
	var names []string
	for _, s := range servers {
		other, taken := first[s.Name]
		switch {
		case taken && (s.Name != s.Namespace || other.Name != other.Namespace):
			d.Fail(s.Line, "give one of the two another name", "the name %s is that of the server in line %d", source.Shown(s.Name), other.Line)
		case !taken && s.Name != "":
			first[s.Name] = s
			names = append(names, s.Name)
		}
	}
	return names
}

// lists reads a table with lists by server.
func (d *decoder) lists(t table.Table, key, path string, servers []string) map[string]policy.List {
	return d.listsOf(t, key, path, `["get_*"]`, table.Glob, func(m source.Member) {
		if !slices.Contains(servers, m.Key) {
			d.failUnknown(m.Line, sanitize.Line(path), "server", m.Key, servers)
		}
	})
}

// listsOf reads a table of arrays of strings. It calls each with each member, and check with the
// place of its value.
func (d *decoder) listsOf(t table.Table, key, path, example string, check func(at string) table.Check, each func(m source.Member)) map[string]policy.List {
	lists := map[string]policy.List{}
	for _, m := range t.Members(key, sanitize.Line(path), t.Instead("NAME", example)+" in it") {
		each(m)
		at := sanitize.Line(path + "." + m.Key)
		elems, ok := m.Value.([]source.Node)
		if !ok {
			d.Fail(m.Line, "write "+d.Write(sanitize.Line(m.Key), example), "%s is %s where an array of strings is expected", at, m.Kind())
		}
		lists[m.Key] = policy.List{Line: m.Line, Entries: t.Elements(at, example, elems, check(at))}
	}
	return lists
}

// failUnknown adds a problem with a name that no server, or no agent, has. where is what names it.
func (d *decoder) failUnknown(line int, where, kind, name string, known []string) {
	place, otherwise := "the file", "the "+kind+"s are "+sanitize.Line(strings.Join(known, ", "))
	if kind == "agent" {
		place = "agent_policies"
	} else if len(known) == 0 {
		otherwise = "give a server that name: " + `name = "…"`
	}
	d.Fail(line, cli.DidYouMean(name, known, "", otherwise), "%s names the %s %s, which is not in %s", where, kind, source.Shown(name), place)
}

// agents decodes agent_policies, with what agents inherit.
func (d *decoder) agents(t table.Table, servers []string) map[string]policy.Agent {
	agents := map[string]policy.Agent{}
	names := agentNames(t)
	for _, m := range t.Members("agent_policies", "agent_policies", t.Instead("NAME", "{…}")+" in it") {
		path := "agent_policies." + m.Key
		switch _, ok := m.Value.([]source.Member); {
		case m.Key == "":
			d.Fail(m.Line, "give the agent a name", "agent_policies holds an agent without a name")
		case !ok:
			d.Fail(m.Line, "write a table with allowed_servers", "%s is %s where a table is expected", sanitize.Line(path), m.Kind())
		default:
			agents[m.Key] = d.agent(m.Node, path, servers, names)
		}
	}
	agents, problems := policy.Inherit(agents)
	for _, p := range problems {
		d.Fail(p.Line, p.Hint, "%s", sanitize.Line(p.What))
	}
	return agents
}

// agent decodes a policy. agents are the names of all.
func (d *decoder) agent(n source.Node, path string, servers, agents []string) policy.Agent {
	const key, example = "allowed_servers", `["github"]`
	at := sanitize.Line(path)
	t := table.New(d.Problems, n, "in "+at, "inherits", key, "read_only", "tool_overrides", "deny")
	a := policy.Agent{Overrides: d.lists(t, "tool_overrides", path+".tool_overrides", servers), Inherits: d.bases(t, at, agents), Deny: deny.Read(t, at)}
	if !t.Has(key) && !t.Has("inherits") {
		d.Fail(t.Line, t.Instead(key, example)+`, or ["*"] for all servers`, "%s has no allowed_servers", at)
	}
	a.Servers = policy.List{Line: t.LineOf(key), Entries: t.StringsAt(key, at+"."+key, example, table.Glob(at+"."+key))}
	for _, e := range a.Servers.Entries {
		if e.Text != "*" && !slices.ContainsFunc(servers, e.Matches) {
			d.failUnknown(e.Line, at+"."+key, "server", e.Text, servers)
		}
	}
	a.ReadOnly = policy.Flag{On: t.Bool("read_only", false), Line: t.LineOf("read_only")}
	return a
}

// bases reads inherits, a name or several. at is the policy's place.
func (d *decoder) bases(t table.Table, at string, agents []string) []policy.Entry {
	const key, example = "inherits", `"base"`
	n := t.At(key)
	elems, several := n.Value.([]source.Node)
	if _, one := n.Value.(string); one {
		elems = []source.Node{n}
	} else if t.Has(key) && !several {
		d.Fail(n.Line, t.Instead(key, example), "%s.%s is %s where a name or an array of names is expected", at, key, n.Kind())
	}
	names := t.Elements(at+"."+key, "["+example+"]", elems, func(string) (problem, hint string) { return "", "" })
	for i, e := range names {
		if _, ok := elems[i].Value.(string); ok && !slices.Contains(agents, e.Text) {
			d.failUnknown(e.Line, at+"."+key, "agent", e.Text, agents)
		}
	}
	return names
}

func (d *decoder) defaultPolicy(root table.Table) policy.Flag {
	const key = "allow_unknown_tools"
	t, _ := root.Inner("default_policy", "default_policy", key)
	return policy.Flag{On: t.Bool(key, false), Line: t.LineOf(key)}
}

// agentNames returns the keys of agent_policies.
func agentNames(t table.Table) (names []string) {
	all, _ := t.At("agent_policies").Value.([]source.Member)
	for _, m := range all {
		names = append(names, m.Key)
	}
	return names
}

// checkAgent adds a problem if the file does not have the agent of the options.
func (d *decoder) checkAgent(t table.Table, rules *policy.Rules) {
	agent := d.options.Agent
	if agent == "" {
		return
	}
	line, given := max(1, t.LineOf("agent_policies")), "--agent"
	if t.At("agent").Value == agent {
		line, given = t.LineOf("agent"), "agent"
	}
	hint := "add [agent_policies.NAME], or leave " + given + " out"
	if rules != nil {
		if _, ok := rules.Agents[agent]; ok {
			return
		}
		if len(rules.Agents) > 0 {
			names := slices.Sorted(maps.Keys(rules.Agents))
			hint = cli.DidYouMean(agent, names, "", "the agents are "+sanitize.Line(strings.Join(names, ", ")))
		}
	}
	d.Fail(line, hint, "agent_policies has no agent %s", source.Shown(agent))
}

// taskRule decodes one element of task_rules, and what it activates.
func (d *decoder) taskRule(n source.Node, servers []string) (policy.TaskRule, []Active) {
	const keywords = `["test"]`
	t := table.New(d.Problems, n, "in a task rule", "service", "keywords", "tools", "active_toolsets")
	rule := policy.TaskRule{
		Line:     n.Line,
		Services: t.Globs("service", `["*-api"]`),
		Tools:    d.lists(t, "tools", "tools", servers),
	}
	rule.Keywords = table.Texts(t.Strings("keywords", keywords, func(word string) (problem, hint string) {
		if word == "" {
			return "keywords holds an empty word", "take it out"
		}
		return "", ""
	}))
	active := activeToolsets(t, d.sets, true)
	if len(rule.Services)+len(rule.Keywords) == 0 {
		d.Fail(n.Line, t.Instead("keywords", keywords)+" or "+d.Write("service", `["*-api"]`)+`, with "*" for every service`, "this task rule does not say for what")
	}
	if !t.Has("tools") && !t.Has("active_toolsets") {
		d.Fail(n.Line, "write tools with a list for each server, or active_toolsets", "this task rule adds nothing")
	}
	return rule, active
}
