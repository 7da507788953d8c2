package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/router/session"
	"toolman/router/view"

	"toolman/router/metatool"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
)

// listPage asks for a page of a list, and returns its items and the next cursor.
func (g *rig) listPage(k mcpwire.Kind, params string) (items []string, next string, frame string) {
	g.t.Helper()
	frame = g.client.asks(fmt.Sprintf(`{"jsonrpc":"2.0","id":"l\u0069st","method":%q,"params":%s}`, k.ListMethod(), params))
	if id := idOf(g.t, frame); id != `"l\u0069st"` {
		g.t.Fatalf("answered %s", id)
	}
	m := scanned(g.t, frame)
	at, err := m.Get(m.Result, k.Member())
	if err != nil || !at.Present() {
		g.t.Fatalf("%v: %.500s", err, frame)
	}
	for item := range jsonrpc.Elements(m.Frame, at) {
		items = append(items, string(m.Bytes(item)))
	}
	members := 0
	for key, value := range jsonrpc.Members(m.Frame, m.Result) {
		if members++; key == "nextCursor" {
			next = string(m.Text(value))
		}
	}
	if want := map[bool]int{true: 2, false: 1}[next != ""]; members != want {
		g.t.Errorf("%d members in %.500s", members, frame)
	}
	return items, next, frame
}

// listed is a whole list, as the client reads it.
func (g *rig) listed(k mcpwire.Kind) []string {
	g.t.Helper()
	items, next, _ := g.listPage(k, `{}`)
	for next != "" {
		var more []string
		more, next, _ = g.listPage(k, fmt.Sprintf(`{"cursor":%q}`, next))
		items = append(items, more...)
	}
	return items
}

func TestLists(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_on*", "other_*"}}, offer{
		namespace: "ns",
		tools:     []string{`{ "inputSchema":{"x":1.0,"x":2}, "n\u0061me":"on", "y":"\u003c\/\ud800" }`, "off"},
		resources: []string{`{"name":"on","uri":"on:"}`, "off:"},
		templates: []string{"off:{a}", `{"uriTemplate":"on:{a}","name":"x"}`},
		prompts:   []string{`{"name":"off","arguments":[{"name":"off"}]}`},
	}, offer{namespace: "other", tools: []string{"a/b"}})
	tools := g.listed(mcpwire.Tool)
	if !strings.HasPrefix(tools[0], `{"name":"toolman_activate",`) {
		t.Errorf("first is %s", tools[0])
	}
	checkList(t, "tools", tools[1:], `{ "inputSchema":{"x":1.0,"x":2}, "n\u0061me":"ns_on", "y":"\u003c\/\ud800" }`,
		`{"name":"`+(&catalog.Source{Namespace: "other", URISep: "_"}).Expose(mcpwire.Tool, "a/b")+`"}`)
	checkList(t, "resources", g.listed(mcpwire.Resource), `{"name":"on","uri":"ns_on:"}`, metatool.CatalogResource(view.MetaTools{}))
	checkList(t, "templates", g.listed(mcpwire.Template), `{"uriTemplate":"ns_on:{a}","name":"x"}`)
	checkList(t, "prompts", g.listed(mcpwire.Prompt), `{"name":"ns_off","arguments":[{"name":"off"}]}`)

	g.activate(activation{toolsOn: []string{"ns_off"}, resourcesOff: []string{"ns_on:"}})
	checkList(t, "tools after a change", g.listed(mcpwire.Tool)[1:], `{ "inputSchema":{"x":1.0,"x":2}, "n\u0061me":"ns_on", "y":"\u003c\/\ud800" }`,
		`{"name":"ns_off"}`, tools[2])
	checkList(t, "resources after a change", g.listed(mcpwire.Resource), metatool.CatalogResource(view.MetaTools{}))
	g.servers[0].dies()
	g.servers[1].dies()
	g.client.hears()
	checkList(t, "tools of nobody", g.listed(mcpwire.Tool), string(session.Simulate(g.s).OwnTools(g.view(), view.Variant{Mode: view.ModeMutate})))
	checkList(t, "prompts of nobody", g.listed(mcpwire.Prompt))
}

