package router

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/view"
)

// A shelf keeps toolsets in memory.
type shelf struct {
	mu   sync.Mutex
	sets map[string]toolset.Set
	err  error
	hold chan struct{} // when not nil, both methods wait for it
}

func (s *shelf) Load() (map[string]toolset.Set, error) {
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	return maps.Clone(s.sets), nil
}

func (s *shelf) Update(_ context.Context, change func(map[string]toolset.Set) error) error {
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.sets == nil {
		s.sets = map[string]toolset.Set{}
	}
	return change(s.sets)
}

// fixed is a toolset of tools.toml.
func fixed(t testing.TB, name string, patterns ...string) toolset.Set {
	t.Helper()
	globs, err := catalog.CompileGlobs(patterns)
	if err != nil {
		t.Fatal(err)
	}
	set := toolset.Set{Name: name, Description: "About " + name, File: "tools.toml", Line: 1}
	for i, p := range patterns {
		set.Patterns = append(set.Patterns, toolset.Pattern{Text: p, Glob: globs[i]})
	}
	return set
}

// sets is a rig of a client with these toolsets, of which ns_on is active at start.
func sets(t testing.TB, o Options) *rig {
	t.Helper()
	o.Toolsets = append(o.Toolsets, fixed(t, "ab", "ns_a", "ns_b"), fixed(t, "bc", "ns_[bc]"), fixed(t, "on", "ns_on", "ns_none"))
	if o.MetaTools == (view.MetaTools{}) {
		o.MetaTools = view.MetaTools{Toolsets: true, Manage: true}
	}
	return newRig(t, setup{active: []string{"ns_on"}, Options: o}, offer{namespace: "ns", tools: []string{"on", "a", "b", "c"}, resources: []string{"r://x"}})
}

// An ownReply is what a tool of toolman's own has answered.
type ownReply struct {
	Success    bool
	Message    string
	Warnings   []string
	Tools      []json.RawMessage
	Toolsets   []json.RawMessage
	notified   []string
	structured string
	failed     bool
}

// own calls one of toolman's own tools, and waits for what is done apart.
func (g *rig) own(tool, args string) (o ownReply) {
	g.t.Helper()
	return g.ownOf(g.client, tool, args)
}

// ownOf is own for a client.
func (g *rig) ownOf(client *link, tool, args string) (o ownReply) {
	g.t.Helper()
	client.says(callFrame(`"own"`, tool, args))
	if g.r.Shelf != nil {
		synctest.Wait()
	}
	heard := client.hears()
	if len(heard) == 0 {
		g.t.Fatalf("%s is not answered", tool)
	}
	last := len(heard) - 1
	var frame struct {
		ID     string
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(heard[last]), &frame); err != nil || frame.ID != "own" || len(frame.Result.Content) == 0 {
		g.t.Fatalf("%v: %s", err, heard[last])
	}
	if err := json.Unmarshal(frame.Result.StructuredContent, &o); err != nil {
		g.t.Fatalf("%v: %s", err, heard[last])
	}
	if !strings.HasPrefix(string(frame.Result.StructuredContent), strings.TrimSuffix(frame.Result.Content[0].Text, "}")) {
		g.t.Errorf("the text says something else: %s", heard[last])
	}
	o.notified, o.structured, o.failed = methodsOf(g.t, heard[:last]), string(frame.Result.StructuredContent), frame.Result.IsError
	return o
}

func oneSet(name string) string { return fmt.Sprintf(`{"name":%q}`, name) }

// activeTools are the tools that may be called, by asking for each.
func (g *rig) activeTools() (names []string) {
	g.t.Helper()
	for _, e := range g.view().Catalog.Tools() {
		g.client.says(callFrame("7", e.Name, `{}`))
		if sent := g.servers[0].hears(); len(sent) == 1 {
			names = append(names, e.Name)
			g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(g.t, sent[0]) + `,"result":{"content":[]}}`)
		}
		g.client.hears()
	}
	return names
}

