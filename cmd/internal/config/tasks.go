package config

import "toolman/router/policy"

// taskRule decodes one element of task_rules, and what it makes active.
func (d *decoder) taskRule(n node, names []string) (policy.TaskRule, []Active) {
	t := d.table(n, "in a task rule", "service", "keywords", "tools", "active_toolsets")
	rule := policy.TaskRule{
		Line:     n.line,
		Services: d.entries("service", t.array("service", `["*-api"]`)),
		Keywords: d.keywords(t),
		Tools:    d.lists(t, "tools", "tools", names),
	}
	active := d.activeToolsets(t, true)
	t.needOne("service", "keywords")
	if len(rule.Services)+len(rule.Keywords) == 0 {
		d.fail(n.line, "write "+d.write("keywords", `["test"]`)+" or "+d.write("service", `["*-api"]`)+`, with "*" for every service`, "this task rule does not say for what")
	}
	t.needOne("tools", "active_toolsets")
	if !t.has("tools") && !t.has("active_toolsets") {
		d.fail(n.line, "write tools with a list for each server, or active_toolsets", "this task rule adds nothing")
	}
	return rule, active
}

func (d *decoder) keywords(t table) []string {
	const example = `["test"]`
	var words []string
	for _, n := range t.array("keywords", example) {
		word, ok := n.value.(string)
		switch {
		case !ok:
			d.fail(n.line, "write "+d.write("keywords", example), "keywords holds %s where a string is expected", n.kind())
		case word == "":
			d.fail(n.line, "take it out", "keywords holds an empty word")
		}
		words = append(words, word)
	}
	return words
}
