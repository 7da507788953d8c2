package router

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/metatool"
	"toolman/router/view"
)

// switching is a rig of a client of that name, with some items active at start.
func switching(t testing.TB, client string, o Options) *rig {
	t.Helper()
	g := newRig(t, setup{silent: true, active: []string{"ns_on*"}, Options: o}, offer{
		namespace: "ns", tools: []string{"on", "off"}, resources: []string{"on://r", "off://r"}, prompts: []string{"p"},
	})
	if client != "" {
		g.client.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` +
			client + `","version":"1"}}}`)
		g.client.hears()
	}
	return g
}

// names are those of a list that the client is given in answer to a request.
func (g *rig) names(list, key, frame string) (names []string) {
	g.t.Helper()
	var reply struct {
		Result map[string]json.RawMessage
	}
	var items []map[string]any
	answer := g.client.asks(frame)
	if json.Unmarshal([]byte(answer), &reply) != nil || json.Unmarshal(reply.Result[list], &items) != nil {
		g.t.Fatalf("answered %s", answer)
	}
	for _, item := range items {
		names = append(names, item[key].(string))
	}
	return names
}

const (
	legacyTools     = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	legacyResources = `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`
)

var (
	modernTools = modernCall("1", "tools/list", "", "")
	bothOn      = activation{toolsOn: []string{"ns_off"}, resourcesOn: []string{"ns_off://r"}}
)

func TestTheModeIsTheClients(t *testing.T) {
	mutating, calling := []string{catalog.ActivateTool, "ns_on"}, []string{catalog.ActivateTool, metatool.CallTool, "ns_on"}
	for _, tt := range []struct {
		name, client string
		mode         view.Mode
		listens      string
		list         string
		want         []string
	}{
		{"a legacy client", "any", view.ModeAuto, "", legacyTools, mutating},
		{"one that never lists again", "codex-mcp-client", view.ModeAuto, "", legacyTools, calling},
		{"a modern one that does not listen", "", view.ModeAuto, "", modernTools, calling},
		{"a modern one that listens for tools", "", view.ModeAuto, `{"toolsListChanged":true}`, modernTools, mutating},
		{"a modern one that listens for prompts", "", view.ModeAuto, `{"promptsListChanged":true}`, modernTools, calling},
		{"told to mutate", "codex-mcp-client", view.ModeMutate, "", legacyTools, mutating},
		{"told to mutate, modern", "", view.ModeMutate, "", modernTools, mutating},
		{"told to call", "any", view.ModeCall, "", legacyTools, calling},
		{"told to call, and listening", "", view.ModeCall, `{"toolsListChanged":true}`, modernTools, calling},
		{"told to switch nothing", "any", view.ModeStatic, "", legacyTools, []string{"ns_on"}},
		{"told to switch nothing, modern", "", view.ModeStatic, "", modernTools, []string{"ns_on"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switching(t, tt.client, Options{Mode: tt.mode})
			if tt.listens != "" {
				g.listenFor(`"l"`, tt.listens)
			}
			checkList(t, "listed", g.names("tools", "name", tt.list), tt.want...)
		})
	}
}

func TestListsStayInCallModeAndTheCatalogTellsTheTruth(t *testing.T) {
	g := switching(t, "any", Options{Mode: view.ModeCall, Settle: time.Second})
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	tools, resources := g.client.asks(legacyTools), g.client.asks(legacyResources)
	if !strings.Contains(tools, `\n* ns_on\nns_off\n`) {
		t.Errorf("the marks are not those of the start: %s", tools)
	}
	g.client.says(bothOn.frame("2"))
	o := reportOf(t, g.client.hearsOne()) // at once, and nothing else is told
	want := `switched on ns_off, ns_off://r; adds about 8 tokens. Call what was switched on with toolman_call, as {"name": …, "arguments": {…}}; the definitions are in this result`
	if o.text() != want || len(o.Tools) != 1 || string(o.Tools[0]) != `{"name":"ns_off"}` {
		t.Errorf("says %q with %s", o.text(), o.Tools)
	}
	if got := g.client.asks(legacyTools); got != tools {
		t.Errorf("the list of tools has changed to %s", got)
	}
	if got := g.client.asks(legacyResources); got != resources {
		t.Errorf("the list of resources has changed to %s", got)
	}
	if got, want := view.CatalogText(g.view()), "Tools:\n* ns_on\n* ns_off\nResources:\n* ns_on://r\n* ns_off://r\n"; got != want {
		t.Errorf("the catalog is %q, want %q", got, want)
	}
	g.client.says(activation{toolsOff: []string{"ns_on"}}.frame("3"))
	g.client.hears()
	if got := reportOf(t, g.client.asks(callFrame("4", "ns_on", "{}"))); !strings.Contains(got.text(), "not active") {
		t.Errorf("what was switched off can be called: %+v", got)
	}
}