func TestEnabledToolsetsAddTheirTools(t *testing.T) {
	g := sets(t, Options{})
	step := func(tool, set string, notified int, active ...string) ownReply {
		t.Helper()
		o := g.own(tool, oneSet(set))
		if !o.Success || len(o.notified) != notified || o.failed {
			t.Errorf("%s %s: %+v", tool, set, o)
		}
		checkList(t, tool+" "+set, g.activeTools(), active...)
		checkList(t, "listed", namesOf(g.view().Visible(mcpwire.Tool, false)), active...)
		return o
	}
	if o := step("enable_toolset", "ab", 1, "ns_on", "ns_a", "ns_b"); o.Message != "Toolset 'ab' enabled: switched on ns_a, ns_b; adds about 6 tokens" || len(o.Tools) != 2 {
		t.Errorf("says %+v", o)
	}
	step("enable_toolset", "bc", 1, "ns_on", "ns_a", "ns_b", "ns_c")
	step("disable_toolset", "ab", 1, "ns_on", "ns_b", "ns_c") // ns_b is bc's, too
	g.activate(activation{toolsOff: []string{"ns_b"}})
	checkList(t, "without one", g.activeTools(), "ns_on", "ns_c")
	step("disable_toolset", "bc", 1, "ns_on")
	step("enable_toolset", "ab", 1, "ns_on", "ns_a", "ns_b") // although ns_b was switched off
	o := step("enable_toolset", "on", 0, "ns_on", "ns_a", "ns_b")
	checkList(t, "warnings", o.Warnings, "1 tool is not there")
	step("disable_toolset", "on", 1, "ns_a", "ns_b") // also what was active at start
}

func TestToolsetsThatCannotBeSwitched(t *testing.T) {
	g := sets(t, Options{})
	g.own("enable_toolset", oneSet("ab"))
	before := g.view()
	for _, tt := range []struct{ tool, args, want string }{
		{"enable_toolset", oneSet("ab"), "Toolset 'ab' is already enabled."},
		{"disable_toolset", oneSet("bc"), "Toolset 'bc' is not currently active. Active toolsets: ab"},
		{"enable_toolset", oneSet("abc"), "unknown toolset abc; there are ab, bc, on"},
		{"disable_toolset", oneSet("abc"), "unknown toolset abc"},
		{"describe_toolset", oneSet("abc"), "unknown toolset abc"},
		{"equip-toolset", oneSet("abc"), "unknown toolset abc"},
		{"enable_toolset", `{}`, "name is missing, or not a string"},
		{"enable_toolset", `[]`, "arguments must be an object"},
		{"enable_toolset", `{"name":1}`, "name is missing, or not a string"},
		{"enable_toolset", `{"name":"bc","tools":[]}`, `"tools" is not a parameter; there are name`},
		{"enable_toolset", `{"name":"bc","name":"bc"}`, "name"},
		{"list_tools", `{"name":"bc"}`, `"name" is not a parameter; there are none`},
		{"list_toolsets", `{"name":"bc"}`, "not a parameter"},
		{"unequip-toolset", `{}`, "no toolset is equipped"},
		{"delete-toolset", oneSet("ab"), "toolsets cannot be saved here"},
		{"build-toolset", `{"name":"new","tools":[{"namespacedName":"ns_a"}]}`, "toolsets cannot be saved here"},
	} {
		o := g.own(tt.tool, tt.args)
		if o.Success || !o.failed || !strings.Contains(o.Message, tt.want) || len(o.notified) > 0 || g.view() != before {
			t.Errorf("%s %s: %+v", tt.tool, tt.args, o)
		}
	}
}

func TestToolsetsAreShown(t *testing.T) {
	g := sets(t, Options{})
	g.own("enable_toolset", oneSet("bc"))
	if o := g.own("list_tools", `{}`); o.structured != `{"tools":["ns_on","ns_b","ns_c"],"toolsetToTools":{"ab":["ns_a","ns_b"],"bc":["ns_b","ns_c"],"on":["ns_on"]}}` {
		t.Errorf("got %s", o.structured)
	}
	const bc = `{"key":"bc","active":true,"definition":{"name":"bc","description":"About bc"},"tools":["ns_b","ns_c"]}`
	if o := g.own("describe_toolset", oneSet("bc")); o.structured != bc {
		t.Errorf("got %s", o.structured)
	}
	o := g.own("list_toolsets", `{}`)
	if len(o.Toolsets) != 3 || string(o.Toolsets[1]) != bc || !strings.Contains(o.structured, `"warnings":["1 tool is not there"]`) {
		t.Errorf("got %s", o.structured)
	}
}

