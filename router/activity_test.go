package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// Whatever makes a tool active or keeps it from being so is named: in the refusal as in the
// explanation.
func TestWhyAToolIsActive(t *testing.T) {
	g := sets(t, Options{})
	why := func(step, tool, want string) {
		t.Helper()
		e := g.view().Catalog.Lookup(mcpwire.Tool, []byte(tool))
		if got := g.view().Activity(e); got != want {
			t.Errorf("%s: %s: %q, want %q", step, tool, got, want)
		}
		if g.view().Active(e) {
			return
		}
		if answer := g.client.asks(callFrame("1", tool, "{}")); !strings.Contains(answer, "tool "+tool+" is not active: "+want+"; call toolman_activate with ") {
			t.Errorf("%s: a call of %s is answered %s", step, tool, answer)
		}
	}
	why("at start", "ns_on", `active_toolsets has "ns_on"`)
	why("at start", "ns_a", "active_toolsets does not have it")
	g.own("enable_toolset", oneSet("ab"))
	why("enabled", "ns_a", "toolset ab (tools.toml:1) is enabled")
	why("enabled", "ns_c", "active_toolsets does not have it")
	g.activate(activation{toolsOff: []string{"ns_a"}, toolsOn: []string{"ns_c"}})
	why("switched", "ns_a", "it was switched off")
	why("switched", "ns_c", "it was switched on")
	g.own("equip-toolset", oneSet("bc"))
	why("equipped", "ns_b", "toolset bc (tools.toml:1) is equipped")
	why("equipped", "ns_on", "toolset bc (tools.toml:1) is equipped and does not have it")
	g.own("enable_toolset", oneSet("ab"))
	why("equipped and enabled", "ns_a", "toolset ab (tools.toml:1) is enabled")
}

// A toolset that was to have a tool and leaves it out says so, also where others made the tool
// active.
func TestWhyAToolIsLeftOut(t *testing.T) {
	const text = "the definition of ns_a has changed since the toolset was saved; it is left out"
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		s.sets = map[string]toolset.Set{"dev": {Name: "dev", Tools: []toolset.Ref{
			{NamespacedName: "ns_a", RefID: "sha256:" + strings.Repeat("0", 64)}, {NamespacedName: "ns_on", RefID: "sha256:" + strings.Repeat("0", 64)}}}}
		for _, tool := range []string{"enable_toolset", "equip-toolset"} {
			g.own(tool, oneSet("dev"))
			if answer := g.client.asks(callFrame("1", "ns_a", "{}")); !strings.Contains(answer, "is not active: toolset dev (.toolman/toolsets.json) leaves it out: SECURITY: "+text) {
				t.Errorf("%s: answered %s", tool, answer)
			}
		}
		g.own("unequip-toolset", "{}")
		e := g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_on"))
		if got := g.view().Activity(e); got != `active_toolsets has "ns_on"` {
			t.Errorf("what is active all the same: %s", got)
		}
	})
}

// Toolman's own tools are explained, also those that it is not asked for.
func TestExplainKnowsToolmansOwn(t *testing.T) {
	for _, tt := range []struct {
		name     string
		o        Options
		callable bool
		says     string
	}{
		{catalog.ActivateTool, Options{}, true, "it is toolman's own, and policies do not"},
		{catalog.ActivateTool, Options{MetaTools: view.MetaTools{NoActivate: true}}, false, "meta_tools does not ask for it"},
		{"enable_toolset", Options{MetaTools: view.MetaTools{Toolsets: true}}, true, "it is toolman's own, and policies do not"},
		{"enable_toolset", Options{}, false, "meta_tools does not ask for it"},
		{"equip-toolset", Options{MetaTools: view.MetaTools{Toolsets: true}}, false, "meta_tools does not ask for it"},
		{"enable_toolset", Options{Mode: view.ModeStatic, MetaTools: view.MetaTools{Toolsets: true}}, false, "activation_mode = \"static\""},
		{catalog.ActivateTool, Options{Mode: view.ModeStatic}, false, "activation_mode = \"static\""},
		{"list_tools", Options{Mode: view.ModeStatic, MetaTools: view.MetaTools{Toolsets: true}}, true, "policies do not apply to it"},
		{catalog.CatalogURI, Options{Mode: view.ModeStatic}, true, "policies do not apply to it"},
	} {
		all := newRig(t, setup{Options: tt.o}, offer{namespace: "ns", tools: []string{"a"}}).r.Explain(tt.name)
		if len(all) != 1 || all[0].Callable != tt.callable || all[0].Visible != tt.callable || !strings.Contains(all[0].Rule, tt.says) || (all[0].Error == "") != tt.callable {
			t.Errorf("%s with %+v is explained as %+v", tt.name, tt.o, all)
		}
	}
	g := newRig(t, setup{}, offer{tools: []string{"enable_toolset"}})
	if all := g.r.Explain("enable_toolset"); len(all) != 1 || all[0].Server == "toolman" {
		t.Errorf("a server's tool of that name is explained as %+v", all)
	}
}

func TestExplainNamesWhatASessionBeginsWith(t *testing.T) {
	set := fixed(t, "one", "ns_a")
	g := newRig(t, setup{active: []string{"ns_r*"}, Options: Options{Equipped: &set}}, offer{namespace: "ns", tools: []string{"a", "b"},
		resources: []string{"r://1", "x://1"}, prompts: []string{"p"}})
	for name, want := range map[string]string{
		"ns_a":               "toolset one (tools.toml:1) is equipped",
		"ns_b":               "toolset one (tools.toml:1) is equipped and does not have it",
		"ns_r://1":           `active_toolsets has "ns_r*"`,
		"ns_x://1":           "active_toolsets does not have it",
		"ns_p":               "every prompt is active",
		catalog.ActivateTool: "it is toolman's own",
	} {
		if got := g.r.Explain(name)[0]; got.Activity != want || got.Active != got.Callable || !got.Callable && !strings.Contains(got.Error, "is not active: "+want+"; ") {
			t.Errorf("%s is explained as %+v, want %q", name, got, want)
		}
	}
}
