package resolve

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/router/policy"
)

// File returns what of the configuration at path applies to o's agent, service and task, as a file
// of the given format ("toml" or "json"). No reference is replaced, and none has to lead anywhere.
func File(path string, o config.Options, format string) ([]byte, error) {
	return From(source.Source{Path: path}, o, format)
}

// From is [File] for a configuration that may be in no file.
func From(s source.Source, o config.Options, format string) ([]byte, error) {
	o.HTTP, o.KeepReferences = false, true
	c, err := config.LoadFrom(s, o)
	if err != nil {
		return nil, err
	}
	root, err := config.Tree(s)
	if err != nil {
		return nil, err
	}
	r := resolver{Config: c, file: plain(root).(map[string]any), withheld: reference.Variables{}}
	if err := r.resolve(root); err != nil {
		return nil, err
	}
	if format == "json" {
		return cli.IndentedJSON(r.file), nil
	}
	var out bytes.Buffer
	enc := toml.NewEncoder(&out)
	enc.Indent = ""
	err = enc.Encode(r.file)
	return out.Bytes(), err
}

// A resolver changes a file to what applies.
type resolver struct {
	*config.Config
	file     map[string]any
	withheld reference.Variables // that what was removed refers to
}

// resolve replaces what task rules change, and removes what belongs to other agents. root is the
// whole file.
func (r *resolver) resolve(root source.Node) error {
	for _, key := range []string{"task_rules", "exposed_tools", "agent", "agent_policies", "default_policy"} {
		delete(r.file, key)
	}
	r.setActive()
	if err := r.removeServers(); err != nil {
		return err
	}
	if r.Rules != nil {
		r.file["default_policy"] = map[string]any{"allow_unknown_tools": r.Rules.Default.On}
		set(r.file, "exposed_tools", r.lists(r.Rules.Exposed))
		agents := map[string]any{}
		for name, a := range r.Rules.Agents {
			agents[name] = r.agent(a)
		}
		set(r.file, "agent_policies", agents)
	}
	if r.Agent != "" {
		r.file["agent"] = r.Agent
		r.removeAgents(root)
	}
	delete(r.withheld, "session") // ${session.KEY} is not a variable
	if len(r.withheld) > 0 {
		for _, name := range r.WithholdEnv {
			r.withheld[name] = true
		}
		r.file["withhold_env"] = slices.Sorted(maps.Keys(r.withheld))
	}
	return nil
}

// setActive sets active_toolsets, with what task rules add.
func (r *resolver) setActive() {
	var patterns []string
	given := false
	for _, a := range r.ActiveToolsets {
		text := a.Pattern
		if a.Toolset != "" {
			text = "toolset:" + a.Toolset
		}
		if !slices.Contains(patterns, text) {
			patterns = append(patterns, text)
		}
		given = given || a.Because == ""
	}
	if given {
		r.file["active_toolsets"] = patterns
	}
}

// removeServers removes the servers of which nothing may be used. Without an agent, servers of any
// agent stay.
func (r *resolver) removeServers() error {
	if r.Rules == nil || r.Agent == "" && len(r.Rules.Agents) > 0 {
		return nil
	}
	p, err := r.Rules.For(r.Agent)
	if err != nil {
		return err
	}
	written, _ := r.file["servers"].([]any)
	var servers []config.Server
	kept := []any{}
	for i, s := range r.Servers {
		if s.Enabled && p.Opens(s.Name) {
			servers, kept = append(servers, s), append(kept, written[i])
			continue
		}
		maps.Copy(r.withheld, s.Refers)
	}
	r.Servers = servers
	r.file["servers"] = kept
	r.removeDefaults()
	return nil
}