func TestOnlyTheToolsAskedForAreOffered(t *testing.T) {
	toolsets := []string{"describe_toolset", "disable_toolset", "enable_toolset", "list_tools", "list_toolsets"}
	manage := []string{"build-toolset", "delete-toolset", "equip-toolset", "get-active-toolset", "list-available-tools", "list-saved-toolsets", "unequip-toolset"}
	for _, tt := range []struct {
		name string
		mode view.Mode
		o    view.MetaTools
		want []string
	}{
		{"as it comes", view.ModeMutate, view.MetaTools{}, []string{catalog.ActivateTool}},
		{"none", view.ModeMutate, view.MetaTools{NoActivate: true}, nil},
		{"none, in call mode", view.ModeCall, view.MetaTools{NoActivate: true}, nil},
		{"toolsets", view.ModeMutate, view.MetaTools{Toolsets: true}, append([]string{catalog.ActivateTool}, toolsets...)},
		{"toolsets alone, in call mode", view.ModeCall, view.MetaTools{NoActivate: true, Toolsets: true}, append([]string{metatool.CallTool}, toolsets...)},
		{"manage", view.ModeMutate, view.MetaTools{NoActivate: true, Manage: true}, manage},
		{"all", view.ModeCall, view.MetaTools{Toolsets: true, Manage: true}, slices.Concat([]string{catalog.ActivateTool, metatool.CallTool}, slices.Sorted(slices.Values(slices.Concat(toolsets, manage))))},
		{"all, in static mode", view.ModeStatic, view.MetaTools{Toolsets: true, Manage: true}, []string{"list_tools"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRig(t, setup{Options: Options{Mode: tt.mode, MetaTools: tt.o}}, offer{namespace: "", tools: slices.Concat(toolsets, manage, []string{catalog.ActivateTool})})
			checkList(t, "listed", g.names("tools", "name", legacyTools), tt.want...)
			for _, e := range g.view().Catalog.Tools() {
				if slices.Contains(tt.want, e.Name) {
					t.Errorf("a server offers %s", e.Name)
				}
			}
			if tt.o.NoActivate {
				text := session.Simulate(g.s).Instructions(false) + g.client.asks(legacyResources) + strings.Join(g.listed(mcpwire.Tool), "") +
					g.client.asks(callFrame("1", "get-active-toolset", "{}"))
				if strings.Contains(text, catalog.ActivateTool) != slices.ContainsFunc(g.view().ActiveEntries(mcpwire.Tool), func(e *catalog.Entry) bool { return e.Name == catalog.ActivateTool }) {
					t.Errorf("%s is mentioned: %s", catalog.ActivateTool, text)
				}
			}
		})
	}
}

func TestNothingIsEnabledInStaticMode(t *testing.T) {
	g := sets(t, Options{Mode: view.ModeStatic})
	for _, tool := range []string{"enable_toolset", "disable_toolset", "equip-toolset", "unequip-toolset", "build-toolset"} {
		if o := g.own(tool, oneSet("ab")); o.Success || !o.failed || !strings.Contains(o.Message, "fixed by the configuration") {
			t.Errorf("%s: %+v", tool, o)
		}
	}
	if _, o := g.activate(activation{toolsOn: []string{"toolset:ab"}}); !strings.Contains(*o.Error, "fixed by the configuration") {
		t.Errorf("says %+v", o)
	}
	checkList(t, "active", g.activeTools(), "ns_on")
}

func TestEnabledToolsAreCalledThroughInCallMode(t *testing.T) {
	for _, modern := range []bool{false, true} {
		g := sets(t, Options{Mode: view.ModeCall})
		list, call := legacyTools, func(tool, args string) string { return callFrame("5", tool, args) }
		if modern {
			list, call = modernTools, func(tool, args string) string {
				return modernCall("5", "tools/call", `"name":"`+tool+`","arguments":`+args, "")
			}
		}
		before := g.names("tools", "name", list)
		answer := g.client.asks(call("enable_toolset", oneSet("ab")))
		if !strings.Contains(answer, "toolman_call") || !strings.Contains(answer, `"tools":[{"name":"ns_a"`) || strings.Contains(answer, "resultType") != modern {
			t.Errorf("modern %v: answered %s", modern, answer)
		}
		checkList(t, "listed", g.names("tools", "name", list), before...)
		g.client.says(call(metatool.CallTool, `{"name":"ns_a"}`))
		if sent := g.servers[0].hears(); len(sent) != 1 || !strings.Contains(sent[0], `"name":"a"`) {
			t.Errorf("the server got %q", sent)
		}
		g.client.asks(call("disable_toolset", oneSet("ab")))
		if answer := g.client.asks(call(metatool.CallTool, `{"name":"ns_a"}`)); !strings.Contains(answer, "not active") {
			t.Errorf("answered %s", answer)
		}
		g.servers[0].wants()
	}
}

