package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolman/cmd/internal/config/table"
	"toolman/router/policy"
)

func entries(texts ...string) []policy.Entry {
	var all []policy.Entry
	for _, text := range texts {
		all = append(all, policy.Entry{Text: text})
	}
	return all
}

// everyDenial is what the every-key files deny an agent.
func everyDenial(from string) []policy.DenyRule {
	return []policy.DenyRule{{Tool: policy.Entry{Text: "fs_drop"}, From: from}, {Tool: policy.Entry{Text: "fs:write"}, From: from,
		Where: []policy.Condition{{Argument: "options.force", Values: []any{true}}, {Argument: "path", Values: []any{"/etc/*", 7.0}}}}}
}

// everyRule is what the every-key files say of policies, without lines.
func everyRule() *policy.Rules {
	return &policy.Rules{
		Exposed: map[string]policy.List{"fs": {Entries: entries("read_*", "mcp__fs__list")}, "plain": {}},
		Agents: map[string]policy.Agent{
			"reader": {Servers: policy.List{Entries: entries("fs", "pl*")}, ReadOnly: policy.Flag{On: true},
				Overrides: map[string]policy.List{"plain": {Entries: entries("plain:get")}}, Deny: everyDenial("")},
			"heir": {Inherits: entries("reader"), Servers: policy.List{Entries: entries("fs", "pl*")}, ReadOnly: policy.Flag{On: true, From: "reader"},
				Overrides: map[string]policy.List{"plain": {Entries: entries("plain:get")}}, Deny: everyDenial("reader")},
			"other one": {Servers: policy.List{Entries: entries("*")}, Overrides: map[string]policy.List{}},
		},
		Default: policy.Flag{On: true},
	}
}

// withoutLines takes out what differs between files that say the same.
func withoutLines(r *policy.Rules) {
	list := func(l policy.List) policy.List {
		return policy.List{Entries: entries(table.Texts(l.Entries)...)}
	}
	r.File, r.Default.Line = "", 0
	for server, l := range r.Exposed {
		r.Exposed[server] = list(l)
	}
	for name, a := range r.Agents {
		a.Servers, a.ReadOnly.Line = list(a.Servers), 0
		a.Inherits = entries(table.Texts(a.Inherits)...)
		for i := range a.Deny {
			d := &a.Deny[i]
			d.Line, d.Tool.Line = 0, 0
			slices.SortFunc(d.Where, func(a, b policy.Condition) int { return strings.Compare(a.Argument, b.Argument) })
		}
		for server, l := range a.Overrides {
			a.Overrides[server] = list(l)
		}
		r.Agents[name] = a
	}
}

// lineOf is the first line of a fixture that holds a text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(fixtures, file))
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(content), text)
	if !found {
		t.Fatalf("%s does not hold %s", file, text)
	}
	return 1 + strings.Count(before, "\n")
}

