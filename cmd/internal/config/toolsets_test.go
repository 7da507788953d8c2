package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	always := []Active{{"fs_read*", "reading", 1, false}, {"mem_search", "reading", 1, false}, {"mem_add", "", 1, false}}
	for task, want := range map[string][]Active{
		"":            always,
		"add a test":  append(slices.Clone(always), Active{"ci_*", "tests", 8, true}),
		"fix the bug": always,
	} {
		o := testOptions()
		o.Task = task
		c, err := parse("t.toml", "/t.toml", []byte(text), o)
		if err != nil || !slices.Equal(c.ActiveToolsets, want) {
			t.Errorf("%q: got %+v, %v", task, c, err)
		}
	}
}

func TestResolvedPatternsStandOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(path, []byte("active_toolsets = [\"toolset:a\", \"x*\", \"y\"]\n[toolsets.a]\ntools = [\"x*\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := Resolve(path, testOptions(), "toml")
	if err != nil || !strings.HasPrefix(string(text), "active_toolsets = [\"x*\", \"y\"]\n") {
		t.Errorf("got %s, %v", text, err)
	}
}