func TestActivationsMayNameToolsets(t *testing.T) {
	g := sets(t, Options{})
	notified, o := g.activate(activation{toolsOn: []string{"toolset:ab", "toolset:on"}, toolsOff: []string{"ns_b"}, resourcesOn: []string{"ns_r://x"}})
	checkList(t, "notified", notified, toolsChanged, resourcesChanged)
	if o.text() != "switched on ns_a, ns_r://x; adds about 7 tokens. 1 tool is not there" {
		t.Errorf("says %q", o.text())
	}
	checkList(t, "active", g.activeTools(), "ns_on", "ns_a")
	g.activate(activation{toolsOff: []string{"toolset:ab", "toolset:bc"}})
	checkList(t, "active", g.activeTools(), "ns_on")
	before := g.view()
	for _, tt := range []struct {
		a    activation
		want string
	}{
		{activation{toolsOn: []string{"toolset:ab", "toolset:nope"}}, "unknown toolset nope; there are ab, bc, on"},
		{activation{toolsOn: []string{"toolset:ab", "ns_x"}}, "unknown tool ns_x"},
		{activation{toolsOn: []string{"toolset:ab"}, toolsOff: []string{"toolset:ab"}}, "ab is to be both on and off"},
		{activation{resourcesOn: []string{"toolset:ab"}}, "unknown resource toolset:ab"},
	} {
		notified, o := g.activate(tt.a)
		if len(notified) > 0 || g.view() != before || !strings.Contains(*o.Error, tt.want) {
			t.Errorf("%+v: says %s", tt.a, *o.Error)
		}
	}
}

func TestAnEquippedToolsetIsAllThereIs(t *testing.T) {
	g := sets(t, Options{})
	g.activate(activation{toolsOn: []string{"ns_c"}, resourcesOn: []string{"ns_r://x"}})
	g.own("enable_toolset", oneSet("bc"))
	if o := g.own("equip-toolset", oneSet("ab")); !o.Success || len(o.notified) != 1 {
		t.Errorf("got %+v", o)
	}
	checkList(t, "equipped", g.activeTools(), "ns_a", "ns_b")
	var status struct {
		Equipped    bool
		Toolset     struct{ Name string }
		ToolSummary struct{ CurrentlyExposed, TotalDiscovered, FilteredOut int }
	}
	if err := json.Unmarshal([]byte(g.own("get-active-toolset", `{}`).structured), &status); err != nil || !status.Equipped ||
		status.Toolset.Name != "ab" || status.ToolSummary.FilteredOut != 2 || status.ToolSummary.TotalDiscovered != 4 {
		t.Errorf("%v, %+v", err, status)
	}
	g.activate(activation{toolsOn: []string{"ns_c"}})
	checkList(t, "one more", g.activeTools(), "ns_a", "ns_b", "ns_c")
	g.own("equip-toolset", oneSet("on"))
	checkList(t, "another", g.activeTools(), "ns_on")
	g.servers[0].lists(mcpwire.Tool, "on", "a", "b", "c", "d") // the view is made anew meanwhile
	g.r.update()
	g.client.hears()
	g.own("unequip-toolset", `{}`)
	checkList(t, "as before", g.activeTools(), "ns_on", "ns_b", "ns_c")
	if !slices.ContainsFunc(g.view().ActiveEntries(mcpwire.Resource), func(e *catalog.Entry) bool { return e.Name == "ns_r://x" }) {
		t.Error("the resource is not active any more")
	}
	g.own("disable_toolset", oneSet("bc"))
	checkList(t, "without what was enabled before", g.activeTools(), "ns_on")
}

