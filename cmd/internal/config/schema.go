package config

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema returns the JSON Schema of tools.toml, indented. It keeps to words of draft-07, which editors' TOML plugins know, and is
// made by the reader itself: every table is read once while it is empty, and what the reader would take is noted. A file
// that it refuses is refused by [Load]; whether globs, references and names of servers are right only Load can tell.
func Schema() []byte {
	all := tables()
	for path, inner := range all {
		if path != "" {
			within, key := "", path
			if i := strings.LastIndex(path, "."); i >= 0 {
				within, key = path[:i], path[i+1:]
			}
			all[within].outline.forms[key] = inner.as(inner.outline.schema())
		}
	}
	for path, inner := range all {
		inner.outline.describe(path)
	}
	f := all[""].outline.schema()
	f["$schema"], f["title"] = "http://json-schema.org/draft-07/schema#", "tools.toml of toolman"
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		panic("config: a schema of strings and numbers cannot be written: " + err.Error())
	}
	return out.Bytes()
}

// An innerTable is a table within the file, and how it stands there: as it is, in an array, or under names.
type innerTable struct {
	outline *outline
	as      func(form) form
}

// tables are the file itself, under "", and the tables in it by the path that they stand under.
func tables() map[string]innerTable {
	inner := func(read func(*decoder, node), as func(form) form) innerTable { return innerTable{outlineOf(read), as} }
	alone := func(f form) form { return f }
	return map[string]innerTable{
		"":                 inner(func(d *decoder, n node) { d.config(n) }, alone),
		"servers":          inner(func(d *decoder, n node) { d.server(n) }, listForm),
		"servers.oauth":    inner(func(d *decoder, n node) { d.oauth(d.holding("oauth", n)) }, alone),
		"toolsets":         inner(func(d *decoder, n node) { d.toolset(member{"NAME", n}) }, mapForm),
		"agent_policies":   inner(func(d *decoder, n node) { d.agent(d.agentTable("agent_policies.NAME", n), "agent_policies.NAME", nil) }, mapForm),
		"default_policy":   inner(func(d *decoder, n node) { d.defaultPolicy(d.holding("default_policy", n)) }, alone),
		"task_rules":       inner(func(d *decoder, n node) { d.taskRule(n, nil) }, listForm),
		"http":             inner(func(d *decoder, n node) { d.http(d.holding("http", n), nil) }, alone),
		"http.permissions": inner(func(d *decoder, n node) { d.permissions(d.holding("permissions", n), nil) }, alone),
		"http.limits":      inner(func(d *decoder, n node) { d.limits(d.holding("limits", n)) }, alone),
		"http.jwt":         inner(func(d *decoder, n node) { d.jwt(d.holding("jwt", n)) }, alone),
	}
}

// holding is a table with nothing but n, under key.
func (d *decoder) holding(key string, n node) table {
	return table{d: d, values: map[string]node{key: n}}
}

// describe gives every key its sentence.
func (o *outline) describe(path string) {
	for key, f := range o.forms {
		if text := descriptions()[strings.TrimPrefix(path+"."+key, ".")]; text != "" {
			f["description"] = text
		}
	}
}
