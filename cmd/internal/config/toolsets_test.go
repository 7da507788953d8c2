package config

import (
	"slices"
	"testing"
)

func TestActiveToolsetsMayNameToolsets(t *testing.T) {
	const text = `active_toolsets = ["toolset:reading", "mem_add"]
[toolsets.reading]
tools = ["fs_read*", "mem_search"]
[toolsets.tests]
tools = ["ci_*"]
[[task_rules]]
keywords = ["test"]
active_toolsets = ["toolset:tests"]
`
	for task, want := range map[string][]string{
		"":            {"fs_read*", "mem_search", "mem_add"},
		"add a test":  {"fs_read*", "mem_search", "mem_add", "ci_*"},
		"fix the bug": {"fs_read*", "mem_search", "mem_add"},
	} {
		o := testOptions()
		o.Task = task
		c, err := parse("t.toml", "/t.toml", []byte(text), o)
		if err != nil || !slices.Equal(c.ActiveToolsets, want) {
			t.Errorf("%q: got %+v, %v", task, c, err)
		}
	}
}
