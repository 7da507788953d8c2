package deny

import (
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// Read reads the rules of a policy that forbid items, or calls with certain arguments. at is the
// policy's place.
func Read(t table.Table, at string) []policy.DenyRule { return reader{t.Problems}.read(t, at) }

type reader struct{ *source.Problems }

// exampleWhere is a where in the file's format.
func (d reader) exampleWhere() string {
	if d.Format == "json" {
		return `{"path": "/etc/*"}`
	}
	return `{ path = "/etc/*" }`
}

// example is a deny in the file's format.
func (d reader) example() string {
	if d.Format == "json" {
		return `[{"tool": "write_file", "where": ` + d.exampleWhere() + `}]`
	}
	return `[{ tool = "write_file", where = ` + d.exampleWhere() + ` }]`
}

func (d reader) read(t table.Table, at string) (rules []policy.DenyRule) {
	const key = "deny"
	elems, ok := t.At(key).Value.([]source.Node)
	if t.Has(key) && !ok {
		d.Fail(t.LineOf(key), t.Instead(key, d.example()), "%s.%s is %s where an array is expected", at, key, t.At(key).Kind())
	}
	at += "." + key
	for _, n := range elems {
		rule := policy.DenyRule{Line: n.Line}
		switch v := n.Value.(type) {
		case string:
			rule.Tool = d.denied(n, v, at)
		case []source.Member:
			in := table.New(d.Problems, n, "in "+at, "tool", "where")
			tool, _ := in.Text("tool", `"write_file"`)
			if !in.Has("tool") {
				d.Fail(n.Line, in.Instead("tool", `"write_file"`)+`, or "*" for all tools`, "a rule of %s has no tool", at)
			} else if _, ok := in.At("tool").Value.(string); ok {
				rule.Tool = d.denied(in.At("tool"), tool, at)
			}
			if in.Has("where") {
				rule.Where = d.conditions(in, at+".where")
			}
		default:
			d.Fail(n.Line, t.Instead(key, d.example()), "%s holds %s where a name or a table is expected", at, n.Kind())
		}
		rules = append(rules, rule)
	}
	return rules
}

// denied reads the name or glob of a rule.
func (d reader) denied(n source.Node, text, at string) policy.Entry {
	if problem, hint := table.Glob(at)(text); problem != "" {
		d.Fail(n.Line, hint, "%s", problem)
	}
	return policy.Entry{Text: text, Line: n.Line}
}

// conditions reads where. at is its place.
func (d reader) conditions(t table.Table, at string) []policy.Condition {
	all, ok := t.At("where").Value.([]source.Member)
	var out []policy.Condition
	if ok {
		out = d.conditionsIn(all, "", at)
	}
	switch {
	case !ok:
		d.Fail(t.LineOf("where"), t.Instead("where", d.exampleWhere()), "%s is %s where a table is expected", at, t.At("where").Kind())
	case len(all) == 0:
		d.Fail(t.LineOf("where"), t.Instead("where", d.exampleWhere())+", or leave where out to deny the tool", "%s is empty", at)
	}
	return out
}

// conditionsIn reads the keys of where, or of a table in it. prefix is the name of that table with
// a dot.
func (d reader) conditionsIn(all []source.Member, prefix, at string) (out []policy.Condition) {
	for _, m := range all {
		name := prefix + m.Key
		if slices.Contains(strings.Split(name, "."), "") {
			d.Fail(m.Line, `name an argument, or an inner one as "options.path"`, "%s holds the key %s, which names no argument", at, source.Shown(name))
			continue
		}
		if inner, ok := m.Value.([]source.Member); ok {
			if len(inner) == 0 {
				d.Fail(m.Line, d.hint(name), "%s is empty", sanitize.Line(at+"."+name))
			}
			out = append(out, d.conditionsIn(inner, name+".", at)...)
			continue
		}
		values, several := m.Value.([]source.Node)
		if !several {
			values = []source.Node{m.Node}
		}
		c := policy.Condition{Argument: name}
		for _, n := range values {
			if v, ok := d.conditionValue(n, sanitize.Line(at+"."+name)); ok {
				c.Values = append(c.Values, v)
			}
		}
		if several && len(values) == 0 {
			d.Fail(m.Line, d.hint(name), "%s is empty", sanitize.Line(at+"."+name))
		}
		out = append(out, c)
	}
	return out
}

// hint returns the hint to write a condition.
func (d reader) hint(name string) string {
	return "write " + d.Write(sanitize.Line(name), `"/etc/*"`)
}

// conditionValue reads a string, number or boolean.
func (d reader) conditionValue(n source.Node, at string) (any, bool) {
	switch v := n.Value.(type) {
	case string:
		if v == "" { // the argument is empty, too
			return v, true
		}
		problem, hint := table.Glob(at)(v)
		if problem != "" {
			d.Fail(n.Line, hint, "%s", problem)
		}
		return v, problem == ""
	case bool:
		return v, true
	case int64:
		return float64(v), true
	case float64:
		if v-v == 0 {
			return v, true
		}
	}
	d.Fail(n.Line, "write a name or glob in quotes, a number, true or false", "%s is %s, which no argument can be compared with", at, n.Kind())
	return nil, false
}
