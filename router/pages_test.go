package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/view"
)

const mapPage = "ui://map/app.html"

// mapTools are a tool with a page, one that only pages may call, and a plain one.
var mapTools = []string{
	`{"name":"show","_meta":{"ui":{"resourceUri":"ui:\/\/map/app.html"},"ui/resourceUri":"ui://map/app.html"}}`,
	`{"name":"poll","_meta":{"ui":{"visibility":["app"]}}}`,
	`{"name":"find"}`,
}

// mapServer is a server with a page.
func mapServer(namespace string) offer {
	return offer{namespace: namespace, tools: mapTools, resources: []string{mapPage, "map://other"}, templates: []string{"tile://{id}"}}
}

func readFrame(id, uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"resources/read","params":{"uri":%q}}`, id, uri)
}

// reads checks where a resources/read goes: the server's own URI, or part of the refusal.
func (g *rig) reads(l *link, uri string, server int, want string) {
	g.t.Helper()
	g.reaches(l, readFrame("7", uri), "uri", server, want)
}

// calls is reads for a tools/call.
func (g *rig) calls(l *link, tool string, server int, want string) {
	g.t.Helper()
	g.reaches(l, callFrame("7", tool, "{}"), "name", server, want)
}

func (g *rig) reaches(l *link, frame, key string, server int, want string) {
	g.t.Helper()
	l.hears()
	l.says(frame)
	if server < 0 {
		if got := l.hearsOne(); !strings.Contains(got, want) {
			g.t.Errorf("%s is answered with %s; want %s", frame, got, want)
		}
		return
	}
	got := g.servers[server].hears()
	if len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("%q:%q", key, want)) {
		g.t.Errorf("server %d has got %q of %s; the client has got %q", server, got, frame, l.hears())
		return
	}
	g.servers[server].says(`{"jsonrpc":"2.0","id":` + idOf(g.t, got[0]) + `,"result":{}}`)
	l.hears()
}

func TestPagesKeepTheirURI(t *testing.T) {
	for _, modern := range []bool{false, true} {
		o := mapServer("ns")
		o.modern = modern
		_, client, server := one(t, o)
		list := func(method string) string {
			return client.asks(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		}
		if got := list("tools/list"); !strings.Contains(got, strings.Replace(mapTools[0], `"show"`, `"ns_show"`, 1)) {
			t.Errorf("modern %v: a tool is listed as %s", modern, got)
		}
		if got := list("resources/list"); !strings.Contains(got, `{"uri":"`+mapPage+`"}`) || !strings.Contains(got, `"ns_map://other"`) {
			t.Errorf("modern %v: the resources are %s", modern, got)
		}
		client.says(readFrame("2", mapPage))
		const contents = `"contents":[{"uri":"ui:\/\/map/app.html","text":"<p>","_meta":{"ui":{"csp":{}}}}]`
		server.says(`{"jsonrpc":"2.0","id":` + idOf(t, server.hearsOne()) + `,"result":{"resultType":"complete",` + contents + `}}`)
		if got := client.hearsOne(); !strings.Contains(got, contents) {
			t.Errorf("modern %v: the page is %s", modern, got)
		}
	}
}

func TestThePageOfAnActiveTool(t *testing.T) {
	g := newRig(t, setup{}, mapServer("ns"), offer{namespace: "late", tools: []string{`{"name":"draw","_meta":{"ui/resourceUri":"ui://unlisted"}}`}})
	g.reads(g.client, mapPage, -1, "is not active")
	g.reads(g.client, "ui://unlisted", -1, "is not active")
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)))
	notified, _ := g.activate(activation{toolsOn: []string{"ns_show", "late_draw"}})
	checkList(t, "notifications", notified, string(mcpwire.ToolsListChanged), string(mcpwire.ResourcesListChanged))
	g.reads(g.client, mapPage, 0, mapPage)
	g.reads(g.client, "ui://unlisted", 1, "ui://unlisted")
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)), mapPage)
	g.activate(activation{resourcesOff: []string{mapPage}})
	g.reads(g.client, mapPage, 0, mapPage)
	g.activate(activation{toolsOff: []string{"ns_show", "late_draw"}, resourcesOn: []string{"ui://unlisted"}})
	g.reads(g.client, mapPage, -1, "is not active")
	g.reads(g.client, "ui://unlisted", -1, "is not active")
}

func TestAPageUnderAPolicy(t *testing.T) {
	for _, c := range []struct {
		name    string
		allowed []string
		server  int
		want    string
	}{
		{"the tool is allowed", []string{"show"}, 0, mapPage},
		{"another tool is allowed", []string{"find"}, -1, "is denied by policy"},
		{"the page is allowed", []string{mapPage}, 0, mapPage}, // as any other resource
	} {
		for _, listed := range []bool{true, false} {
			o := mapServer("ns")
			if !listed {
				o.resources = nil
			}
			g := exposes(t, map[string][]string{"ns": c.allowed}, o)
			server, want := c.server, c.want
			if !listed && c.allowed[0] != "show" {
				server, want = -1, "unknown resource"
			}
			t.Log(c.name, listed)
			g.reads(g.client, mapPage, server, want)
		}
	}
	g := newRig(t, setup{Options: Options{Policy: exposing(t, map[string][]string{"ns": {"show"}})}}, mapServer("ns"))
	g.activate(activation{resourcesOn: []string{mapPage}})
	g.reads(g.client, mapPage, -1, "is not active")
}

func TestAPageThatIsHeldBack(t *testing.T) {
	page := func(name string) string { return `{"uri":"` + mapPage + `","name":"` + name + `"}` }
	for name, server := range map[string]int{"was": 0, "is a trap": -1} {
		pins := pinsOf(t, "ns", map[mcpwire.Kind][]string{mcpwire.Tool: mapTools})
		now := newRig(t, setup{silent: true}, offer{namespace: "ns", resources: []string{page("was")}}).r.Catalog().All()[0]
		pins[mcpwire.Resource]["ns_"+mapPage] = now.RefID()
		g := newRig(t, setup{active: []string{"*"}, Options: Options{Pins: pins}}, offer{namespace: "ns", tools: mapTools, resources: []string{page(name)}})
		g.reads(g.client, mapPage, server, map[bool]string{true: mapPage, false: "is held back"}[server == 0])
	}
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Pins: pinsOf(t, "ns", map[mcpwire.Kind][]string{mcpwire.Tool: mapTools})}},
		offer{namespace: "ns", tools: mapTools})
	g.reads(g.client, mapPage, 0, mapPage) // there is nothing to pin
}

func TestAPageWithinToolsets(t *testing.T) {
	g := newRig(t, setup{Options: Options{Toolsets: []toolset.Set{fixed(t, "shows", "ns_show"), fixed(t, "finds", "ns_find")}}}, mapServer("ns"))
	shows, finds := g.another(client.Info{Only: []string{"shows"}, Static: "a reason"}), g.another(client.Info{Only: []string{"finds"}, Static: "a reason"})
	g.reads(shows, mapPage, 0, mapPage)
	g.reads(finds, mapPage, -1, "is not for this client")
	g.calls(shows, "ns_poll", -1, "is not for this client")
}

func TestAToolForPagesOnly(t *testing.T) {
	g := newRig(t, setup{}, mapServer("ns"))
	if text := view.CatalogText(g.view()); strings.Contains(text, "poll") || strings.Contains(text, "ui://") || !strings.Contains(text, "ns_find") {
		t.Errorf("the catalog for the model is %s", text)
	}
	checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)))
	g.calls(g.client, "ns_poll", -1, "is not active")
	g.activate(activation{toolsOn: []string{"ns_show"}})
	checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_show", "ns_poll")
	g.calls(g.client, "ns_poll", 0, "poll")
	g.calls(g.client, "poll", 0, "poll")
	g.reaches(g.client, callFrame("7", "toolman_call", `{"name":"ns_poll","arguments":{}}`), "name", -1, "only pages of its server may call tool ns_poll")
	_, report := g.activate(activation{toolsOff: []string{"ns_show", "ns_poll"}})
	if text := report.text(); !strings.Contains(text, "ns_show") || strings.Contains(text, "ui://") {
		t.Errorf("the model is told %s", text)
	}
	g.calls(g.client, "ns_poll", -1, "is not active")
}

func TestTwoServersWithOnePage(t *testing.T) {
	for _, modern := range []bool{false, true} {
		a, b := mapServer("a"), mapServer("b")
		a.modern = modern
		b.tools, b.resources = append(b.tools, `{"name":"draw","_meta":{"ui":{"resourceUri":"ui://own"}}}`), nil // it lists no page
		g := newRig(t, setup{active: []string{"*"}}, a, b)
		tools := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		for _, want := range []string{
			`{"name":"a_show","_meta":{"ui":{"resourceUri":"ui://a/map/app.html"},"ui/resourceUri":"ui://a/map/app.html"}}`,
			`{"name":"b_show","_meta":{"ui":{"resourceUri":"ui://b/map/app.html"},"ui/resourceUri":"ui://b/map/app.html"}}`,
			`{"name":"b_draw","_meta":{"ui":{"resourceUri":"ui://own"}}}`,
		} {
			if !strings.Contains(tools, want) {
				t.Errorf("the tools have no %s: %s", want, tools)
			}
		}
		checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)), "ui://a/map/app.html", "a_map://other")
		g.reads(g.client, "ui://a/map/app.html", 0, mapPage)
		g.reads(g.client, "ui://b/map/app.html", 1, mapPage)
		g.reads(g.client, "ui://own", 1, "ui://own")
		g.reads(g.client, mapPage, -1, "several servers have a resource ui://map/app.html; use the URI with the name of its server, such as ui://a/map/app.html")
		for i, server := range g.servers {
			g.client.says(callFrame("3", string(rune('a'+i))+"_show", "{}"))
			server.says(`{"jsonrpc":"2.0","id":` + idOf(t, server.hearsOne()) + `,"result":{"resultType":"complete","content":[{"type":"resource_link","uri":"ui://map/app.html","name":"ui://map/app.html"}]}}`)
			want := fmt.Sprintf(`"content":[{"type":"resource_link","uri":"ui://%c/map/app.html","name":"ui://map/app.html"}]`, 'a'+i)
			if got := g.client.hearsOne(); !strings.Contains(got, want) {
				t.Errorf("server %d: the result is %s", i, got)
			}
		}
		g.client.says(readFrame("4", "ui://a/map/app.html"))
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{"resultType":"complete","contents":[{"uri":"ui://map/app.html","text":"ui://map/app.html"}]}}`)
		if got := g.client.hearsOne(); !strings.Contains(got, `"contents":[{"uri":"ui://a/map/app.html","text":"ui://map/app.html"}]`) {
			t.Errorf("the page is %s", got)
		}
	}
}

