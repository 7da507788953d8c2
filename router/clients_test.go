package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/metatool"
	"toolman/router/view"
)

func TestToolsAskClientsThatDeferThemToLoadThemAlways(t *testing.T) {
	yes, no := true, false
	tools := []string{`{ "name":"on1", "x":1.0 }`, `{"_meta":{"y":2},"name":"on2"}`, `{"name":"on3","_meta":{"anthropic/alwaysLoad":false}}`}
	for _, tt := range []struct {
		client string
		option *bool
		want   bool
	}{{"claude-code", nil, true}, {"rig", nil, false}, {"codex-mcp-client", nil, false}, {"rig", &yes, true}, {"claude-code", &no, false}} {
		for _, m := range []view.Mode{view.ModeMutate, view.ModeCall} {
			g := newRig(t, setup{silent: true, active: []string{"*on*"}, Options: Options{AlwaysLoad: tt.option, Mode: m}},
				offer{namespace: "ns", tools: append(tools, "off"), resources: []string{"on:"}, prompts: []string{"p"}})
			g.client.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"` + tt.client + `"}}}`)
			g.client.hears()
			listed := g.listed(mcpwire.Tool)
			own := len(listed) - 3
			want := []string{`{ "name":"ns_on1", "x":1.0 }`, `{"_meta":{"y":2},"name":"ns_on2"}`, `{"name":"ns_on3","_meta":{"anthropic/alwaysLoad":false}}`}
			if tt.want {
				want[0] = `{"_meta":{"anthropic/alwaysLoad":true}, "name":"ns_on1", "x":1.0 }`
				want[1] = `{"_meta":{"anthropic/alwaysLoad":true,"y":2},"name":"ns_on2"}`
			}
			checkList(t, tt.client, listed[own:], want...)
			for _, def := range listed[:own] {
				if strings.HasSuffix(def, `,"_meta":{"anthropic/alwaysLoad":true}}`) != tt.want {
					t.Errorf("%s: %s", tt.client, def)
				}
			}
			for _, k := range []mcpwire.Kind{mcpwire.Resource, mcpwire.Prompt} {
				if got := strings.Join(g.listed(k), ""); strings.Contains(got, "alwaysLoad") {
					t.Errorf("%s: %s", tt.client, got)
				}
			}
			// What the reply of an activation holds is the server's own definition.
			if _, o := g.activate(on("ns_off")); len(o.Tools) != 1 || string(o.Tools[0]) != `{"name":"ns_off"}` {
				t.Errorf("%s: definitions %s", tt.client, o.Tools)
			}
		}
	}
}

// The page that is kept is that of a client of the era and of these habits.
func TestPagesAreKeptByVariant(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", tools: []string{`{"name":"x","execution":{}}`}})
	for range 2 {
		if got := g.client.asks(legacyTools); !strings.Contains(got, `{"name":"ns_x","execution":{}}`) || strings.Contains(got, metatool.CallTool) {
			t.Errorf("legacy: %s", got)
		}
		if got := g.client.asks(modernTools); !strings.Contains(got, `{"name":"ns_x"}`) || !strings.Contains(got, metatool.CallTool) {
			t.Errorf("modern: %s", got)
		}
	}
	g.r.sessionEnv.Builtin.AlwaysLoad = new(bool)
	*g.r.sessionEnv.Builtin.AlwaysLoad = true
	if got := g.client.asks(modernTools); !strings.Contains(got, `{"_meta":{"anthropic/alwaysLoad":true},"name":"ns_x"}`) {
		t.Errorf("always loaded: %s", got)
	}
}