func TestASessionMayBeginWithAToolset(t *testing.T) {
	set := fixed(t, "late", "two_*")
	for _, mode := range []view.Mode{view.ModeMutate, view.ModeCall, view.ModeStatic} {
		g := newRig(t, setup{active: []string{"*"}, Options: Options{Mode: mode, Equipped: &set, MetaTools: view.MetaTools{Manage: true}}},
			offer{namespace: "one", tools: []string{"a"}}, offer{namespace: "two", tools: []string{"a"}, late: true})
		checkList(t, "before the server is there", namesOf(g.view().ActiveEntries(mcpwire.Tool)))
		g.servers[1].ready()
		g.client.hears()
		checkList(t, "when it is", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "two_a")
		if list := g.names("tools", "name", legacyTools); !slices.Contains(list, "two_a") || slices.Contains(list, "one_a") {
			t.Errorf("%v: listed %q", mode, list)
		}
		if mode == view.ModeStatic {
			continue
		}
		g.own("unequip-toolset", `{}`)
		checkList(t, "unequipped", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "one_a", "two_a")
	}
}

// A toolset of active_toolsets is an enabled one.
func TestAPreloadedToolsetIsActiveAndCanBeDisabled(t *testing.T) {
	preloaded := func(t *testing.T, o Options) *rig {
		o.Toolsets = []toolset.Set{fixed(t, "ab", "ns_a", "ns_b"), fixed(t, "bc", "ns_[bc]")}
		o.Preloaded, o.MetaTools = []string{"ab"}, view.MetaTools{Toolsets: true, Manage: true}
		return newRig(t, setup{active: []string{"ns_a", "ns_b", "ns_on"}, Options: o}, offer{namespace: "ns", tools: []string{"on", "a", "b", "c"}})
	}
	status := func(g *rig, set string) string {
		return g.own("describe_toolset", oneSet(set)).structured
	}
	g := preloaded(t, Options{})
	checkList(t, "active for others", g.r.ToolStatus(client.Info{}).Active, "ab")
	for _, text := range []string{status(g, "ab"), g.own("list_toolsets", "{}").structured} {
		if !strings.Contains(text, `"key":"ab","active":true`) {
			t.Errorf("says %s", text)
		}
	}
	if got := g.view().Activity(g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_a"))); got != `active_toolsets has "ns_a"` {
		t.Errorf("active because %s", got)
	}
	g.own("enable_toolset", oneSet("bc"))
	if o := g.own("disable_toolset", oneSet("ab")); o.Message != "Toolset 'ab' disabled: switched off ns_a; saves about 3 tokens" || len(o.notified) != 1 {
		t.Errorf("says %+v", o)
	}
	checkList(t, "disabled", g.activeTools(), "ns_on", "ns_b", "ns_c")
	if text := status(g, "ab"); !strings.Contains(text, `"active":false`) {
		t.Errorf("says %s", text)
	}
	if o := g.own("disable_toolset", oneSet("ab")); o.Success || o.Message != "Toolset 'ab' is not currently active. Active toolsets: bc" {
		t.Errorf("says %+v", o)
	}
	g.own("enable_toolset", oneSet("ab"))
	checkList(t, "enabled again", g.activeTools(), "ns_on", "ns_a", "ns_b", "ns_c")

	bc := fixed(t, "bc", "ns_[bc]")
	g = preloaded(t, Options{Equipped: &bc})
	if text := status(g, "ab"); !strings.Contains(text, `"active":false`) {
		t.Errorf("while another one is equipped: %s", text)
	}
	g.own("unequip-toolset", "{}")
	checkList(t, "unequipped", g.activeTools(), "ns_on", "ns_a", "ns_b")
	if text := status(g, "ab"); !strings.Contains(text, `"active":true`) {
		t.Errorf("unequipped: %s", text)
	}
	if o := g.own("disable_toolset", oneSet("ab")); !o.Success {
		t.Errorf("says %+v", o)
	}
}

