package toolsfile

import (
	"fmt"
	"strings"

	"toolman/cmd/internal/clients/render"
)

// A Server is a server to write. Its strings are as they stand in the file, with references.
type Server struct {
	Comment     []string // lines above the block, without #
	Namespace   string
	Description string
	Command     string
	Args        []string // nil: Command is a command line
	Env         []Pair
	Cwd         string
	URL         string
	Headers     []Pair
}

// A Pair is a variable or a header.
type Pair struct{ Name, Value string }

// longest is the longest line with an inline table.
const longest = 100

// keys returns the lines below the header of the server's table, without a namespace.
func (s Server) keys(table string) string {
	var b strings.Builder
	add := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, render.TOMLString(value))
		}
	}
	add("description", s.Description)
	add("command", s.Command)
	if s.Args != nil {
		b.WriteString(list("args", s.Args))
	}
	add("cwd", s.Cwd)
	add("url", s.URL)
	// Tables of their own end the keys of the server, so they come last.
	var tables strings.Builder
	for _, t := range []struct {
		key   string
		pairs []Pair
	}{{"env", s.Env}, {"headers", s.Headers}} {
		if line := inline(t.key, t.pairs); len(line) <= longest {
			b.WriteString(line)
			continue
		}
		fmt.Fprintf(&tables, "\n[%s.%s]\n", table, t.key)
		for _, p := range t.pairs {
			fmt.Fprintf(&tables, "%s = %s\n", render.TOMLKey(p.Name), render.TOMLString(p.Value))
		}
	}
	return b.String() + tables.String()
}

// block returns the server as an element of [[servers]] or, byName, as [servers.NAME].
func (s Server) block(byName bool) string {
	var b strings.Builder
	for _, line := range s.Comment {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	if byName {
		table := "servers." + render.TOMLKey(s.Namespace)
		fmt.Fprintf(&b, "[%s]\n%s", table, s.keys(table))
	} else {
		fmt.Fprintf(&b, "[[servers]]\nnamespace = %s\n%s", render.TOMLString(s.Namespace), s.keys("servers"))
	}
	return b.String()
}

// Block returns the server as a [[servers]] block.
func (s Server) Block() string { return s.block(false) }

// list returns key = […], on one line if it fits.
func list(key string, all []string) string {
	var quoted []string
	for _, one := range all {
		quoted = append(quoted, render.TOMLString(one))
	}
	line := fmt.Sprintf("%s = [%s]\n", key, strings.Join(quoted, ", "))
	if len(line) <= longest || len(all) < 2 {
		return line
	}
	return fmt.Sprintf("%s = [\n  %s,\n]\n", key, strings.Join(quoted, ",\n  "))
}

// inline returns key = { … } on one line, or "" without pairs.
func inline(key string, pairs []Pair) string {
	if len(pairs) == 0 {
		return ""
	}
	var all []string
	for _, p := range pairs {
		all = append(all, render.TOMLKey(p.Name)+" = "+render.TOMLString(p.Value))
	}
	return fmt.Sprintf("%s = { %s }\n", key, strings.Join(all, ", "))
}
