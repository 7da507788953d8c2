package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func listOf(line int, texts ...string) List {
	l := List{Line: line}
	for _, text := range texts {
		l.Entries = append(l.Entries, Entry{Text: text, Line: line})
	}
	return l
}

// Every combination of what the file may say about a server, against the four
// steps as the document has them. Server s has the tools a and b; where a list is
// about s it holds a.
func TestTheFourStepsDecide(t *testing.T) {
	yesNo := []bool{false, true}
	for _, named := range yesNo {
		for _, server := range yesNo { // is in allowed_servers
			for _, override := range []string{"none", "a", "empty"} {
				for _, exposed := range []string{"none", "a", "empty"} {
					for _, unknown := range yesNo {
						for _, tool := range []string{"a", "b"} {
							c := combination{named, server, override, exposed, unknown, tool}
							t.Run(fmt.Sprintf("%+v", c), c.check)
						}
					}
				}
			}
		}
	}
}

type combination struct {
	named, server     bool
	override, exposed string
	unknown           bool
	tool              string
}

// isToolAllowed is the document's function, step by step.
func (c combination) isToolAllowed() (bool, Step) {
	if c.named && !c.server {
		return false, AllowedServers
	}
	if c.named && c.override != "none" {
		return c.override == c.tool, ToolOverrides
	}
	if c.exposed != "none" {
		return c.exposed == c.tool, ExposedTools
	}
	return c.unknown, DefaultPolicy
}

func (c combination) check(t *testing.T) {
	r := &Rules{File: "f", Exposed: map[string]List{"other": listOf(90, "*")}, Default: Flag{On: c.unknown, Line: 50}}
	agent := Agent{Servers: listOf(20, "other"), Overrides: map[string]List{"other": listOf(91, "*")}}
	if c.server {
		agent.Servers = listOf(20, "other", "s")
	}
	for place, holds := range map[*map[string]List]string{&agent.Overrides: c.override, &r.Exposed: c.exposed} {
		line := map[bool]int{true: 30, false: 40}[place == &agent.Overrides]
		switch holds {
		case "a":
			(*place)["s"] = listOf(line, "a")
		case "empty":
			(*place)["s"] = listOf(line)
		}
	}
	r.Agents = map[string]Agent{"x": agent}
	who := ""
	if c.named {
		who = "x"
	}
	p, err := r.For(who)
	if err != nil {
		t.Fatal(err)
	}
	items := []Item{{Name: "a", Shown: "s_a"}, {Name: "b", Shown: "s_b"}}
	got := p.Judge("s", items)[slices.IndexFunc(items, func(it Item) bool { return it.Name == c.tool })]
	allowed, step := c.isToolAllowed()
	line := map[Step]int{AllowedServers: 20, ToolOverrides: 30, ExposedTools: 40, DefaultPolicy: 50}[step]
	if got.Allowed != allowed || got.Step != step || got.Line() != line {
		t.Errorf("got %t, step %d, line %d; want %t, %d, %d", got.Allowed, got.Step, got.Line(), allowed, step, line)
	}
}

