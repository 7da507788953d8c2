package config

import (
	"path/filepath"

	"toolman/router/policy"
)

// dangers decodes dangerous_tools and confirm.
func (d *decoder) dangers(t table) *policy.Dangers {
	const example = `["fs_delete*"]`
	confirm := t.choice("confirm", string(policy.Elicit), string(policy.Deny), string(policy.Allow))
	tools := d.entries("dangerous_tools", t.array("dangerous_tools", example))
	if t.has("confirm") && !t.has("dangerous_tools") {
		d.fail(t.values["confirm"].line, "write "+d.write("dangerous_tools", example)+", or take it out", "confirm is given, but no dangerous_tools that it is about")
	}
	if len(tools) == 0 {
		return nil
	}
	return &policy.Dangers{File: filepath.Base(d.file), Confirm: policy.Confirm(confirm), Tools: tools}
}
