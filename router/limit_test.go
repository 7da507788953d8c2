package router

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/policy"
	"toolman/router/toolset"
	"toolman/router/view"
)

// another is another client of the rig's router, which shares its servers.
func (g *rig) another(who client.Info) *link {
	g.t.Helper()
	l := &link{t: g.t}
	l.handler = g.r.NewSession(l, who)
	l.initialize("{}")
	l.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	l.hears()
	return l
}

// listed are the names, or URIs, in a list of the client.
func (l *link) listed(k mcpwire.Kind) []string {
	l.t.Helper()
	var reply struct {
		Result map[string]json.RawMessage
	}
	var items []struct{ Name, URI, URITemplate string }
	frame := l.asks(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, k.ListMethod()))
	if err := json.Unmarshal([]byte(frame), &reply); err != nil {
		l.t.Fatalf("%v: %s", err, frame)
	}
	if err := json.Unmarshal(reply.Result[k.Member()], &items); err != nil {
		l.t.Fatalf("%v: %s", err, frame)
	}
	var names []string
	for _, item := range items {
		switch {
		case item.URI == catalog.CatalogURI:
		case item.URI+item.URITemplate != "":
			names = append(names, item.URI+item.URITemplate)
		default:
			names = append(names, item.Name)
		}
	}
	return names
}

// library3 is a rig in which everything but ns_off is active, with three toolsets.
func library3(t *testing.T, o Options) *rig {
	t.Helper()
	o.Toolsets = []toolset.Set{fixed(t, "ab", "ns_a", "ns_b", "ns_r://*"), fixed(t, "off", "ns_off"), fixed(t, "prompts", "ns_p*")}
	return newRig(t, setup{active: []string{"ns_[abc]", "*r://*"}, Options: o}, offer{namespace: "ns", tools: []string{"a", "b", "c", "off"},
		resources: []string{"r://x", "s://x"}, templates: []string{"r://{id}"}, prompts: []string{"p", "q"}})
}

func TestAClientIsLimitedToItsToolsets(t *testing.T) {
	listed := view.MetaTools{NoActivate: true, List: true}
	for _, tt := range []struct {
		name                      string
		only                      []string
		tools, resources, prompts string
	}{
		{"no limit", nil, "list_tools ns_a ns_b ns_c", "ns_r://x", "ns_p ns_q"},
		{"one toolset, with its resources", []string{"ab"}, "list_tools ns_a ns_b", "ns_r://x", ""},
		{"what is not active otherwise", []string{"off"}, "list_tools ns_off", "", ""},
		{"two", []string{"off", "ab", "off"}, "list_tools ns_a ns_b ns_off", "ns_r://x", ""},
		{"prompts", []string{"prompts"}, "list_tools", "", "ns_p"},
		{"an unknown one adds nothing", []string{"ab", "all", "*"}, "list_tools ns_a ns_b", "ns_r://x", ""},
		{"none", []string{}, "list_tools", "", ""},
		{"an unknown one alone", []string{"AB"}, "list_tools", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := library3(t, Options{MetaTools: view.MetaTools{Toolsets: true}})
			l := g.another(client.Info{Only: tt.only, Static: "a reason", MetaTools: &listed})
			checkList(t, "tools", l.listed(mcpwire.Tool), strings.Fields(tt.tools)...)
			checkList(t, "resources", l.listed(mcpwire.Resource), strings.Fields(tt.resources)...)
			checkList(t, "prompts", l.listed(mcpwire.Prompt), strings.Fields(tt.prompts)...)
		})
	}
}