func TestVerdictsSayWhichRule(t *testing.T) {
	r := &Rules{File: "tools.toml", Exposed: map[string]List{"gh": {4, []Entry{{Text: "get_*", Line: 5}, {Text: "list", Line: 6}}}, "a b": listOf(7)}, Agents: map[string]Agent{
		"dev":   {Servers: listOf(10, "gh", "fs", "a b"), ReadOnly: Flag{On: true, Line: 11}, Overrides: map[string]List{"fs": listOf(12, "read")}},
		"o.p s": {Servers: listOf(20, "*"), Overrides: map[string]List{"fs": listOf(22, "read")}},
	}}
	for _, tt := range []struct {
		agent, server, item string
		effects             bool
		want                string
	}{
		{"dev", "gh", "list", false, `yes: exposed_tools.gh has "list" (tools.toml:6)`},
		{"dev", "gh", "get_x", true, `no: agent_policies.dev.read_only is true, and neither the tool's readOnlyHint nor read_only_tools of its server says that it only reads (tools.toml:11)`},
		{"dev", "gh", "put_x", true, `no: it is not in exposed_tools.gh (tools.toml:4)`},
		{"dev", "a b", "x", false, `no: it is not in exposed_tools."a b" (tools.toml:7)`},
		{"dev", "fs", "read", false, `yes: agent_policies.dev.tool_overrides.fs has "read" (tools.toml:12)`},
		{"o.p s", "fs", "write", false, `no: it is not in agent_policies."o.p s".tool_overrides.fs (tools.toml:22)`},
		{"o.p s", "fs", "read", true, `yes: agent_policies."o.p s".tool_overrides.fs has "read" (tools.toml:22)`},
		{"dev", "db", "x", false, `no: server db is not in agent_policies.dev.allowed_servers (tools.toml:10)`},
		{"dev", "", "x", false, `no: a server without a name is not in agent_policies.dev.allowed_servers (tools.toml:10)`},
		{"o.p s", "", "x", false, `no: no rule is about a server without a name, and default_policy.allow_unknown_tools is false where the file does not give it (tools.toml)`},
	} {
		p, err := r.For(tt.agent)
		if err != nil {
			t.Fatal(err)
		}
		v := p.Judge(tt.server, []Item{{Name: tt.item, Shown: tt.item, Effects: tt.effects}})[0]
		got := map[bool]string{true: "yes: ", false: "no: "}[v.Allowed] + v.String()
		if got != tt.want {
			t.Errorf("%s, %s:%s: got\n%s, want\n%s", tt.agent, tt.server, tt.item, got, tt.want)
		}
	}
	r.Default = Flag{On: true, Line: 30}
	p, err := r.For("")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Judge("db", []Item{{Name: "x"}})[0].String(), "no rule is about server db, and default_policy.allow_unknown_tools is true (tools.toml:30)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWithoutRulesEverythingIsAllowed(t *testing.T) {
	var r *Rules
	p, err := r.For("")
	if p != nil || err != nil {
		t.Fatalf("got %v, %v", p, err)
	}
	if v := p.Judge("s", []Item{{Name: "x", Effects: true}})[0]; !v.Allowed || v.Line() != 0 || !strings.Contains(v.String(), "everything is allowed") {
		t.Errorf("got %+v %s", v, v)
	}
	if r.With("x", []TaskRule{{Tools: map[string]List{"s": listOf(1, "a")}}}) != nil {
		t.Error("a task rule has made a policy")
	}
}

func TestAnAgentThatIsNotThereHasNoPolicy(t *testing.T) {
	for _, r := range []*Rules{nil, {}, {Agents: map[string]Agent{"a": {}}}} {
		if p, err := r.For("b"); err == nil || !strings.Contains(err.Error(), `agent "b"`) {
			t.Errorf("got %v, %v", p, err)
		}
	}
}

func TestAGlobThatIsNoneIsAnError(t *testing.T) {
	bad := listOf(7, "[")
	for _, r := range []*Rules{
		{Exposed: map[string]List{"s": bad}, Agents: map[string]Agent{"a": {}}},
		{Agents: map[string]Agent{"a": {Servers: bad}}},
		{Agents: map[string]Agent{"a": {Overrides: map[string]List{"s": bad}}}},
	} {
		if _, err := r.For("a"); err == nil || !strings.Contains(err.Error(), "line 7") {
			t.Errorf("got %v", err)
		}
	}
}

