package config

import (
	"bytes"
	_ "embed"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/router/policy"
)

// Resolve reads the file at path as [Load] does and returns, as a file of the given format ("toml"
// or "json"), what applies to o's agent, service and task: without task rules, with what they add,
// and without the policies and tokens of other agents. The rest, including references, is as it was
// written. Loaded from the same folder for the same agent, it gives the same Config, except for
// lines and for Referred, which lacks what the tokens of other agents refer to.
func Resolve(path string, o Options, format string) ([]byte, error) {
	return ResolveFrom(source.Source{Path: path}, o, format)
}

// ResolveFrom is [Resolve] for a configuration that may be in no file.
func ResolveFrom(s source.Source, o Options, format string) ([]byte, error) {
	doc, err := s.Read()
	if err != nil {
		return nil, err
	}
	c, err := decode(s, doc, o)
	if err != nil {
		return nil, err
	}
	file := plain(withServerArray(&source.Problems{}, doc.Root)).(map[string]any)
	c.resolve(file)
	if format == "json" {
		return cli.IndentedJSON(file), nil
	}
	var out bytes.Buffer
	enc := toml.NewEncoder(&out)
	enc.Indent = ""
	err = enc.Encode(file)
	return out.Bytes(), err
}

// resolve replaces what task rules change, and removes what belongs to other agents.
func (c *Config) resolve(file map[string]any) {
	for _, key := range []string{"task_rules", "exposed_tools", "agent_policies", "default_policy"} {
		delete(file, key)
	}
	var patterns []string
	given := false
	for _, a := range c.ActiveToolsets {
		written := a.Pattern
		if a.Toolset != "" {
			written = "toolset:" + a.Toolset
		}
		if !slices.Contains(patterns, written) {
			patterns = append(patterns, written)
		}
		given = given || a.Because == ""
	}
	if given {
		file["active_toolsets"] = patterns
	}
	if c.Rules == nil {
		return
	}
	file["default_policy"] = map[string]any{"allow_unknown_tools": c.Rules.Default.On}
	set(file, "exposed_tools", lists(c.Rules.Exposed))
	agents := map[string]any{}
	for name, a := range c.Rules.Agents {
		agent := map[string]any{"allowed_servers": append([]string{}, table.Texts(a.Servers.Entries)...)}
		if a.ReadOnly.On {
			agent["read_only"] = true
		}
		set(agent, "tool_overrides", lists(a.Overrides))
		agents[name] = agent
	}
	set(file, "agent_policies", agents)
	if c.Agent != "" {
		http, _ := file["http"].(map[string]any)
		permissions, _ := http["permissions"].(map[string]any)
		for _, inner := range []any{http["tokens"], permissions["agents"]} {
			byAgent, _ := inner.(map[string]any)
			maps.DeleteFunc(byAgent, func(agent string, _ any) bool { return agent != c.Agent })
		}
	}
}

// set sets a key unless its value is empty.
func set(file map[string]any, key string, value map[string]any) {
	if len(value) > 0 {
		file[key] = value
	}
}

func lists(all map[string]policy.List) map[string]any {
	out := map[string]any{}
	for server, l := range all {
		out[server] = append([]string{}, table.Texts(l.Entries)...)
	}
	return out
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

//go:embed tools.schema.json
var schema []byte

// Schema returns the JSON Schema of tools.toml, indented. It uses the keywords of draft-07, which
// editors' TOML plugins know. Load refuses every file that it refuses; only Load checks globs,
// references and names of servers.
func Schema() []byte { return schema }