func TestWhatALimitedClientDoesNotHaveItCannotUse(t *testing.T) {
	g := library3(t, Options{MetaTools: view.MetaTools{Toolsets: true}})
	l := g.another(client.Info{Only: []string{"ab"}, Static: "a reason"})
	for _, frame := range []string{
		callFrame("1", "ns_c", "{}"), callFrame("1", "c", "{}"), callFrame("1", "ns:c", "{}"), callFrame("1", "ns_off", "{}"),
		callFrame("1", metatool.CallTool, `{"name":"ns_c"}`),
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ns_s://x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"s://x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"ns_p"}}`,
		callFrame("1", catalog.ActivateTool, `{"tools_on":["ns_off"],"tools_off":[],"resources_on":[],"resources_off":[]}`),
		callFrame("1", "enable_toolset", `{"name":"off"}`),
	} {
		if answer := l.asks(frame); !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error":{`) {
			t.Errorf("%s is answered with %s", frame, answer)
		}
	}
	for _, answer := range []string{l.asks(callFrame("1", "list_tools", "{}")), l.asks(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + catalog.CatalogURI + `"}}`)} {
		for _, other := range []string{"ns_c", "off", "s://x", "prompts"} {
			if strings.Contains(answer, other) {
				t.Errorf("it is told of %s: %s", other, answer)
			}
		}
	}
	if answer, want := l.asks(callFrame("1", "ns_c", "{}")), "tool ns_c is not for this client: the client is limited to the toolset ab, which does not contain it. Go on without it"; !strings.Contains(answer, want) {
		t.Errorf("got %s\nwant %s", answer, want)
	}
	g.servers[0].wants()
	l.says(callFrame("2", "ns_b", "{}"), `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"ns_r://7"}}`)
	if got := methodsOf(t, g.servers[0].hears()); len(got) != 2 {
		t.Errorf("the server has got %q", got)
	}
}

func TestPolicyAndLimitBothHaveToAllow(t *testing.T) {
	rules := &policy.Rules{File: "f", Exposed: map[string]policy.List{"ns": {Entries: []policy.Entry{{Text: "b"}, {Text: "c"}}}}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	g := library3(t, Options{})
	l := g.another(client.Info{Policy: p, Only: []string{"ab"}, Static: "a reason"})
	checkList(t, "tools", l.listed(mcpwire.Tool), "ns_b")
	for name, want := range map[string]string{"ns_a": "is denied by policy", "ns_c": "is not for this client"} {
		if answer := l.asks(callFrame("1", name, "{}")); !strings.Contains(answer, want) {
			t.Errorf("%s is answered with %s", name, answer)
		}
	}
}

func TestAStaticClientCanChangeNothing(t *testing.T) {
	g := library3(t, Options{MetaTools: view.MetaTools{Toolsets: true, Manage: true}, Shelf: &shelf{}})
	l := g.another(client.Info{Static: "a reason", MetaTools: &view.MetaTools{NoActivate: true, List: true}})
	before := l.listed(mcpwire.Tool)
	checkList(t, "tools", before, "list_tools", "ns_a", "ns_b", "ns_c")
	if answer := l.asks(callFrame("1", metatool.CallTool, `{"name":"ns_a"}`)); !strings.Contains(answer, "unknown tool") {
		t.Errorf("%s is answered with %s", metatool.CallTool, answer)
	}
	for _, tool := range []string{catalog.ActivateTool, "enable_toolset", "equip-toolset", "build-toolset", "list_toolsets"} {
		if answer := l.asks(callFrame("1", tool, `{"name":"off"}`)); !strings.Contains(answer, "unknown tool") && !strings.Contains(answer, "nothing can be switched") {
			t.Errorf("%s is answered with %s", tool, answer)
		}
	}
	checkList(t, "tools", l.listed(mcpwire.Tool), before...)
}

func TestWhatOneClientSwitchesAnotherDoesNotSee(t *testing.T) {
	g := library3(t, Options{})
	a, b := g.another(client.Info{}), g.another(client.Info{})
	if g.r.sessions.list()[0].View.Load() != g.r.sessions.list()[1].View.Load() {
		t.Error("clients with the same rights do not begin with the same view")
	}
	a.says(callFrame("1", catalog.ActivateTool, `{"tools_on":["ns_off"],"tools_off":["ns_a"],"resources_on":[],"resources_off":[]}`))
	heard := methodsOf(t, a.hears())
	changed := 0
	for _, method := range heard {
		if method == string(mcpwire.ToolsListChanged) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("it was told %q, want one list_changed", heard)
	}
	b.wants()
	checkList(t, "a has", a.listed(mcpwire.Tool), catalog.ActivateTool, "ns_b", "ns_c", "ns_off")
	checkList(t, "b has", b.listed(mcpwire.Tool), catalog.ActivateTool, "ns_a", "ns_b", "ns_c")
	if answer := a.asks(callFrame("2", "ns_a", "{}")); !strings.Contains(answer, "isError") {
		t.Errorf("what a has disabled answers %s", answer)
	}
	b.says(callFrame("2", "ns_a", "{}"))
	if got := methodsOf(t, g.servers[0].hears()); len(got) != 1 {
		t.Errorf("the server has got %q", got)
	}
}