// Server s, whose namespace is ns.
func TestWhatAnEntryMeans(t *testing.T) {
	for _, tt := range []struct {
		name, entry string
		items       string
		want        string
	}{
		{"a plain name", "read", "read write", "read"},
		{"a glob on plain names", "re*", "read reset write", "read reset"},
		{"alternatives", "{read,write}", "read reset write", "read write"},
		{"a qualified name", "s:read", "read write", "read"},
		{"a glob on qualified names", "s:*", "read write", "read write"},
		{"another server's name", "t:read", "read write", ""},
		{"a client's name", "mcp__s__read", "read write", "read"},
		{"a glob on clients' names", "mcp__s__w*", "read write", "write"},
		{"another server's in a client's name", "mcp__ss__read", "read write", ""},
		{"a namespaced name", "ns_read", "read write", "read"},
		{"a glob on namespaced names", "ns_*", "read write", "read write"},
		{"a glob that is about plain names means those alone", "ns_*", "ns_read write", "ns_read"},
		{"a name that is plain means that alone", "ns_read", "read ns_read", "ns_read"},
		{"a name of both", "ns_ns_read", "read ns_read", "ns_read"},
		{"upper case is another name", "Read", "read", ""},
		{"everything", "*", "read f://x", "read f://x"},
		{"a URI", "f://x", "f://x f://xy", "f://x"},
		{"a glob on URIs crosses slashes", "f://*", "f://x/y g://x", "f://x/y"},
		{"a URI template is its own name", "f://{+path}", "f://{+path} f://+path f://x", "f://{+path} f://+path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := (&Rules{Exposed: map[string]List{"s": listOf(1, "nothing", tt.entry)}}).For("")
			if err != nil {
				t.Fatal(err)
			}
			var items []Item
			for _, name := range strings.Fields(tt.items) {
				items = append(items, Item{Name: name, Shown: "ns_" + name})
			}
			var got []string
			for i, v := range p.Judge("s", items) {
				if v.Allowed {
					got = append(got, items[i].Name)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEntriesThatFitNothing(t *testing.T) {
	p, err := (&Rules{File: "f", Exposed: map[string]List{"s": {1, []Entry{{Text: "read", Line: 2}, {Text: "raed", Line: 3}, {Text: "w*", Line: 4}, {Text: "s:read", Line: 5}, {Text: "ns_x*", Line: 6}}}}}).For("")
	if err != nil {
		t.Fatal(err)
	}
	items := []Item{{Name: "read", Shown: "ns_read"}, {Name: "list", Shown: "ns_list"}}
	if got, want := p.Idle("s", items), []string{`"raed" (f:3)`, `"w*" (f:4)`, `"ns_x*" (f:6)`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var none *Policy
	if got := append(p.Idle("t", items), none.Idle("s", items)...); got != nil {
		t.Errorf("without a list: got %q", got)
	}
}

func TestQualifies(t *testing.T) {
	for text, want := range map[string]bool{
		"s:x": true, "mcp__s__x": true, "x": false, ":x": false, "s:y": false, "t:x": false, "ss:x": false, "s_x": false,
		"mcp__s__y": false, "mcp__s_x": false, "mcp__ss__x": false, "mcp__x": false, "mcp__s__": false, "": false, "s:": false, "mcp__s:x": false,
	} {
		if got := Qualifies(text, "s", "x"); got != want {
			t.Errorf("%q: got %t", text, got)
		}
		l, err := compile(listOf(1, text))
		if err != nil || l.patterns[0].matchQualified("s", "x") != want {
			t.Errorf("%q in a list: got %t, %v", text, !want, err)
		}
	}
	for text, want := range map[string]bool{"s:": true, "s:y": true, "mcp__s__": true, "mcp__s__y": true, "s": false, "s_y": false, "mcp__s_y": false, "ss:y": false} {
		if got := Addresses(text, "s"); got != want {
			t.Errorf("%q addresses s: got %t", text, got)
		}
	}
	for _, text := range []string{":x", "mcp____x"} {
		if Addresses(text, "") {
			t.Errorf("%q addresses a server without a name", text)
		}
		if Qualifies(text, "", "x") {
			t.Errorf("%q names the item of a server without a name", text)
		}
	}
}

// A glob for names of tools does not match all tools of a server whose name it matches.
func TestAGlobOfToolsIsNotOneOfServers(t *testing.T) {
	r := &Rules{Exposed: map[string]List{"get_x": {Entries: []Entry{{Text: "get_*"}, {Text: "get_x:sum"}, {Text: "mcp__get_x__av*"}}}}}
	p, err := r.For("")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"delete_all", "get_all", "sum", "avg"}
	var items []Item
	for _, name := range names {
		items = append(items, Item{Name: name, Shown: "x_" + name, Full: "x_" + name})
	}
	for i, v := range p.Judge("get_x", items) {
		if want := names[i] != "delete_all"; v.Allowed != want {
			t.Errorf("%s: allowed %t, want %t", names[i], v.Allowed, want)
		}
	}
}
