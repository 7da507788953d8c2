package router

import (
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// activeNames are the names of what is active, of all kinds that can be switched.
func activeNames(v *view.View) []string {
	var names []string
	for _, k := range []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template} {
		for _, e := range v.ActiveEntries(k) {
			names = append(names, k.String()+" "+e.Name)
		}
	}
	return names
}

func TestToolsAndResourcesAreSwitchedApart(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "one"))
	v := g.view()
	checkList(t, "at start", activeNames(v))
	tools := v.Apply(&view.Switches{ToolsOn: []string{"ns_x"}})
	checkList(t, "tool on", activeNames(tools), "tool ns_x")
	both := tools.Apply(&view.Switches{ResourcesOn: []string{"ns_x"}})
	checkList(t, "both on", activeNames(both), "tool ns_x", "resource ns_x", "resource template ns_x")
	resources := both.Apply(&view.Switches{ToolsOff: []string{"ns_x"}})
	checkList(t, "tool off", activeNames(resources), "resource ns_x", "resource template ns_x")
	checkList(t, "resource off", activeNames(resources.Apply(&view.Switches{ResourcesOff: []string{"ns_x"}})))

	checkList(t, "the first view does not change", activeNames(v))
	checkList(t, "nor does the second", activeNames(tools), "tool ns_x")
	for _, view := range []*view.View{v, tools, both, resources} {
		checkList(t, "prompts are always active", namesOf(view.ActiveEntries(mcpwire.Prompt)), "ns_x")
	}
}

func TestWhatIsNotMentionedStaysAsItIs(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_a", "ns_b"}}, offer{namespace: "ns", tools: []string{"a", "b", "c", "d"}})
	v := g.view().Apply(&view.Switches{ToolsOn: []string{"ns_c"}, ToolsOff: []string{"ns_a"}})
	v = v.Apply(&view.Switches{ToolsOn: []string{"ns_d", "ns_d", "ns_b"}})
	checkList(t, "active", activeNames(v), "tool ns_b", "tool ns_c", "tool ns_d")
}

func TestWhatIsSwitchedStaysSoWhenTheCatalogChanges(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_on*"}}, offer{namespace: "ns", tools: []string{"on1", "on2", "off1", "off2"}},
		offer{namespace: "other", tools: []string{"a"}})
	g.s.View.Store(g.view().Apply(&view.Switches{ToolsOn: []string{"ns_off1", "other_a"}, ToolsOff: []string{"ns_on1"}}))
	want := []string{"tool ns_on2", "tool ns_off1", "tool other_a"}
	checkList(t, "switched", activeNames(g.view()), want...)

	g.servers[0].lists(mcpwire.Tool, `{"name":"on1","title":"changed"}`, "on2", `{"name":"off1","title":"changed"}`, "off2", "on3", "off3")
	g.r.update()
	checkList(t, "new ones start by the globs", activeNames(g.view()), "tool ns_on2", "tool ns_off1", "tool ns_on3", "tool other_a")

	g.servers[0].lists(mcpwire.Tool)
	g.r.update()
	checkList(t, "one server has nothing", activeNames(g.view()), "tool other_a")
	g.servers[0].lists(mcpwire.Tool, "on1", "on2", "off1", "off2")
	g.r.update()
	checkList(t, "it has everything again", activeNames(g.view()), want...)

	g.servers[0].dies()
	checkList(t, "it is gone", activeNames(g.view()), "tool other_a")
}

func TestLookupAllocatesNothing(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_x"}}, alike("ns", "one"), offer{namespace: "ns", tools: []string{"idle"}})
	v := g.view().Apply(&view.Switches{ToolsOn: []string{"ns_x"}})
	for _, tt := range []struct {
		what string
		find func() catalog.Verdict
		want catalog.Verdict
	}{
		{"an active tool", func() catalog.Verdict { _, verdict := v.Find(mcpwire.Tool, []byte("ns_x")); return verdict }, catalog.Active},
		{"an inactive tool", func() catalog.Verdict { _, verdict := v.Find(mcpwire.Tool, []byte("ns_idle")); return verdict }, catalog.Inactive},
		{"an unknown tool", func() catalog.Verdict { _, verdict := v.Find(mcpwire.Tool, []byte("ns_y")); return verdict }, catalog.Unknown},
		{"a prompt", func() catalog.Verdict { _, verdict := v.Find(mcpwire.Prompt, []byte("ns_x")); return verdict }, catalog.Active},
		{"a listed resource", func() catalog.Verdict { _, verdict := v.FindURI([]byte("ns_x")); return verdict }, catalog.Active},
	} {
		var got catalog.Verdict
		if n := testing.AllocsPerRun(100, func() { got = tt.find() }); n > 0 || got != tt.want {
			t.Errorf("%s: %v allocations, %s, want %s", tt.what, n, got, tt.want)
		}
	}
}
