package router

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/metatool"

	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/toolset"
	"toolman/router/view"
)

// pinsOf pins items, given as JSON or names, under their namespaced names.
func pinsOf(t testing.TB, namespace string, items map[mcpwire.Kind][]string) *catalog.Pins {
	t.Helper()
	// What an unpinned rig makes of the items is what they are called and what they are.
	g := newRig(t, setup{silent: true}, offer{namespace: namespace, tools: items[mcpwire.Tool], resources: items[mcpwire.Resource],
		templates: items[mcpwire.Template], prompts: items[mcpwire.Prompt]})
	var p catalog.Pins
	for k := range p {
		p[k] = map[string]string{}
	}
	for _, e := range g.r.Catalog().All() {
		def, err := e.Item.Definition()
		if err != nil {
			t.Fatal(err)
		}
		p[e.Item.Kind][e.Name] = mcpwire.RefID(def)
	}
	return &p
}

var pinnedItems = map[mcpwire.Kind][]string{
	mcpwire.Tool:     {`{"name":"good","description":"is good"}`, `{"name":"moved","description":"was harmless"}`, `{"name":"gone"}`},
	mcpwire.Resource: {"r://good", `{"uri":"r://moved","name":"was"}`},
	mcpwire.Template: {"t://{id}", `{"uriTemplate":"m://{id}","name":"was"}`, "r://{id}"},
	mcpwire.Prompt:   {"good", `{"name":"moved","description":"was"}`},
}

// drifted is what the server of pinnedItems offers now.
func drifted(namespace string) offer {
	return offer{namespace: namespace,
		tools: []string{`{ "description":"is good", "name":"good", "_meta":{"n":1} }`, `{"name":"moved","description":"is a trap"}`,
			`{"name":"new","description":"is a trap"}`, `{"name":"two","inputSchema":{"a":1,"a":2}}`},
		resources: []string{"r://good", `{"uri":"r://moved","name":"is a trap"}`, "r://new"},
		templates: []string{"t://{id}", `{"uriTemplate":"m://{id}","name":"is a trap"}`, "r://{id}", "n://{id}"},
		prompts:   []string{"good", `{"name":"moved","description":"is a trap"}`, "new"},
	}
}

func pinnedRig(t testing.TB, modes setup) *rig {
	modes.Pins = pinsOf(t, "ns", pinnedItems)
	modes.active = []string{"*"}
	return newRig(t, modes, drifted("ns"))
}

func TestWhatIsNotAsItsPinSaysIsNotOffered(t *testing.T) {
	g := pinnedRig(t, setup{})
	for k, want := range map[mcpwire.Kind][]string{mcpwire.Tool: {"ns_good"}, mcpwire.Resource: {"ns_r://good"},
		mcpwire.Template: {"ns_t://{id}", "ns_r://{id}"}, mcpwire.Prompt: {"ns_good"}} {
		checkList(t, k.String(), namesOf(g.view().ActiveEntries(k)), want...)
	}
	everything := view.CatalogText(g.view())
	for _, k := range allKinds {
		everything += strings.Join(g.listed(k), "\n")
	}
	for _, word := range []string{"trap", "moved", "new", "two"} {
		if strings.Contains(everything, word) {
			t.Errorf("a client is shown %q:\n%s", word, everything)
		}
	}
	var held []string
	for _, e := range g.r.Catalog().Held() {
		held = append(held, fmt.Sprintf("%s: %s", e.Name, e.Hold))
	}
	checkList(t, "held back", held, "ns_moved: it is not what the lock file says it was", "ns_new: it is not in the lock file",
		"ns_two: its definition is ambiguous", "ns_r://moved: it is not what the lock file says it was", "ns_r://new: it is not in the lock file",
		"ns_m://{id}: it is not what the lock file says it was", "ns_n://{id}: it is not in the lock file",
		"ns_moved: it is not what the lock file says it was", "ns_new: it is not in the lock file")
}

// pinRoads are all the ways to an item, by kind.
var pinRoads = map[mcpwire.Kind][]string{
	mcpwire.Tool: {`"tools/call","params":{"name":%q}`},
	mcpwire.Resource: {`"resources/read","params":{"uri":%q}`, `"resources/subscribe","params":{"uri":%q}`,
		`"completion/complete","params":{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":"a","value":""}}`},
	mcpwire.Prompt: {`"prompts/get","params":{"name":%q}`, `"completion/complete","params":{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"a","value":""}}`},
}

func TestNoRoadLeadsToWhatIsHeldBack(t *testing.T) {
	g := pinnedRig(t, setup{})
	for k, names := range map[mcpwire.Kind][]string{
		mcpwire.Tool:   {"ns_moved", "ns_new", "ns_two", "ns:moved", "mcp__ns__new", "two"},
		mcpwire.Prompt: {"ns_moved", "ns_new", "ns:moved", "new"},
		// The last of each: by the server's own URI, and by one that a template makes.
		mcpwire.Resource: {"ns_r://moved", "ns_r://new", "r://moved", "r://new", "ns_m://{id}", "ns_m://7", "m://7", "m://{id}", "ns_n://7", "n://7"},
	} {
		for _, road := range pinRoads[k] {
			for _, name := range names {
				answer := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":` + fmt.Sprintf(road, name) + `}`)
				if !strings.Contains(answer, " is held back: it") || !strings.Contains(answer, "toolman lock --diff") || strings.Contains(answer, "trap") {
					t.Errorf("%s of %s: %s", road, name, answer)
				}
			}
		}
	}
	g.quiet()
	g.client.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ns_good"}}`, `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"r://other"}}`)
	if n := len(g.servers[0].hears()); n != 2 {
		t.Errorf("%d of 2 calls of what is as it was reached the server", n)
	}
}