// A reload changes the toolsets that are preloaded. What the client has enabled or disabled stays.
func TestAReloadOfPreloadedToolsets(t *testing.T) {
	all := []toolset.Set{fixed(t, "a", "ns_a"), fixed(t, "b", "ns_b"), fixed(t, "c", "ns_c")}
	for _, tt := range []struct{ name, do, set, want string }{
		{"an untouched session", "", "", "b c"},
		{"one that has enabled another", "enable_toolset", "c", "b c"},
		{"one that has disabled what stays", "disable_toolset", "b", "c"},
		{"one that has disabled what goes", "disable_toolset", "a", "b c"},
	} {
		o := Options{Toolsets: all, Preloaded: []string{"a", "b"}, MetaTools: view.MetaTools{Toolsets: true}}
		g := newRig(t, setup{active: []string{"ns_a", "ns_b"}, Options: o}, offer{namespace: "ns", tools: []string{"a", "b", "c"}})
		if tt.do != "" {
			if got := g.own(tt.do, oneSet(tt.set)); !got.Success {
				t.Fatalf("%s: %+v", tt.name, got)
			}
		}
		next := *g.r.current()
		next.Preloaded = []string{"b", "c"}
		g.r.Reload(next)
		g.client.hears()
		var list struct {
			Toolsets []struct {
				Key    string
				Active bool
			}
		}
		if err := json.Unmarshal([]byte(g.own("list_toolsets", "{}").structured), &list); err != nil {
			t.Fatal(err)
		}
		var active []string
		for _, set := range list.Toolsets {
			if set.Active {
				active = append(active, set.Key)
			}
		}
		if got := strings.Join(active, " "); got != tt.want {
			t.Errorf("%s: active are %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A model sees what there is to build toolsets from, active or not, in pages.
func TestTheToolsThatAreAvailableAreListed(t *testing.T) {
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf(`{"name":"t%03d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("long ", 100)))
	}
	g := newRig(t, setup{active: []string{"one_*"}, Options: Options{MetaTools: view.MetaTools{NoActivate: true, Manage: true}}},
		offer{namespace: "one", tools: []string{"a", "b"}}, offer{namespace: "two", tools: many}, offer{namespace: "three", late: true})
	type page struct {
		Summary       struct{ TotalTools, TotalServers int }
		ToolsByServer []struct {
			ServerName string
			ToolCount  int
			Tools      []struct {
				Name, NamespacedName, Description string
				Active                            bool
			}
		}
		NextCursor         string
		UnavailableServers []string
	}
	list := func(args string) (p page) {
		t.Helper()
		o := g.own("list-available-tools", args)
		if err := json.Unmarshal([]byte(o.structured), &p); err != nil || o.failed || len(o.structured) > 40_000 {
			t.Fatalf("%v in %d bytes: %.500s", err, len(o.structured), o.structured)
		}
		return p
	}
	p := list(`{}`)
	if p.Summary.TotalTools != 152 || p.Summary.TotalServers != 2 || len(p.ToolsByServer) != 2 || p.NextCursor != "100" || !slices.Equal(p.UnavailableServers, []string{"three"}) {
		t.Fatalf("got %+v", p)
	}
	if one := p.ToolsByServer[0]; one.ServerName != "one" || one.ToolCount != 2 || one.Tools[0].NamespacedName != "one_a" || one.Tools[0].Name != "a" || !one.Tools[0].Active {
		t.Errorf("got %+v", one)
	}
	if two := p.ToolsByServer[1].Tools; two[0].Active || len(two) != 98 || len(two[0].Description) > 140 {
		t.Errorf("got %+v", two[0])
	}
	p = list(`{"cursor":"100"}`)
	if p.NextCursor != "" || len(p.ToolsByServer) != 1 || p.ToolsByServer[0].ToolCount != 52 || p.Summary.TotalServers != 2 {
		t.Errorf("got %+v", p)
	}
	if p = list(`{"server":"one"}`); p.Summary.TotalTools != 2 || len(p.ToolsByServer) != 1 {
		t.Errorf("got %+v", p)
	}
	for args, want := range map[string]string{`{"server":"on"}`: "no server on has tools; there are one, two", `{"cursor":"x"}`: "unknown cursor x", `{"cursor":"152"}`: "unknown cursor",
		`{"page":1}`: "not a parameter", `{"server":1}`: "not a string"} {
		if o := g.own("list-available-tools", args); !o.failed || !strings.Contains(o.Message, want) {
			t.Errorf("%s: says %+v", args, o)
		}
	}
}