// The names of pages change when a second server begins to use one, not when a server ends; other
// lists announce nothing.
func TestWhenTheNamesOfPagesChange(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, mapServer("a"), offer{namespace: "b", tools: mapTools[2:]})
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)), mapPage, "a_map://other")
	g.servers[1].lists(mcpwire.Tool, mapTools...)
	g.r.update()
	checkList(t, "notifications", methodsOf(t, g.client.hears()), string(mcpwire.ToolsListChanged), string(mcpwire.ResourcesListChanged))
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)), "ui://a/map/app.html", "a_map://other")
	g.r.update()
	g.client.wants()
	g.servers[1].dies()
	checkList(t, "notifications", methodsOf(t, g.client.hears()), string(mcpwire.ToolsListChanged))
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)), "ui://a/map/app.html", "a_map://other")
}

func TestTwoServersWithOneTemplateOfPages(t *testing.T) {
	o := func(namespace string) offer { return offer{namespace: namespace, templates: []string{"ui://w/{id}"}} }
	g := newRig(t, setup{active: []string{"*"}}, o("a"), o("b"), offer{namespace: "c", templates: []string{"ui://v/{id}"}})
	checkList(t, "templates", namesOf(g.view().ActiveEntries(mcpwire.Template)), "ui://a/w/{id}", "ui://b/w/{id}", "ui://v/{id}")
	g.reads(g.client, "ui://b/w/7", 1, "ui://w/7")
	g.reads(g.client, "ui://v/7", 2, "ui://v/7")
	g.reads(g.client, "ui://w/7", -1, "several servers")
	g.client.says(readFrame("4", "ui://b/w/7"))
	g.servers[1].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[1].hearsOne()) + `,"result":{"contents":[{"uri":"ui://w/7"}]}}`)
	if got := g.client.hearsOne(); !strings.Contains(got, `[{"uri":"ui://b/w/7"}]`) {
		t.Errorf("the page is %s", got)
	}
}

