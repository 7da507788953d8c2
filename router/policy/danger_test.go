package policy

import (
	"slices"
	"strings"
	"testing"
)

func dangers(t *testing.T, confirm Confirm, entries ...string) *Dangers {
	t.Helper()
	d := DangerRules{File: "tools.toml", Confirm: confirm}
	for i, text := range entries {
		d.Tools = append(d.Tools, Entry{Text: text, Line: i + 1})
	}
	g, err := d.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What is written in any way in which the tool may be called makes it dangerous.
func TestADangerousToolIsKnownByEveryNameItHas(t *testing.T) {
	long := strings.Repeat("x", 80)
	tool := Item{Name: "delete_" + long, Shown: "fs_delete_xx_0123", Full: "fs_delete_" + long}
	for _, tt := range []struct {
		name, entry string
		dangerous   bool
	}{
		{"as the catalog has it, whole", "fs_delete_" + long, true},
		{"as clients see it", "fs_delete_xx_0123", true},
		{"with its server", "files:delete_" + long, true},
		{"as Claude Code has it", "mcp__files__delete_" + long, true},
		{"as the server has it", "delete_" + long, true},
		{"a glob on the namespace", "fs_*", true},
		{"a glob on the server", "files:*", true},
		{"a glob on every server", "*delete_*", true},
		{"another server", "git:delete_*", false},
		{"another name", "fs_deletes_*", false},
		{"part of the name", "fs_delete", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := dangers(t, Elicit, "never", tt.entry).Judge("files", tool)
			if (d != nil) != tt.dangerous {
				t.Fatalf("got %v, want dangerous %t", d, tt.dangerous)
			}
			if want := "dangerous: asks first (tools.toml:2)"; d != nil && d.String() != want {
				t.Errorf("got %q, want %q", d, want)
			}
		})
	}
}

func TestWhatBecomesOfADangerousTool(t *testing.T) {
	for confirm, want := range map[Confirm]struct {
		text         string
		asks, denies bool
	}{
		Elicit: {"dangerous: asks first (tools.toml:1)", true, false},
		Deny:   {"dangerous: refused (tools.toml:1)", false, true},
		Allow:  {"dangerous: runs without asking (tools.toml:1)", false, false},
	} {
		d := dangers(t, confirm, "*").Judge("s", Item{Name: "a"})
		if d.String() != want.text || d.Asks() != want.asks || d.Denies() != want.denies {
			t.Errorf("%s: got %q, asks %t, denies %t", confirm, d, d.Asks(), d.Denies())
		}
	}
	var none *DangerRules
	g, err := none.Compile()
	if d := g.Judge("s", Item{Name: "a"}); err != nil || d.Asks() || d.Denies() || d.String() != "" || g.Idle(nil) != nil {
		t.Errorf("without dangerous_tools: %v, %v", d, err)
	}
}

func TestIdleDangers(t *testing.T) {
	g := dangers(t, Elicit, "a_x", "b:y", "b:x", "z*", "y")
	got := g.Idle(map[string][]Item{"a": {{Name: "x", Shown: "a_x", Full: "a_x"}}, "b": {{Name: "y"}}})
	if want := []string{`"b:x" (tools.toml:3)`, `"z*" (tools.toml:4)`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
