package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/toolset"
)

var wasOther = "sha256:" + strings.Repeat("0", 64)

// A tool that a toolset leaves out for security reasons cannot be had in any other way while the
// toolset is in use, and no text says how.
func TestARejectedToolStaysRejected(t *testing.T) {
	for _, use := range []string{"enable_toolset", "equip-toolset"} {
		withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
			a := g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_a"))
			s.sets = map[string]toolset.Set{
				"dev":   {Name: "dev", Tools: []toolset.Ref{{NamespacedName: "ns_a", RefID: wasOther}, {NamespacedName: "ns_b"}}},
				"fresh": {Name: "fresh", Tools: []toolset.Ref{{NamespacedName: "ns_a", RefID: a.RefID()}}},
			}
			g.activate(activation{toolsOn: []string{"ns_a"}})
			if o := g.own(use, oneSet("dev")); !strings.Contains(strings.Join(o.Warnings, " "), "SECURITY: the definition of ns_a has changed") || strings.Contains(o.structured, "built again") {
				t.Errorf("%s: says %s", use, o.structured)
			}
			refused := func(how, text string) {
				t.Helper()
				if !strings.Contains(text, "SECURITY: the definition of ns_a has changed") || strings.Contains(text, "toolman_activate with") ||
					strings.Contains(text, "built again") || strings.Contains(text, "enable_toolset with") || strings.Contains(text, "unequip") {
					t.Errorf("%s, %s: says %s", use, how, text)
				}
				if g.view().Active(a) || len(g.servers[0].hears()) > 0 {
					t.Errorf("%s: %s made it active", use, how)
				}
			}
			for _, name := range []string{"ns_a", "a", "ns:a", "mcp__ns__a", "ns.a", "ab.a", "dev.a"} {
				answer := g.client.asks(callFrame("1", name, "{}"))
				if name == "dev.a" { // the toolset does not have it
					if !strings.Contains(answer, "unknown tool dev.a") {
						t.Errorf("answered %s", answer)
					}
					continue
				}
				refused("a call of "+name, answer)
			}
			for _, name := range []string{"ns_a", "ns.a", "ns:a"} {
				_, o := g.activate(activation{toolsOn: []string{name}})
				refused("toolman_activate with "+name, o.text())
			}
			_, o := g.activate(activation{toolsOn: []string{"ns_*"}})
			refused("toolman_activate with ns_*", o.text())
			if !strings.Contains(o.text(), "ns_c") || !strings.Contains(o.text(), "ns_a stays off: toolset dev ") {
				t.Errorf("says %s", o.text())
			}
			refused("toolman_activate with a toolset that has it",
				g.own("toolman_activate", `{"tools_on":["toolset:fresh"],"tools_off":[],"resources_on":[],"resources_off":[]}`).structured)
			refused("a toolset that has it", g.own("enable_toolset", oneSet("ab")).structured)
			refused("toolman_call", g.client.asks(callFrame("1", "toolman_call", `{"name":"ns_a","arguments":{}}`)))

			g.activate(activation{toolsOff: []string{"ns_a"}}) // what is off may be named
			if use == "equip-toolset" {
				g.own("unequip-toolset", "{}")
			} else {
				g.own("disable_toolset", oneSet("dev"))
			}
			if _, o := g.activate(activation{toolsOn: []string{"ns_a"}}); !o.Success || !g.view().Active(a) {
				t.Errorf("%s: not in use any more: %s", use, o.text())
			}
		})
	}
}

// The bridge may use inactive tools, but not rejected ones.
func TestTheBridgeRefusesARejectedTool(t *testing.T) {
	set := toolset.Set{Name: "dev", Tools: []toolset.Ref{{NamespacedName: "ns_a", RefID: wasOther}, {NamespacedName: "ns_b"}}}
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Equipped: &set}, who: client.Info{AllActive: true}}, offer{namespace: "ns", tools: []string{"a", "b", "c"}})
	if answer := g.client.asks(callFrame("1", "ns_a", "{}")); !strings.Contains(answer, "SECURITY: the definition of ns_a has changed") {
		t.Errorf("answered %s", answer)
	}
	for _, name := range []string{"ns_b", "ns_c"} {
		g.client.says(callFrame("1", name, "{}"))
		if len(g.servers[0].hears()) != 1 {
			t.Errorf("%s is not called", name)
		}
	}
}

// What may be a replacement of a tool is rejected, too, unless a toolset in use has it, or it is
// active at start.
func TestAReplacementIsRejected(t *testing.T) {
	for _, tt := range []struct {
		name   string
		active []string
		refs   []string
		more   []string
		fails  bool
	}{
		{"renamed", nil, []string{"old_a"}, nil, true},
		{"active at start", []string{"ns_a"}, []string{"old_a"}, nil, false},
		{"also named", nil, []string{"old_a", "ns_a"}, nil, false},
		{"in another toolset", nil, []string{"old_a"}, []string{"ns_a"}, false},
	} {
		g := newRig(t, setup{active: tt.active, Options: Options{}}, offer{namespace: "ns", tools: []string{"a", "b"}})
		a := g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_a"))
		set := func(names []string) *toolset.Set {
			s := &toolset.Set{Name: strings.Join(names, "-")}
			for _, name := range names {
				s.Tools = append(s.Tools, toolset.Ref{NamespacedName: name, RefID: a.RefID()})
			}
			return s
		}
		g.s.View.Store(g.view().Enable(set(tt.refs)))
		if tt.more != nil {
			g.s.View.Store(g.view().Enable(set(tt.more)))
		}
		if _, o := g.activate(activation{toolsOn: []string{"ns_a"}}); o.Success == tt.fails {
			t.Errorf("%s: says %s", tt.name, o.text())
		}
	}
}