func TestWhatAPageMayUse(t *testing.T) {
	for _, capabilities := range []string{showsPages, `{}`} {
		g := newRig(t, setup{capabilities: capabilities}, mapServer("ns"), offer{namespace: "other", tools: []string{"idle"}})
		g.activate(activation{toolsOn: []string{"ns_show"}})
		for _, open := range []bool{false, true} {
			if open {
				g.calls(g.client, "ns_show", 0, "show")
			}
			if open && capabilities == showsPages {
				g.calls(g.client, "find", 0, "find")
				g.calls(g.client, "ns_find", 0, "find")
				g.reads(g.client, "map://other", 0, "map://other")
				g.reads(g.client, "ns_map://other", 0, "map://other")
				g.reads(g.client, "tile://7", 0, "tile://7")
			} else {
				g.calls(g.client, "find", -1, "is not active")
				g.calls(g.client, "ns_find", -1, "is not active")
				g.reads(g.client, "map://other", -1, "is not active")
				g.reads(g.client, "tile://7", -1, "is not active")
			}
			g.calls(g.client, "idle", -1, "is not active")
			g.calls(g.client, "other_idle", -1, "is not active")
		}
		checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_show", "ns_poll")
		g.activate(activation{toolsOff: []string{"ns_show"}})
		g.calls(g.client, "find", -1, "is not active")
	}
}

