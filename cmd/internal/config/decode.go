package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// A decoder turns the tree of a file into a Config and gathers what is wrong on the way.
type decoder struct {
	// immutable
	file   string // as shown in problems
	dir    string // the file's folder, absolute
	format string
	Options
	outline *outline // nil but for [Schema]

	sets        []Toolset // those of the file, as soon as they are read
	sessionKeys []string  // http.session_config_keys
	ofHTTP      Variables // what http refers to
	problems    []Problem
	omitted     int
	secrets     []string
	known       map[string]bool // what is in secrets
	fromFile    int             // bytes that ${file:…} brought in
}

// maxNoted bounds the problems that are kept while there may be others on earlier lines.
const maxNoted = 50 * maxProblems

// fail notes a problem, once.
func (d *decoder) fail(line int, hint, format string, args ...any) {
	p := Problem{File: d.file, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
	switch {
	case len(d.problems) == maxNoted:
		d.omitted++
	case !slices.Contains(d.problems, p):
		d.problems = append(d.problems, p)
	}
}

// err is all that was noted, or nil.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	n := min(len(d.problems), maxProblems)
	return &Error{Problems: d.problems[:n], Omitted: len(d.problems) - n + d.omitted}
}

// secret notes a value that is never to be shown.
func (d *decoder) secret(value string) {
	if value != "" && !d.known[value] {
		d.known[value] = true
		d.secrets = append(d.secrets, value)
	}
}

// write is how a key and its value are written in the file's format.
func (d *decoder) write(key, value string) string {
	if d.format == "json" {
		return fmt.Sprintf("%q: %s", key, value)
	}
	return key + " = " + value
}

// config decodes the whole file.
func (d *decoder) config(root node) *Config {
	t := d.table(root, "at the top level", "active_toolsets", "settle_ms", "catalog_bytes", "uri_separator",
		"activation_mode", "always_load", "meta_tools", "allow_stale_refs", "unpinned", "toolsets", "servers",
		"exposed_tools", "agent_policies", "default_policy", "task_rules", "dangerous_tools", "confirm", "audit_log", "audit_arguments", "http", "$schema")
	t.note("$schema", form{})
	t.note("http", form{})
	d.sets, d.sessionKeys, d.ofHTTP = d.toolsets(t), sessionKeys(t), variablesIn(t.values["http"])
	c := &Config{
		ActiveToolsets: d.activeToolsets(t, false),
		Settle:         time.Duration(t.integer("settle_ms", 1000, 0, 60_000)) * time.Millisecond,
		CatalogBytes:   t.catalogBytes("catalog_bytes"),
		URISeparator:   t.choice("uri_separator", "_", "+"),
		ActivationMode: t.choice("activation_mode", "auto", "mutate", "call", "static"),
		AlwaysLoad:     t.maybe("always_load"),
		MetaTools:      d.metaTools(t),
		AllowStaleRefs: t.boolean("allow_stale_refs", false),
		Unpinned:       texts(d.entries("unpinned", t.array("unpinned", `["notes_note://*"]`))),
		Toolsets:       d.sets,
		Agent:          d.Agent,
		Dangers:        d.dangers(t),
	}
	servers := d.elements(t, "servers", "server", `"namespace": …, "command": …`)
	for _, n := range servers {
		c.Servers = append(c.Servers, d.server(n))
	}
	noteReferences(c.Servers, servers, d.ofHTTP)
	d.policies(t, c)
	c.HTTP = d.http(t, agentNames(t))
	c.AuditLog, c.AuditArguments = d.auditLog(t)
	return c
}

// entries are names and globs, each with its line.
func (d *decoder) entries(key string, nodes []node) []policy.Entry {
	const example = `["fs_read*"]`
	var entries []policy.Entry
	for _, n := range nodes {
		text, ok := n.value.(string)
		switch {
		case !ok:
			d.fail(n.line, "write "+d.write(key[strings.LastIndex(key, ".")+1:], example), "%s holds %s where a string is expected", key, n.kind())
		case text == "":
			d.fail(n.line, `take it out, or write "*" to match everything`, "%s holds an empty pattern, which matches nothing", key)
		case d.CheckGlob != nil:
			if err := d.CheckGlob(text); err != nil {
				d.fail(n.line, `close every [ and {, or write \ before one that is meant as it is`,
					"the pattern %s of %s cannot be used: %s", shown(text), key, sanitize.Line(err.Error()))
			}
		}
		entries = append(entries, policy.Entry{Text: text, Line: n.line})
	}
	return entries
}

func texts(entries []policy.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Text)
	}
	return all
}

// elements are the tables of an array. noun is what one of them is and keys what it holds, for the message.
func (d *decoder) elements(t table, key, noun, keys string) []node {
	hint := "write [[" + key + "]], with two brackets, above the keys of each " + noun
	if d.format == "json" {
		hint = `write "` + key + `": [{` + keys + `}, …]`
	}
	t.note(key, listForm(form{"type": "object"}))
	n, ok := t.values[key]
	if !ok {
		return nil
	}
	all, ok := n.value.([]node)
	if !ok {
		d.fail(n.line, hint, "%s is %s where an array of tables is expected", key, n.kind())
	}
	return slices.DeleteFunc(slices.Clone(all), func(n node) bool {
		_, ok := n.value.([]member)
		if !ok {
			d.fail(n.line, hint, "%s holds %s where a table is expected", key, n.kind())
		}
		return !ok
	})
}