func TestRulesKeepTheirLines(t *testing.T) {
	for _, file := range []string{"every-key.toml", "every-key.json"} {
		c, err := Load(filepath.Join(fixtures, file), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		fs, reader := c.Rules.Exposed["fs"], c.Rules.Agents["reader"]
		for text, got := range map[string]int{"mcp__fs__list": fs.Entries[1].Line, "read_*": fs.Line, "pl*": reader.Servers.Line, "read_only": reader.ReadOnly.Line,
			"plain:get": reader.Overrides["plain"].Entries[0].Line, "allow_unknown_tools": c.Rules.Default.Line} {
			if want := lineOf(t, file, text); got != want {
				t.Errorf("%s: %s is in line %d, want %d", file, text, got, want)
			}
		}
		if c.Rules.File != file {
			t.Errorf("the file is %s, want %s", c.Rules.File, file)
		}
	}
}

func TestWithoutPoliciesThereAreNoRules(t *testing.T) {
	c, err := Load(filepath.Join(fixtures, "smallest.toml"), testOptions())
	if err != nil || c.Rules != nil {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestAnAgentThatTheFileDoesNotHave(t *testing.T) {
	for _, tt := range []struct{ file, agent, want string }{
		{"every-key.toml", "raeder", `every-key.toml:LINE: agent_policies has no agent "raeder"; did you mean reader?`},
		{"every-key.toml", "boss", `every-key.toml:LINE: agent_policies has no agent "boss"; the agents are heir, other one, reader`},
		{"smallest.toml", "reader", `smallest.toml:1: agent_policies has no agent "reader"; add [agent_policies.NAME], or leave --agent out`},
	} {
		o := testOptions()
		o.Agent = tt.agent
		_, err := Load(filepath.Join(fixtures, tt.file), o)
		if tt.file == "every-key.toml" {
			tt.want = strings.Replace(tt.want, "LINE", strconv.Itoa(lineOf(t, tt.file, "[agent_policies")), 1)
		}
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s in %s: got %v", tt.agent, tt.file, err)
		}
	}
}

func TestTaskRulesAddWhenTheyMatch(t *testing.T) {
	for _, tt := range []struct {
		service, task string
		adds          bool
	}{
		{"", "", false}, {"my-api-2", "", false}, {"", "write tests", false}, {"web", "write tests", false},
		{"my-api-2", "write Tests", true}, {"api", "open a pull request", true}, {"api", "find the latest", false},
	} {
		o := testOptions()
		o.Agent, o.Service, o.Task = "reader", tt.service, tt.task
		c, err := Load(filepath.Join(fixtures, "every-key.toml"), o)
		if err != nil {
			t.Fatal(err)
		}
		want, active := []string(nil), 2
		if tt.adds {
			want, active = []string{"read_*", "mcp__fs__list", "write"}, 3
		}
		if got := table.Texts(c.Rules.Agents["reader"].Overrides["fs"].Entries); !reflect.DeepEqual(got, want) || len(c.ActiveToolsets) != active {
			t.Errorf("%q, %q: the agent has %q of fs and %v are active, want %q", tt.service, tt.task, got, c.ActiveToolsets, want)
		}
		if got := len(c.Rules.Agents); got != 1 {
			t.Errorf("%d agents are left", got)
		}
	}
}

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
	always := []Active{{Pattern: "fs_read*", Toolset: "reading", Line: 1}, {Pattern: "mem_search", Toolset: "reading", Line: 1}, {Pattern: "mem_add", Line: 1}}
	for task, want := range map[string][]Active{
		"":            always,
		"add a test":  append(slices.Clone(always), Active{Pattern: "ci_*", Toolset: "tests", Line: 8, Task: true}),
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

// Without active_toolsets, other keys say what is active at start; an empty list says that nothing
// is.
func TestWhatIsActiveWithoutActiveToolsets(t *testing.T) {
	const servers = "[[servers]]\nnamespace = \"s\"\ncommand = \"x\"\n"
	const agent = "[agent_policies.a]\nallowed_servers = [\"s\"]\n"
	const exposed = "[exposed_tools]\ns = [\"t\"]\n"
	for _, tt := range []struct{ head, rest, agent, want string }{
		{"", "", "", ""},
		{"", exposed, "", "exposed_tools:1"},
		{"\n", agent, "", "agent_policies:2"},
		{"", agent, "a", "agent_policies:1"},
		{"", exposed + agent, "a", "exposed_tools:1"},
		{"", "[default_policy]\nallow_unknown_tools = true\n", "", ""},
		{"meta_tools = [\"manage\"]\n", "", "", "meta_tools:1"},
		{"meta_tools = [\"manage\", \"toolsets\"]\n", "", "", "meta_tools:1"},
		{"meta_tools = [\"manage\", \"activate\"]\n", "", "", ""},
		{"meta_tools = [\"toolsets\"]\n", "", "", ""},
		{"meta_tools = []\n", "", "", ""},
		{"active_toolsets = []\n", exposed, "", ""},
		{"active_toolsets = []\nmeta_tools = [\"manage\"]\n", "", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "t.toml")
		if err := os.WriteFile(path, []byte(tt.head+tt.rest+servers), 0o600); err != nil {
			t.Fatal(err)
		}
		o := testOptions()
		o.Agent = tt.agent
		c, err := Load(path, o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range c.ActiveToolsets {
			got += fmt.Sprintf("%s:%d", a.Because, a.Line)
		}
		if got != tt.want || got != "" && c.ActiveToolsets[0].Pattern != "*" {
			t.Errorf("%q %q: got %+v, want %q", tt.head, tt.rest, c.ActiveToolsets, tt.want)
		}
	}
}

// A task rule adds to what is active.
func TestATaskRuleAddsToEverything(t *testing.T) {
	const text = "[exposed_tools]\ns = [\"t\"]\n[[task_rules]]\nkeywords = [\"test\"]\nactive_toolsets = [\"s_t\"]\n[[servers]]\nnamespace = \"s\"\ncommand = \"x\"\n"
	path := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.Task = "test it"
	c, err := Load(path, o)
	if err != nil || len(c.ActiveToolsets) != 2 || c.ActiveToolsets[0].Pattern != "*" || c.ActiveToolsets[1].Pattern != "s_t" {
		t.Errorf("%v, %+v", err, c)
	}
}