// A toolset that is equipped limits pages, too.
func TestAPageWhileAToolsetIsEquipped(t *testing.T) {
	equipped := fixed(t, "shows", "ns_show")
	g := newRig(t, setup{capabilities: showsPages, Options: Options{Equipped: &equipped}}, mapServer("ns"))
	g.calls(g.client, "ns_show", 0, "show")
	g.reads(g.client, mapPage, 0, mapPage)
	g.calls(g.client, "poll", 0, "poll")
	g.calls(g.client, "find", -1, "is not active")
}

// A denied item stays denied, also for a page.
func TestAPageUnderAPolicyMayNotUseMore(t *testing.T) {
	g := newRig(t, setup{capabilities: showsPages, Options: Options{Policy: exposing(t, map[string][]string{"ns": {"show", "tile://{id}"}, "other": {"*"}})}},
		offer{namespace: "ns", tools: mapTools, resources: []string{mapPage, "tile://secret"}, templates: []string{"tile://{id}"}},
		offer{namespace: "other", tools: []string{"find", mapTools[0]}})
	g.activate(activation{toolsOn: []string{"ns_show", "other_find"}})
	g.calls(g.client, "ns_show", 0, "show")
	g.calls(g.client, "find", -1, "is denied by policy") // and does not go to the other server
	g.calls(g.client, "poll", -1, "is denied by policy")
	g.reads(g.client, "tile://secret", -1, "is denied by policy")
	g.reads(g.client, "tile://7", 0, "tile://7")
	g.calls(g.client, "other_find", 1, "find")
}

