package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"toolman/router/policy"
)

// Resolve reads the file at path as [Load] does and returns what it comes to for o's agent, service and task, as a file of the
// given format ("toml" or "json"): without task rules, and with what they add; without the policies and tokens of other agents. The rest, references
// included, is as it was written. Loaded again from the same folder for the same agent it gives the same Config, but for lines and
// for Referred, which knows nothing of what the tokens of other agents refer to: do not set those variables where it is used.
func Resolve(path string, o Options, format string) ([]byte, error) {
	c, err := Load(path, o)
	if err != nil {
		return nil, err
	}
	text, err := read(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	root, problem := parseText(formatOf(path), text)
	if problem != nil {
		problem.File = path
		return nil, &Error{Problems: []Problem{*problem}}
	}
	file := plain(root).(map[string]any)
	c.resolve(file)
	return encode(file, format)
}

// resolve replaces what task rules are about.
func (c *Config) resolve(file map[string]any) {
	for _, key := range []string{"task_rules", "exposed_tools", "agent_policies", "default_policy"} {
		delete(file, key)
	}
	if patterns := c.patterns(); len(patterns) > 0 {
		file["active_toolsets"] = patterns
	}
	if c.Rules == nil {
		return
	}
	file["default_policy"] = map[string]any{"allow_unknown_tools": c.Rules.Default.On}
	set(file, "exposed_tools", written(c.Rules.Exposed))
	agents := map[string]any{}
	for name, a := range c.Rules.Agents {
		agent := map[string]any{"allowed_servers": append([]string{}, texts(a.Servers.Entries)...)}
		if a.ReadOnly.On {
			agent["read_only"] = true
		}
		set(agent, "tool_overrides", written(a.Overrides))
		agents[name] = agent
	}
	set(file, "agent_policies", agents)
	c.resolveTokens(file)
}

// resolveTokens takes out the tokens, and the toolsets, of other agents.
func (c *Config) resolveTokens(file map[string]any) {
	http, _ := file["http"].(map[string]any)
	tokens, _ := http["tokens"].(map[string]any)
	if c.Agent != "" {
		others := func(agent string, _ any) bool { return agent != c.Agent }
		permissions, _ := http["permissions"].(map[string]any)
		permitted, _ := permissions["agents"].(map[string]any)
		maps.DeleteFunc(tokens, others)
		maps.DeleteFunc(permitted, others)
	}
}

// patterns are those of active_toolsets, each once.
func (c *Config) patterns() []string {
	var all []string
	for _, a := range c.ActiveToolsets {
		if !slices.Contains(all, a.Pattern) {
			all = append(all, a.Pattern)
		}
	}
	return all
}

// set gives table a key unless there is nothing in it.
func set(table map[string]any, key string, value map[string]any) {
	if len(value) > 0 {
		table[key] = value
	}
}

func written(lists map[string]policy.List) map[string]any {
	out := map[string]any{}
	for server, l := range lists {
		out[server] = append([]string{}, texts(l.Entries)...)
	}
	return out
}

// plain is a node as the encoders take it.
func plain(n node) any {
	switch v := n.value.(type) {
	case []member:
		table := map[string]any{}
		for _, m := range v {
			table[m.key] = plain(m.node)
		}
		maps.DeleteFunc(table, func(_ string, v any) bool { return v == nil }) // TOML has no null; only $schema may be one
		return table
	case []node:
		return plainArray(v)
	default:
		return v
	}
}

// plainArray is an array of tables where it can be, since TOML writes that in another way.
func plainArray(nodes []node) any {
	var tables []map[string]any
	var all []any
	for _, n := range nodes {
		v := plain(n)
		all = append(all, v)
		if t, ok := v.(map[string]any); ok {
			tables = append(tables, t)
		}
	}
	if len(tables) > 0 && len(tables) == len(all) {
		return tables
	}
	return append([]any{}, all...)
}

func encode(file map[string]any, format string) ([]byte, error) {
	var out bytes.Buffer
	if format == "json" {
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err := enc.Encode(file)
		return out.Bytes(), err
	}
	enc := toml.NewEncoder(&out)
	enc.Indent = ""
	err := enc.Encode(file)
	return out.Bytes(), err
}