func TestWhatIsHeldBackCannotBeSwitchedOn(t *testing.T) {
	g := pinnedRig(t, setup{})
	activate := func(a metatool.Arguments) string {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toolman_activate","arguments":` + string(text) + `}}`)
	}
	none := []string{}
	for _, a := range []metatool.Arguments{
		{ToolsOn: []string{"ns_moved"}, ToolsOff: []string{"ns_good"}, ResourcesOn: none, ResourcesOff: none},
		{ToolsOn: none, ToolsOff: []string{"ns_good"}, ResourcesOn: []string{"ns_r://new"}, ResourcesOff: none},
		{ToolsOn: none, ToolsOff: []string{"ns_good"}, ResourcesOn: []string{"ns_m://{id}"}, ResourcesOff: none},
	} {
		if answer := activate(a); !strings.Contains(answer, "nothing was changed: ") || !strings.Contains(answer, " is held back: it is not") {
			t.Errorf("%+v: %s", a, answer)
		}
		checkList(t, "active", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_good")
	}
	if answer := activate(metatool.Arguments{ToolsOn: none, ToolsOff: []string{"ns_moved"}, ResourcesOn: none, ResourcesOff: []string{"ns_r://moved"}}); strings.Contains(answer, "isError\":true") {
		t.Errorf("what is held back cannot be switched off: %s", answer)
	}
}

// A policy comes first, and says nothing of pins to those whom it denies an item.
func TestPinsUnderAPolicy(t *testing.T) {
	p, err := (&policy.Rules{File: "f", Exposed: map[string]policy.List{"ns": {Line: 1, Entries: []policy.Entry{{Text: "good", Line: 2}, {Text: "moved", Line: 3}}}}}).For("")
	if err != nil {
		t.Fatal(err)
	}
	g := pinnedRig(t, setup{Options: Options{Policy: p}})
	checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_good")
	for name, want := range map[string]catalog.Verdict{"ns_good": catalog.Active, "ns_moved": catalog.Held, "ns_new": catalog.Denied} {
		if _, got := g.view().Find(mcpwire.Tool, []byte(name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		x := g.r.Explain(name)[0]
		if x.Callable != (want == catalog.Active) || x.Visible != (want == catalog.Active) || strings.Contains(x.Rule+x.Error, "held back") != (want == catalog.Held) {
			t.Errorf("%s is explained as %+v", name, x)
		}
	}
	if n := g.r.Preview().Denied; n == 0 || n == len(g.view().Catalog.Denied.All()) {
		t.Errorf("%d items are denied, not counting those held back", n)
	}
}

func TestANameThatIsHeldBackIsTaken(t *testing.T) {
	g := newRig(t, setup{Options: Options{Pins: pinsOf(t, "ns", map[mcpwire.Kind][]string{mcpwire.Tool: {"x"}})}, active: []string{"*"}},
		offer{namespace: "ns", tools: []string{`{"name":"x","description":"is a trap"}`}}, offer{namespace: "ns", tools: []string{"x"}})
	if got := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ns_x"}}`); !strings.Contains(got, "is held back") {
		t.Errorf("got %s", got)
	}
}

// A definition that changes while toolman runs is held back from then on, and let go when
// it is again what it was. What was switched on is on again then.
func TestADefinitionThatChangesMeanwhile(t *testing.T) {
	const was, is = `{"name":"x","description":"was"}`, `{"name":"x","description":"is a trap"}`
	g := newRig(t, setup{Options: Options{Pins: pinsOf(t, "ns", map[mcpwire.Kind][]string{mcpwire.Tool: {was}, mcpwire.Prompt: {"p"}})}},
		offer{namespace: "ns", tools: []string{was}, prompts: []string{"p"}})
	g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	g.client.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toolman_activate","arguments":{"tools_on":["ns_x"],"tools_off":[],"resources_on":[],"resources_off":[]}}}`)
	g.client.hears()
	server, call := g.servers[0], `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ns_x"}}`
	g.client.says(call)
	server.hearsOne()

	server.lists(mcpwire.Tool, is)
	g.r.update()
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if got := g.client.asks(strings.Replace(call, "3", "4", 1)); !strings.Contains(got, "it is not what the lock file says it was") {
		t.Errorf("got %s", got)
	}
	server.wants()

	server.lists(mcpwire.Prompt, `{"name":"p","description":"is a trap"}`)
	g.r.update()
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)

	server.lists(mcpwire.Tool, `{"description":"was", "name":"x"}`)
	g.r.update()
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	g.client.says(strings.Replace(call, "3", "5", 1))
	server.hearsOne()
}

// A toolset says of what is held back that it is that, and of what a policy denies that it is not
// there.
func TestToolsetsNameWhatIsHeldBack(t *testing.T) {
	p, err := (&policy.Rules{File: "f", Exposed: map[string]policy.List{"ns": {Line: 1, Entries: []policy.Entry{{Text: "moved", Line: 3}}}}}).For("")
	if err != nil {
		t.Fatal(err)
	}
	g := pinnedRig(t, setup{Options: Options{Policy: p, MetaTools: view.MetaTools{Toolsets: true}, Toolsets: []toolset.Set{fixed(t, "one", "ns_moved", "ns_new")}}})
	got := g.own("enable_toolset", oneSet("one")).Warnings
	if len(got) != 2 || !strings.HasPrefix(got[0], "SECURITY: tool ns_moved is held back: it is not what the lock file says it was. ") || got[1] != "1 tool is not there" {
		t.Errorf("warnings %q", got)
	}
	checkList(t, "active", namesOf(g.view().ActiveEntries(mcpwire.Tool)))
}
