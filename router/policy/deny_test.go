package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDenyWinsOverEverythingThatAllows(t *testing.T) {
	r := &Rules{File: "f", Exposed: map[string]List{"gh": listOf(1, "*")}, Agents: map[string]Agent{"a": {
		Servers: listOf(2, "*"), Overrides: map[string]List{"fs": listOf(3, "*")},
		Deny: []DenyRule{{Tool: Entry{Text: "delete_*"}, Line: 5}, {Tool: Entry{Text: "gh:merge"}, Line: 6, From: "base"},
			{Tool: Entry{Text: "fs_write"}, Line: 7, Where: []Condition{{"path", []any{"/etc/*", true, 1.5}}, {"a b", []any{"x"}}}}},
	}}, Default: Flag{On: true}}
	p, err := r.For("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ server, name, shown, want string }{
		{"fs", "delete_file", "fs_delete_file", `agent_policies.a.deny has "delete_*" (f:5)`},
		{"gh", "merge", "hub_merge", `agent_policies.base.deny has "gh:merge" (f:6)`},
		{"fs", "merge", "fs_merge", ""},
		{"other", "delete_x", "other_delete_x", `agent_policies.a.deny has "delete_*" (f:5)`},
		{"fs", "write", "fs_write", ""},
	} {
		v := p.Judge(tt.server, []Item{{Name: tt.name, Shown: tt.shown, Full: tt.shown}})[0]
		if v.Allowed != (tt.want == "") || tt.want != "" && (v.String() != tt.want || v.Step != DenyRules) {
			t.Errorf("%s: allowed %t by %s", tt.shown, v.Allowed, v)
		}
		want := ""
		if tt.name == "write" {
			want = `agent_policies.a.deny has "fs_write" where path = ["/etc/*", true, 1.5] and "a b" = "x" (f:7)`
		}
		if got := v.Conditions().String(); got != want {
			t.Errorf("%s: the conditions are %s", tt.shown, got)
		}
	}
	if p, _ := r.For(""); !p.Judge("gh", []Item{{Name: "delete_x"}})[0].Allowed {
		t.Error("the rules of an agent apply without it")
	}
	if uses := p.Denials(map[string][]Item{"gh": {{Name: "x"}, {Name: "merge"}}}); len(uses) != 3 || len(uses[0].Matches) != 0 || !slices.Equal(uses[1].Matches["gh"], []int{1}) {
		t.Errorf("got %+v", uses)
	}
}

func TestAgentsInherit(t *testing.T) {
	agents, problems := Inherit(map[string]Agent{
		"base":   {Servers: listOf(1, "fs", "git"), ReadOnly: Flag{On: true, Line: 2}, Overrides: map[string]List{"fs": listOf(3, "read", "list")}, Deny: []DenyRule{{Tool: Entry{Text: "x"}, Line: 4}}},
		"other":  {Inherits: []Entry{{Text: "base", Line: 10}}, Servers: listOf(11, "mem"), Deny: []DenyRule{{Tool: Entry{Text: "y"}, Line: 12}}},
		"child":  {Inherits: []Entry{{Text: "base", Line: 20}, {Text: "other", Line: 20}}, Servers: listOf(21, "gh", "fs"), Overrides: map[string]List{"fs": listOf(22, "write", "read"), "gh": listOf(23, "get")}},
		"writer": {Inherits: []Entry{{Text: "child", Line: 30}}, ReadOnly: Flag{Line: 31}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := agents["child"]
	var servers, tools, deny []string
	for _, e := range c.Servers.Entries {
		servers = append(servers, e.Text+"/"+e.From)
	}
	for _, e := range c.Overrides["fs"].Entries {
		tools = append(tools, e.Text+"/"+e.From)
	}
	for _, d := range c.Deny {
		deny = append(deny, d.Tool.Text+"/"+d.From)
	}
	if got, want := fmt.Sprint(servers, tools, deny), "[fs/base git/base mem/other gh/] [read/base list/base write/] [x/base y/other]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if c.Servers.Line != 21 || c.Overrides["fs"].Line != 22 || len(c.Overrides["gh"].Entries) != 1 {
		t.Errorf("got %+v", c)
	}
	if !c.ReadOnly.On || c.ReadOnly.Line != 2 || c.ReadOnly.From != "base" || agents["writer"].ReadOnly.On || len(agents["writer"].Deny) != 2 {
		t.Errorf("read_only: %+v, %+v", c.ReadOnly, agents["writer"])
	}
}

func TestInheritanceHasAnEnd(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("a%02d", i) }
	agents := map[string]Agent{name(0): {}}
	for i := range 40 {
		agents[name(i+1)] = Agent{Inherits: []Entry{{Text: name(i), Line: i + 1}, {Text: name(max(0, i-1)), Line: i + 1}}}
	}
	_, problems := Inherit(agents)
	if len(problems) != 1 || problems[0].Line != 17 || problems[0].What != "agent_policies.a17 inherits through more than 16 policies" {
		t.Errorf("got %+v", problems)
	}
	_, problems = Inherit(map[string]Agent{
		"a":    {Inherits: []Entry{{Text: "b", Line: 1}}},
		"b":    {Inherits: []Entry{{Text: "none", Line: 2}, {Text: "c", Line: 2}}},
		"c":    {Inherits: []Entry{{Text: "a", Line: 3}}},
		"self": {Inherits: []Entry{{Text: "self", Line: 4}}},
	})
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d: %s", p.Line, p.What))
	}
	if want := "3: agent_policies.a inherits from itself: a inherits b inherits c inherits a\n4: agent_policies.self inherits from itself: self inherits self"; strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