// What is active at start is what the servers have of it: their changes are told.
func TestChangesOfServersAreToldInCallMode(t *testing.T) {
	g := switching(t, "any", Options{Mode: view.ModeCall})
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, bothOn.frame("1"),
		activation{toolsOff: []string{"ns_on"}}.frame("2"))
	g.client.hears()
	g.servers[0].lists(mcpwire.Tool, "on", "off", "on2")
	g.r.update()
	checkList(t, "told", methodsOf(t, g.client.hears()), toolsChanged)
	checkList(t, "listed", g.names("tools", "name", legacyTools), catalog.ActivateTool, metatool.CallTool, "ns_on", "ns_on2")
	checkList(t, "active", activeNames(g.view()), "tool ns_off", "tool ns_on2", "resource ns_on://r", "resource ns_off://r")
	g.servers[0].dies()
	checkList(t, "told of the end", methodsOf(t, g.client.hears()), toolsChanged, resourcesChanged, "notifications/prompts/list_changed")
}

func TestNothingCanBeSwitchedInStaticMode(t *testing.T) {
	g := switching(t, "any", Options{Mode: view.ModeStatic})
	for name, frame := range map[string]string{
		"an activation":        bothOn.frame("1"),
		"a wrong one":          callFrame("1", catalog.ActivateTool, "{}"),
		"what is not active":   callFrame("1", "ns_off", "{}"),
		"that by toolman_call": callFrame("1", metatool.CallTool, `{"name":"ns_off"}`),
		"a resource":           `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ns_off://r"}}`,
	} {
		answer := g.client.asks(frame)
		if !strings.Contains(answer, "fixed by the configuration") || strings.Contains(answer, "call toolman_activate") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	checkList(t, "active", activeNames(g.view()), "tool ns_on", "resource ns_on://r")
	g.servers[0].wants()
}

// A modern client that has no subscription and a legacy one can share the pipe.
func TestEachEraIsToldOfItsOwnLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := switching(t, "any", Options{Settle: time.Second})
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		g.listenFor(`"l"`, `{"resourcesListChanged":true}`)
		g.client.says(bothOn.frame("1"))
		checkList(t, "told", g.after(0), toolsChanged, resourcesChanged) // not the subscription: its list stays
		checkList(t, "modern", g.names("tools", "name", modernTools), catalog.ActivateTool, metatool.CallTool, "ns_on")
		checkList(t, "legacy", g.names("tools", "name", legacyTools), catalog.ActivateTool, "ns_on", "ns_off")
	})
}

func TestAnActivationInCallModeDoesNotWaitAlthoughOthersAreTold(t *testing.T) {
	g := switching(t, "any", Options{Settle: time.Hour})
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	g.client.says(modernCall("2", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["ns_off"],"tools_off":[],"resources_on":[],"resources_off":[]}`, ""))
	if heard := g.client.hears(); len(heard) != 2 || !strings.Contains(heard[1], "Call what was switched on with toolman_call") {
		t.Errorf("heard %q", heard)
	}
}

func TestInstructionsFitTheMode(t *testing.T) {
	for m, words := range map[view.Mode][3]bool{view.ModeMutate: {true, false, false}, view.ModeCall: {true, true, false}, view.ModeStatic: {false, false, true}} {
		text := metatool.Instructions(m, view.MetaTools{})
		for i, word := range []string{catalog.ActivateTool, metatool.CallTool, "fixed"} {
			if strings.Contains(text, word) != words[i] {
				t.Errorf("%s: %q in %q: want %v", m, word, text, words[i])
			}
		}
	}
}