// removeDefaults removes the names of the default toolsets of servers that are not in the result.
func (r *resolver) removeDefaults() {
	gone := func(name string) bool {
		return slices.ContainsFunc(r.Toolsets, func(s config.Toolset) bool { return s.Name == name && s.Server != "" && !r.has(s.Server) })
	}
	if active, ok := r.file["active_toolsets"].([]string); ok {
		r.file["active_toolsets"] = slices.DeleteFunc(active, func(text string) bool {
			name, isSet := strings.CutPrefix(text, "toolset:")
			return isSet && gone(name)
		})
	}
	http, _ := r.file["http"].(map[string]any)
	permissions, _ := http["permissions"].(map[string]any)
	agents, _ := permissions["agents"].(map[string]any)
	for _, of := range []map[string]any{permissions, agents} {
		for key, value := range of {
			if names, ok := value.([]any); ok {
				of[key] = slices.DeleteFunc(names, func(name any) bool { text, _ := name.(string); return gone(text) })
			}
		}
	}
}

// has reports whether a server of the result has this name.
func (r *resolver) has(name string) bool {
	return slices.ContainsFunc(r.Servers, func(s config.Server) bool { return s.Name == name })
}

// agent returns the policy of an agent, for the servers of the result.
func (r *resolver) agent(a policy.Agent) map[string]any {
	servers := slices.DeleteFunc(slices.Clone(a.Servers.Entries), func(e policy.Entry) bool {
		return e.Text != "*" && !slices.ContainsFunc(r.Servers, func(s config.Server) bool { return e.Matches(s.Name) })
	})
	out := map[string]any{"allowed_servers": append([]string{}, table.Texts(servers)...)}
	if a.ReadOnly.On {
		out["read_only"] = true
	}
	set(out, "tool_overrides", r.lists(a.Overrides))
	if len(a.Deny) > 0 {
		out["deny"] = denied(a.Deny)
	}
	return out
}

// denied returns rules of deny, those that were inherited, too.
func denied(rules []policy.DenyRule) (all []map[string]any) {
	for _, d := range rules {
		rule, where := map[string]any{"tool": d.Tool.Text}, map[string]any{}
		for _, c := range d.Where {
			where[c.Argument] = c.Values
			if len(c.Values) == 1 {
				where[c.Argument] = c.Values[0]
			}
		}
		set(rule, "where", where)
		all = append(all, rule)
	}
	return all
}

// lists returns the lists for servers of the result.
func (r *resolver) lists(all map[string]policy.List) map[string]any {
	out := map[string]any{}
	for server, l := range all {
		if r.has(server) {
			out[server] = append([]string{}, table.Texts(l.Entries)...)
		}
	}
	return out
}

// removeAgents removes from the http table what belongs to other agents.
func (r *resolver) removeAgents(root source.Node) {
	http, _ := r.file["http"].(map[string]any)
	permissions, _ := http["permissions"].(map[string]any)
	isOther := func(agent string) bool { return len(r.Rules.Agents) > 0 && agent != r.Agent }
	for _, inner := range []any{http["tokens"], permissions["agents"]} {
		byAgent, _ := inner.(map[string]any)
		maps.DeleteFunc(byAgent, func(agent string, _ any) bool { return isOther(agent) })
	}
	for _, key := range []string{"log_readers", "metrics_readers"} {
		if readers, ok := http[key].([]any); ok {
			http[key] = slices.DeleteFunc(readers, func(agent any) bool { return isOther(agent.(string)) })
		}
	}
	for _, m := range members(at(at(root, "http"), "tokens")) {
		if isOther(m.Key) {
			maps.Copy(r.withheld, reference.VariablesIn(m.Node))
		}
	}
}

// at returns the value of a key of a table.
func at(n source.Node, key string) source.Node {
	for _, m := range members(n) {
		if m.Key == key {
			return m.Node
		}
	}
	return source.Node{}
}

// members returns the members of a table.
func members(n source.Node) []source.Member {
	all, _ := n.Value.([]source.Member)
	return all
}

// set sets a key unless its value is empty.
func set(file map[string]any, key string, value map[string]any) {
	if len(value) > 0 {
		file[key] = value
	}
}

// plain returns a node as the encoders take it.
func plain(n source.Node) any {
	switch v := n.Value.(type) {
	case []source.Member:
		members := map[string]any{}
		for _, m := range v {
			if m.Value != nil { // TOML has no null; only $schema may be one
				members[m.Key] = plain(m.Node)
			}
		}
		return members
	case []source.Node:
		all := []any{}
		for _, n := range v {
			all = append(all, plain(n))
		}
		return all
	default:
		return v
	}
}
