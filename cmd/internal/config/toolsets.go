package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/router/toolset"
)

// A Toolset is one of toolsets, or the default one of a server.
type Toolset struct {
	Name        string
	Tools       []string // names and globs
	Server      string   // of a default toolset, which has all its tools; otherwise ""
	Description string
	Line        int // where it begins in the file
}

// toolsets decodes the table of that name.
func toolsets(t table.Table) []Toolset {
	hint := "write [toolsets.NAME] above the keys of each toolset"
	if t.Format == "json" {
		hint = `write "toolsets": {"NAME": {"tools": […]}, …}`
	}
	members := slices.Clone(t.Members("toolsets", "toolsets", hint))
	slices.SortStableFunc(members, func(a, b source.Member) int { return cmp.Compare(a.Key, b.Key) })
	var sets []Toolset
	for _, m := range members {
		switch _, ok := m.Value.([]source.Member); {
		case !ok:
			t.Fail(m.Line, hint, "toolsets holds %s where a table is expected", m.Kind())
		case !toolset.ValidName(m.Key):
			t.Fail(m.Line, "name it with "+toolset.NameRule, "toolsets holds the name %s", source.Shown(m.Key))
		default:
			sets = append(sets, readToolset(t.Problems, m))
		}
	}
	return sets
}

// withDefaults adds a toolset for each enabled server, unless one has its name. Its name is that of
// the server. Servers without a name have none.
func withDefaults(sets []Toolset, servers []source.Node) []Toolset {
	for _, n := range servers {
		t := table.New(&source.Problems{}, n, "", serverKeys()...) // problems are found when servers are read
		name := serverName(t)
		if !toolset.ValidName(name) || !byname.Enabled(t) || slices.Contains(setNames(sets), name) {
			continue
		}
		about, _ := t.Text("description", "")
		if about == "" || len(about) > toolset.MaxDescription {
			about = "Every tool of server " + name
		}
		sets = append(sets, Toolset{Name: name, Server: name, Description: about, Line: n.Line})
	}
	return sets
}

func readToolset(p *source.Problems, m source.Member) Toolset {
	const example = `["fs_read*"]`
	path := "toolsets." + m.Key
	t := table.New(p, m.Node, "in a toolset", "tools", "description")
	s := Toolset{Name: m.Key, Line: m.Line, Tools: t.FilledStrings("tools", path+".tools", example, table.Glob(path+".tools"))}
	if !t.Has("tools") {
		t.Fail(m.Line, t.Instead("tools", example), "%s has no tools", path)
	}
	s.Description, _ = t.Text("description", `"…"`)
	if len(s.Description) > toolset.MaxDescription {
		t.FailAt("description", fmt.Sprintf("write up to %d bytes", toolset.MaxDescription), "%s.description is too long", path)
	}
	return s
}

// SearchIfCut is in MetaTools without the key: toolman_search is offered where the catalog has to
// be cut. A file that has the key lists all that is offered.
const SearchIfCut = "search if the catalog is cut"

// metaTools reads which groups of toolman's own tools are offered.
func metaTools(t table.Table) []string {
	all := []string{"activate", "toolsets", "manage", "search", "login"}
	if !t.Has("meta_tools") {
		return []string{"activate", SearchIfCut}
	}
	return table.Texts(t.Strings("meta_tools", `["activate", "toolsets"]`, table.OneOf("meta_tools", all)))
}

// setNames returns the names of toolsets.
func setNames(sets []Toolset) (names []string) {
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}

// notASet returns the hint for a name that no toolset has. before is what belongs before a name.
func notASet(sets []Toolset, name, before string) string {
	return cli.DidYouMean(strings.TrimPrefix(name, "toolset:"), setNames(sets), before,
		"write [toolsets.NAME] with its tools; saved ones are equipped by toolman toolset equip")
}

// activeToolsets reads names and globs, in which the name of a toolset stands for its tools.
func activeToolsets(t table.Table, sets []Toolset, task bool) []Active {
	var patterns []Active
	for _, e := range t.Globs("active_toolsets", `["fs_read*"]`) {
		name, isSet := strings.CutPrefix(e.Text, "toolset:")
		i := slices.Index(setNames(sets), name)
		switch {
		case !isSet:
			patterns = append(patterns, Active{Pattern: e.Text, Line: e.Line, Task: task})
		case i >= 0 && sets[i].Server != "":
			patterns = append(patterns, Active{Pattern: "*", Toolset: name, Line: e.Line, Task: task})
		case i >= 0:
			for _, p := range sets[i].Tools {
				patterns = append(patterns, Active{Pattern: p, Toolset: name, Line: e.Line, Task: task})
			}
		default:
			t.Fail(e.Line, notASet(sets, name, "toolset:"), "active_toolsets names the toolset %s, which is not in the file", source.Shown(name))
		}
	}
	return patterns
}

// activeWithout returns what is active at start in a file without active_toolsets. Everything is,
// if policies select what there is, or if models can only narrow it by equipping a toolset.
// Otherwise nothing is.
func activeWithout(t table.Table, c *Config) []Active {
	because := ""
	switch {
	case c.Rules != nil && len(c.Rules.Exposed) > 0:
		because = "exposed_tools"
	case c.Rules != nil && len(c.Rules.Agents) > 0:
		because = "agent_policies"
	case slices.Contains(c.MetaTools, "manage") && !slices.Contains(c.MetaTools, "activate"):
		because = "meta_tools"
	default:
		return nil
	}
	return []Active{{Pattern: "*", Because: because, Line: t.LineOf(because)}}
}

// A Hook is a command to run when something happens to a toolset.
type Hook struct {
	Argv []string
	Env  []string // assigned before the command

	like Server // inherits the same variables
}

// Inherits reports whether the command inherits a variable from toolman's environment: not those
// that only other commands or http refer to.
func (h *Hook) Inherits(name string) bool { return h.like.Inherits(name) }

// readHook reads a command, or nil if there is none.
func readHook(d *decoder, t table.Table, key string, c *Config) *Hook {
	text := t.Filled(key, `"./notify.sh"`, "name a command, or leave it out")
	if text == "" {
		return nil
	}
	all := maps.Clone(d.ofHTTP)
	for _, name := range c.WithholdEnv {
		all[reference.VariableName(name)] = true
	}
	for i := range c.Servers {
		maps.Copy(all, c.Servers[i].Refers)
	}
	h := &Hook{like: Server{Referred: all, Refers: reference.VariablesIn(t.At(key))}}
	sc := d.scope(t, key, key)
	sc.Inherits = h.like.Inherits
	h.Argv, h.Env = sc.Command(text)
	return h
}
