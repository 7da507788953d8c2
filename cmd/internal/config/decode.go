package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A decoder turns the tree of a file into a Config and gathers what is wrong on the way.
type decoder struct {
	// immutable
	file      string // as shown in problems
	dir       string // the file's folder, absolute
	format    string
	lookupEnv func(string) (string, bool)
	checkGlob func(string) error

	problems []Problem
	omitted  int
	secrets  []string
	known    map[string]bool // what is in secrets
	fromFile int             // bytes that ${file:…} brought in
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
		"activation_mode", "always_load", "servers", "$schema")
	c := &Config{
		ActiveToolsets: d.globs(t),
		Settle:         time.Duration(t.integer("settle_ms", 1000, 0, 60_000)) * time.Millisecond,
		CatalogBytes:   t.catalogBytes("catalog_bytes"),
		URISeparator:   t.choice("uri_separator", "_", "+"),
		ActivationMode: t.choice("activation_mode", "auto", "mutate", "call", "static"),
		AlwaysLoad:     t.maybe("always_load"),
	}
	for _, n := range d.serverNodes(t) {
		c.Servers = append(c.Servers, d.server(n))
	}
	return c
}

// globs are the patterns of active_toolsets.
func (d *decoder) globs(t table) []string {
	var patterns []string
	for _, n := range t.array("active_toolsets", `["fs_read*"]`) {
		pattern, ok := n.value.(string)
		switch {
		case !ok:
			d.fail(n.line, "write "+d.write("active_toolsets", `["fs_read*"]`), "active_toolsets holds %s where a string is expected", n.kind())
		case pattern == "":
			d.fail(n.line, `take it out, or write "*" to match everything`, "active_toolsets holds an empty pattern, which matches nothing")
		case d.checkGlob != nil:
			if err := d.checkGlob(pattern); err != nil {
				d.fail(n.line, `close every [ and {, or write \ before one that is meant as it is`,
					"the pattern %s of active_toolsets cannot be used: %s", shown(pattern), printable(err.Error()))
			}
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// serverNodes are the elements of servers.
func (d *decoder) serverNodes(t table) []node {
	hint := "write [[servers]], with two brackets, above the keys of each server"
	if d.format == "json" {
		hint = `write "servers": [{"namespace": …, "command": …}, …]`
	}
	n, ok := t.values["servers"]
	if !ok {
		return nil
	}
	servers, ok := n.value.([]node)
	if !ok {
		d.fail(n.line, hint, "servers is %s where an array of tables is expected", n.kind())
	}
	return slices.DeleteFunc(servers, func(n node) bool {
		_, ok := n.value.([]member)
		if !ok {
			d.fail(n.line, hint, "servers holds %s where a table is expected", n.kind())
		}
		return !ok
	})
}
