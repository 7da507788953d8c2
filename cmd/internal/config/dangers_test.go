package config

import (
	"path/filepath"
	"testing"

	"toolman/router/policy"
)

// withoutDangerLines takes out the lines, which each file has.
func withoutDangerLines(t *testing.T, d *policy.DangerRules) {
	t.Helper()
	for i := range d.Tools {
		if d.Tools[i].Line == 0 {
			t.Errorf("%s has no line", d.Tools[i].Text)
		}
		d.Tools[i].Line = 0
	}
}

func TestDangersKeepTheirLines(t *testing.T) {
	for _, file := range []string{"every-key.toml", "every-key.json"} {
		c, err := Load(filepath.Join(fixtures, file), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Dangers.Tools[1].Line, lineOf(t, file, "mcp__plain__drop"); got != want {
			t.Errorf("%s: got line %d, want %d", file, got, want)
		}
	}
}

// Who names dangerous tools and says no more wants to be asked.
func TestConfirmIsElicitWhereTheFileDoesNotGiveIt(t *testing.T) {
	for text, want := range map[string]policy.Confirm{
		`dangerous_tools = ["a"]`:                        policy.Elicit,
		"dangerous_tools = [\"a\"]\nconfirm = \"allow\"": policy.Allow,
	} {
		c, err := parse("tools.toml", "/tools.toml", []byte(text), testOptions())
		if err != nil || c.Dangers == nil || c.Dangers.Confirm != want {
			t.Errorf("%s: got %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"", "dangerous_tools = []"} {
		if c, err := parse("tools.toml", "/tools.toml", []byte(text), testOptions()); err != nil || c.Dangers != nil {
			t.Errorf("%q: got %+v, %v", text, c, err)
		}
	}
}

// Every entry of the example is about a tool that one of its servers has.
func TestTheExampleAsksBeforeWhatCannotBeUndone(t *testing.T) {
	c, err := Load(filepath.Join(example, "tools.toml"), Options{LookupEnv: environment})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Dangers.Compile()
	if err != nil {
		t.Fatal(err)
	}
	servers := exampleServers(t)
	if idle := g.Idle(servers); idle != nil || c.Dangers.Confirm != policy.Elicit {
		t.Errorf("no tool for %v; confirm is %s", idle, c.Dangers.Confirm)
	}
	for server, items := range servers {
		for _, it := range items {
			if g.Judge(server, it) != nil && !it.Effects {
				t.Errorf("%s:%s only reads", server, it.Name)
			}
		}
	}
}