// The same list is the same bytes, but for the id.
func TestAListIsTheSameEveryTime(t *testing.T) {
	g := switchable(t)
	for _, k := range allKinds {
		_, _, first := g.listPage(k, `{}`)
		for _, params := range []string{`{}`, `{"cursor":null}`, `{"_meta":{"progressToken":1}}`} {
			if _, _, again := g.listPage(k, params); again != first {
				t.Errorf("%s: %s\nand then %s", k, first, again)
			}
		}
	}
	g.quiet()
}

func TestLongListsHavePages(t *testing.T) {
	var tools, resources []string
	for i := range 9 {
		name := fmt.Sprintf("n%02d", i)
		tools = append(tools, `{"name":"`+name+`","description":"`+strings.Repeat("x", 1<<20)+`"}`)
		if i < 4 {
			resources = append(resources, `{"uri":"`+name+`","description":"`+strings.Repeat("x", 3<<20)+`"}`)
		}
	}
	resources = append(resources, `{"uri":"big","description":"`+strings.Repeat("x", 12<<20)+`"}`, `{"uri":"last"}`)
	g := newRig(t, setup{active: []string{"*"}}, offer{tools: tools, resources: resources})
	for k, want := range map[mcpwire.Kind][]string{mcpwire.Tool: tools, mcpwire.Resource: resources} {
		var got []string
		next := ""
		for {
			params := `{}`
			if next != "" {
				params = fmt.Sprintf(`{"cursor":%q}`, next)
			}
			items, cursor, frame := g.listPage(k, params)
			if len(frame) > 8<<20+4<<10 && len(items) > 1 {
				t.Errorf("%s: %d items in a page of %d bytes", k, len(items), len(frame))
			}
			if cursor != "" && len(items) < 3 && len(frame) < 4<<20 {
				t.Errorf("%s: a page of %d bytes that is not the last", k, len(frame))
			}
			got = append(got, items...)
			if next = cursor; next == "" {
				break
			}
		}
		if items, _, _ := g.listPage(k, `{}`); items[0] != got[0] || items[1] != got[1] {
			t.Errorf("%s: the first page has become another", k)
		}
		own := got[0]
		if got = got[1:]; k == mcpwire.Resource {
			own, got = got[len(got)-1], append([]string{own}, got[:len(got)-1]...)
		}
		if !strings.Contains(own, "toolman") || strings.Join(got, "") != strings.Join(want, "") {
			t.Errorf("%s: the pages do not make the list: %d items, own %.100s", k, len(got), own)
		}
	}
}

// Pages of a list that changes meanwhile do not fail.
func TestACursorOutlivesAnActivation(t *testing.T) {
	var names, big []string
	for i := range 3 {
		names = append(names, fmt.Sprintf("n%d", i))
		big = append(big, `{"uri":"`+names[i]+`","description":"`+strings.Repeat("x", 5<<20)+`"}`)
	}
	g := newRig(t, setup{active: []string{"*"}}, offer{resources: big})
	_, next, _ := g.listPage(mcpwire.Resource, `{}`)
	_, next, _ = g.listPage(mcpwire.Resource, fmt.Sprintf(`{"cursor":%q}`, next))
	g.activate(activation{resourcesOff: names})
	items, next, _ := g.listPage(mcpwire.Resource, fmt.Sprintf(`{"cursor":%q}`, next))
	checkList(t, "the rest", items, metatool.CatalogResource(view.MetaTools{}))
	if next != "" {
		t.Errorf("and then %q", next)
	}
}

func TestCursorsThatAreNotOurs(t *testing.T) {
	g := switchable(t)
	for _, params := range []string{`{"cursor":""}`, `{"cursor":"0"}`, `{"cursor":"-1"}`, `{"cursor":"x"}`, `{"cursor":"99"}`, `{"cursor":1}`, `{"cursor":{}}`,
		`{"cursor":"1","cursor":"2"}`, `{"Cursor":"1"}`, `{"cursor":"99999999999999999999"}`} {
		frame := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`)
		if code := codeOf(t, frame); code != -32602 {
			t.Errorf("%s: %s", params, frame)
		}
	}
}