// Of several servers with a tool of the name that a page uses, it is the one whose page is open.
func TestAPageCallsItsOwnServer(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, capabilities: showsPages}, mapServer("a"), mapServer("b"))
	g.calls(g.client, "find", -1, "several servers have a tool find; use the name with that of its server, such as a_find")
	g.calls(g.client, "b_show", 1, "show")
	g.calls(g.client, "find", 1, "find")
	g.calls(g.client, "find", 1, "find")
	g.calls(g.client, "a_find", 0, "find")
	g.reads(g.client, "tile://1", 1, "tile://1")
	g.reads(g.client, mapPage, 1, mapPage)
	g.calls(g.client, "a_show", 0, "show")
	g.calls(g.client, "find", -1, "several servers have a tool find")
	g.reads(g.client, "tile://1", -1, "several servers")
	g.calls(g.client, "b_find", 1, "find")

	g = newRig(t, setup{active: []string{"*"}, capabilities: showsPages}, mapServer("a"), mapServer("b"))
	g.reads(g.client, "ui://a/map/app.html", 0, mapPage)
	g.calls(g.client, "find", 0, "find")
	g.reads(g.client, "ui://b/map/app.html", 1, mapPage)
	g.calls(g.client, "find", -1, "several servers have a tool find")
}

// A name that clients see is never that of a page's server.
func TestAPageDoesNotTakeNames(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, capabilities: showsPages, Options: Options{Policy: exposing(t, map[string][]string{"ns": {"*"}, "server 2": {"idle"}})}},
		mapServer("ns"), offer{tools: []string{"find", "poll"}})
	g.calls(g.client, "ns_show", 0, "show")
	g.calls(g.client, "find", -1, "is denied by policy")
}

// A URI that several servers use is that of none, even if the client can only use one of the pages.
func TestAContestedURI(t *testing.T) {
	g := newRig(t, setup{}, mapServer("a"), mapServer("b"))
	g.activate(activation{toolsOn: []string{"a_show"}})
	g.reads(g.client, mapPage, -1, "several servers have a resource ui://map/app.html")
	g.reads(g.client, "ui://a/map/app.html", 0, mapPage)
	g.reads(g.client, "ui://b/map/app.html", -1, "is not active")
}

// A modern client declares the extension with each request.
func TestAPageOfAModernClient(t *testing.T) {
	g := newRig(t, setup{silent: true}, mapServer("ns"))
	call := func(tool, capabilities string) string {
		return modern("7", "tools/call", `"name":"`+tool+`","arguments":{}`, capabilities)
	}
	g.client.says(modern("1", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["ns_show"],"tools_off":[],"resources_on":[],"resources_off":[]}`, showsPages))
	g.reaches(g.client, call("ns_show", showsPages), "name", 0, "show")
	g.reaches(g.client, call("find", showsPages), "name", 0, "find")
	g.reaches(g.client, call("poll", `{}`), "name", 0, "poll")
	g.reaches(g.client, call("find", `{}`), "name", -1, "is not active")
}

// The route of the last call is not that of the next one if another page was opened meanwhile.
func TestTheLastRouteOfAPage(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, capabilities: showsPages}, mapServer("a"), mapServer("b"))
	g.calls(g.client, "b_show", 1, "show")
	var scan jsonrpc.Scanner
	calls := func(tool string) (m jsonrpc.Message) {
		if err := scan.Scan([]byte(callFrame("7", tool, "{}")), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 4 {
		m := calls("find")
		g.s.Message(&m, &g.client.batch)
	}
	if m := calls("find"); !session.Simulate(g.s).TakesLastRoute(&m) {
		t.Fatal("the call does not take the last route")
	}
	g.calls(g.client, "a_show", 0, "show")
	if m := calls("find"); session.Simulate(g.s).TakesLastRoute(&m) {
		t.Error("the call takes the last route")
	}
}
