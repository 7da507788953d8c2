package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolman/router/suggest"
	"toolman/router/toolset"
)

// A Toolset is one of toolsets.
type Toolset struct {
	Name        string
	Tools       []string // names and globs
	Description string
	Line        int // where it begins in the file
}

// toolsets decodes the table of that name.
func (d *decoder) toolsets(t table) []Toolset {
	t.note("toolsets", form{"type": "object"})
	n, ok := t.values["toolsets"]
	if !ok {
		return nil
	}
	hint := "write [toolsets.NAME] above the keys of each toolset"
	if d.format == "json" {
		hint = `write "toolsets": {"NAME": {"tools": […]}, …}`
	}
	all, ok := n.value.([]member)
	if !ok {
		d.fail(n.line, hint, "toolsets is %s where a table is expected", n.kind())
	}
	var sets []Toolset
	for _, m := range all {
		switch _, ok := m.value.([]member); {
		case !ok:
			d.fail(m.line, hint, "toolsets holds %s where a table is expected", m.kind())
		case !toolset.ValidName(m.key):
			d.fail(m.line, "name it with "+toolset.NameRule, "toolsets holds the name %s", shown(m.key))
		default:
			sets = append(sets, d.toolset(m))
		}
	}
	slices.SortFunc(sets, func(a, b Toolset) int { return cmp.Compare(a.Name, b.Name) })
	return sets
}

func (d *decoder) toolset(m member) Toolset {
	const example = `["fs_read*"]`
	where := "toolsets." + m.key
	t := d.table(m.node, "in a toolset", "tools", "description")
	s := Toolset{Name: m.key, Line: m.line, Tools: texts(d.entries(where+".tools", t.array("tools", example)))}
	t.need("tools")
	t.note("tools", form{"minItems": 1})
	if given, ok := t.values["tools"]; !ok {
		d.fail(m.line, "write "+d.write("tools", example), "%s has no tools", where)
	} else if elems, ok := given.value.([]node); ok && len(elems) == 0 {
		d.fail(given.line, "write "+d.write("tools", example), "%s.tools is empty", where)
	}
	s.Description, _ = t.text("description", `"…"`)
	t.note("description", form{"maxLength": toolset.MaxDescription})
	if len(s.Description) > toolset.MaxDescription {
		d.fail(t.values["description"].line, fmt.Sprintf("write up to %d bytes", toolset.MaxDescription), "%s.description is too long", where)
	}
	return s
}

// activeToolsets reads names and globs, and takes the tools of a toolset for its name.
func (d *decoder) activeToolsets(t table, task bool) []Active {
	var patterns []Active
	for _, e := range d.entries("active_toolsets", t.array("active_toolsets", `["fs_read*"]`)) {
		name, isSet := strings.CutPrefix(e.Text, "toolset:")
		i := slices.IndexFunc(d.sets, func(s Toolset) bool { return s.Name == name })
		switch {
		case !isSet:
			patterns = append(patterns, Active{Pattern: e.Text, Line: e.Line, Task: task})
		case i >= 0:
			for _, p := range d.sets[i].Tools {
				patterns = append(patterns, Active{p, name, e.Line, task})
			}
		default:
			d.fail(e.Line, d.setInstead(name), "active_toolsets names the toolset %s, which is not in the file", shown(name))
		}
	}
	return patterns
}

func (d *decoder) setInstead(name string) string {
	var names []string
	for _, s := range d.sets {
		names = append(names, s.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return "did you mean toolset:" + near + "?"
	}
	return "write [toolsets.NAME] with its tools; saved ones are equipped by toolman toolset equip"
}

// metaTools are the groups of toolman's own tools.
var metaTools = []string{"activate", "toolsets", "manage"}

// metaTools reads which groups of toolman's own tools are offered.
func (d *decoder) metaTools(t table) []string {
	const example = `["activate", "toolsets"]`
	t.note("meta_tools", listForm(form{"enum": metaTools}))
	t.note("meta_tools", form{"default": metaTools[:1]})
	if _, ok := t.values["meta_tools"]; !ok {
		return metaTools[:1:1]
	}
	groups := []string{}
	for _, n := range t.array("meta_tools", example) {
		group, ok := n.value.(string)
		switch {
		case !ok:
			d.fail(n.line, "write "+d.write("meta_tools", example), "meta_tools holds %s where a string is expected", n.kind())
		case !slices.Contains(metaTools, group):
			d.fail(n.line, `write "`+strings.Join(metaTools, `", "`)+`" or some of these`, "meta_tools cannot hold %s", shown(group))
		case !slices.Contains(groups, group):
			groups = append(groups, group)
		}
	}
	return groups
}
