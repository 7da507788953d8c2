package router

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/upstream"
)

// changing is a rig with one server that toolman can ask.
func changing(t testing.TB, o offer) (g *rig, client, server *link) {
	g, client, server = one(t, o)
	server.converses()
	upstream.Simulate(server.u).Result().Capabilities = nil
	for _, k := range allKinds {
		server.declares(k)
	}
	return g, client, server
}

// declares gives a server the capability for a kind.
func (l *link) declares(k mcpwire.Kind) {
	if upstream.Simulate(l.u).Result().Capabilities == nil {
		upstream.Simulate(l.u).Result().Capabilities = map[string]json.RawMessage{}
	}
	upstream.Simulate(l.u).Result().Capabilities[k.Capability()] = json.RawMessage("{}")
}

// changed announces a change and lets the debounceTime pass.
func (l *link) changed(methods ...string) {
	for _, method := range methods {
		l.says(`{"jsonrpc":"2.0","method":"` + method + `"}`)
	}
	time.Sleep(debounceTime)
	synctest.Wait()
}

// gives answers the requests that toolman has made of a server: answer returns the
// outcome of one, as `"result":…` or `"error":…`, or "" to be silent.
func (l *link) gives(answer func(method, params string) string) (methods []string) {
	l.t.Helper()
	for {
		synctest.Wait()
		heard := l.hears()
		if len(heard) == 0 {
			return methods
		}
		for _, frame := range heard {
			m := scanned(l.t, frame)
			methods = append(methods, string(m.Text(m.Method)))
			if m.Kind != jsonrpc.Request {
				continue
			}
			if outcome := answer(string(m.Text(m.Method)), string(m.Bytes(m.Params))); outcome != "" {
				l.says(`{"jsonrpc":"2.0","id":` + string(m.Bytes(m.ID)) + `,` + outcome + `}`)
			}
		}
	}
}

// list is a page of a list.
func list(k mcpwire.Kind, next string, names ...string) string {
	key := [mcpwire.Kinds]string{"name", "uri", "uriTemplate", "name"}[k]
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = fmt.Sprintf(`{%q:%q}`, key, name)
	}
	if next != "" {
		next = `,"nextCursor":` + next
	}
	return `"result":{"` + k.Member() + `":[` + strings.Join(items, ",") + `]` + next + `}`
}

// always answers everything alike.
func always(outcome string) func(string, string) string {
	return func(string, string) string { return outcome }
}

func TestABurstOfChangesIsOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, server := changing(t, offer{namespace: "ns", tools: []string{"a"}})
		for range 10_000 {
			server.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		time.Sleep(debounceTime - 1)
		synctest.Wait()
		server.wants()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		checkList(t, "asked", server.gives(func(method, _ string) string {
			for range 10_000 { // while the list is read
				server.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			return list(mcpwire.Tool, "", "a", "b")
		}), "tools/list")
		checkList(t, "told", methodsOf(t, client.hears()), toolsChanged)
		time.Sleep(debounceTime)
		checkList(t, "asked again, once", server.gives(always(list(mcpwire.Tool, "", "a", "b"))), "tools/list")
		time.Sleep(time.Hour)
		synctest.Wait()
		client.wants() // nothing had changed
		server.wants()
	})
}

// A list that takes long is not asked for a second time meanwhile.
func TestOneListIsReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _, server := changing(t, offer{namespace: "ns", tools: []string{"a"}})
		server.changed(toolsChanged)
		first := server.hearsOne()
		for range 5 {
			server.changed(toolsChanged)
			server.wants()
		}
		server.says(`{"jsonrpc":"2.0","id":` + idOf(t, first) + `,` + list(mcpwire.Tool, "", "b") + `}`)
		time.Sleep(debounceTime)
		checkList(t, "asked again, once", server.gives(always(list(mcpwire.Tool, "", "c"))), "tools/list")
		checkList(t, "active", activeNames(g.view()), "tool ns_c")
	})
}

func TestTheClientIsToldOfWhatHasChanged(t *testing.T) {
	for _, tt := range []struct {
		name      string
		announced string
		lists     map[string]string
		asked     []string
		told      []string
		active    []string
	}{
		{"a new tool", toolsChanged, map[string]string{"tools/list": list(mcpwire.Tool, "", "x", "y")}, []string{"tools/list"},
			[]string{toolsChanged}, []string{"tool ns_x", "tool ns_y", "resource ns_x", "resource template ns_x"}},
		{"a tool less", toolsChanged, map[string]string{"tools/list": list(mcpwire.Tool, "")}, []string{"tools/list"},
			[]string{toolsChanged}, []string{"resource ns_x", "resource template ns_x"}},
		{"no change of the tools", toolsChanged, map[string]string{"tools/list": `"result":{"tools":[{"name":"x","title":"one"}]}`}, []string{"tools/list"},
			nil, []string{"tool ns_x", "resource ns_x", "resource template ns_x"}},
		{"a change of a description", toolsChanged, map[string]string{"tools/list": `"result":{"tools":[{"name":"x","title":"two"}]}`}, []string{"tools/list"},
			[]string{toolsChanged}, []string{"tool ns_x", "resource ns_x", "resource template ns_x"}},
		{"another resource", resourcesChanged, map[string]string{"resources/list": list(mcpwire.Resource, "", "y"), "resources/templates/list": `"result":{"resourceTemplates":[{"uriTemplate":"x","title":"one"}]}`},
			[]string{"resources/list", "resources/templates/list"}, []string{toolsChanged, resourcesChanged}, []string{"tool ns_x", "resource ns_y", "resource template ns_x"}},
		{"no template any more", resourcesChanged, map[string]string{"resources/list": `"result":{"resources":[{"uri":"x","title":"one"}]}`, "resources/templates/list": list(mcpwire.Template, "")},
			[]string{"resources/list", "resources/templates/list"}, []string{toolsChanged, resourcesChanged}, []string{"tool ns_x", "resource ns_x"}},
		{"another prompt", promptsChanged, map[string]string{"prompts/list": list(mcpwire.Prompt, "", "y")}, []string{"prompts/list"},
			[]string{promptsChanged}, []string{"tool ns_x", "resource ns_x", "resource template ns_x"}},
		{"the same prompt", promptsChanged, map[string]string{"prompts/list": `"result":{"prompts":[{"name":"x","title":"one"}]}`}, []string{"prompts/list"},
			nil, []string{"tool ns_x", "resource ns_x", "resource template ns_x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, client, server := changing(t, alike("ns", "one"))
				server.changed(tt.announced)
				asked := server.gives(func(method, params string) string {
					if params != "" {
						t.Errorf("asked with %s", params)
					}
					return tt.lists[method]
				})
				if len(asked) == 2 && asked[0] > asked[1] {
					asked[0], asked[1] = asked[1], asked[0] // at once, in any order
				}
				checkList(t, "asked", asked, tt.asked...)
				checkList(t, "told", methodsOf(t, client.hears()), tt.told...)
				checkList(t, "active", activeNames(g.view()), tt.active...)
				time.Sleep(time.Hour)
				synctest.Wait()
				g.quiet()
			})
		})
	}
}

func TestAChangeThatCannotBeReadLeavesTheOldList(t *testing.T) {
	for name, outcome := range map[string]string{
		"an error":     `"error":{"code":-32603,"message":"no"}`,
		"no list":      `"result":{"prompts":[]}`,
		"another type": `"result":[]`,
		"no JSON":      `"result":{"tools":[tru]}`,
		"no answer":    "",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, client, server := changing(t, offer{namespace: "ns", tools: []string{"a"}})
				server.changed(toolsChanged)
				checkList(t, "asked", server.gives(always(outcome)), "tools/list")
				time.Sleep(time.Minute)
				synctest.Wait()
				checkList(t, "active", activeNames(g.view()), "tool ns_a")
				client.wants()
				server.hears() // the request may have been cancelled
				server.changed(toolsChanged)
				server.gives(always(list(mcpwire.Tool, "", "b")))
				checkList(t, "the next time", activeNames(g.view()), "tool ns_b")
			})
		})
	}
}

// A list of which only a part can be read does not make the other items vanish.
func TestAChangeOfWhichAPageCannotBeReadLeavesTheOldList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, client, server := changing(t, offer{namespace: "ns", tools: []string{"a", "b"}})
		server.changed(toolsChanged)
		checkList(t, "asked", server.gives(func(_, params string) string {
			if params == "" {
				return list(mcpwire.Tool, `"2"`, "c")
			}
			return `"error":{"code":-32603,"message":"no"}`
		}), "tools/list", "tools/list")
		checkList(t, "active", activeNames(g.view()), "tool ns_a", "tool ns_b")
		client.wants()
	})
}

func TestChangesDuringTheStartAreReadAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", tools: []string{"a"}, late: true})
		server := g.servers[0]
		server.converses()
		server.changed(toolsChanged)
		server.wants()
		server.ready()
		g.client.hears()
		time.Sleep(debounceTime)
		checkList(t, "asked", server.gives(always(list(mcpwire.Tool, "", "b"))), "tools/list")
		checkList(t, "active", activeNames(g.view()), "tool ns_b")
	})
}

func TestADeadServerIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, server := changing(t, offer{namespace: "ns", tools: []string{"a"}})
		server.says(`{"jsonrpc":"2.0","method":"` + toolsChanged + `"}`)
		server.dies()
		server.changed(toolsChanged)
		time.Sleep(time.Hour)
		synctest.Wait()
		server.wants()
	})
}

// pages reads the tools of a server whose pages page returns.
func readTools(t *testing.T, server *link, page func(n int, params string) string) (names []string, pages int, err error) {
	t.Helper()
	done := make(chan error)
	go func() { done <- upstream.Simulate(server.u).Read(context.Background(), []mcpwire.Kind{mcpwire.Tool}) }()
	server.gives(func(_, params string) string {
		pages++
		return page(pages, params)
	})
	select {
	case err = <-done:
	case <-time.After(time.Hour):
		t.Fatal("the list is still being read")
	}
	return namesOf(upstream.Simulate(server.u).Entries(mcpwire.Tool)), pages, err
}

func TestPagesOfAServer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		page  func(n int, params string) string
		names []string
		pages int
	}{
		{"three pages, an empty cursor among them", func(n int, params string) string {
			if want := []string{``, `{"cursor":"a\"b"}`, `{"cursor":""}`}[n-1]; params != want {
				return `"error":{"code":1,"message":"asked with ` + strings.ReplaceAll(params, `"`, `'`) + `"}`
			}
			return list(mcpwire.Tool, []string{`"a\"b"`, `""`, ``}[n-1], fmt.Sprint(n))
		}, []string{"1", "2", "3"}, 3},
		{"a cursor that is null", func(n int, _ string) string { return list(mcpwire.Tool, `null`, fmt.Sprint(n)) }, []string{"1"}, 1},
		{"a cursor of another type", func(n int, _ string) string { return list(mcpwire.Tool, `7`, fmt.Sprint(n)) }, []string{"1"}, 1},
		{"a cursor that repeats", func(n int, _ string) string { return list(mcpwire.Tool, `"x"`, fmt.Sprint(n)) }, []string{"1", "2"}, 2},
		{"cursors in a ring", func(n int, _ string) string { return list(mcpwire.Tool, fmt.Sprintf(`"%d"`, n%3), fmt.Sprint(n)) }, []string{"1", "2", "3", "4"}, 4},
		{"a second page that fails", func(n int, _ string) string {
			return []string{list(mcpwire.Tool, `"x"`, "1"), `"error":{"code":1,"message":"no"}`}[n-1]
		}, []string{"1"}, 2},
		{"odd items among others", func(int, string) string { return `"result":{"tools":[{"name":"1"},{},{"name":""},5,{"name":"2"}]}` }, []string{"1", "2"}, 1},
		{"an empty list", func(int, string) string { return list(mcpwire.Tool, "") }, nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, server := changing(t, offer{})
				names, pages, err := readTools(t, server, tt.page)
				checkList(t, "tools", names, tt.names...)
				if pages != tt.pages || err != nil {
					t.Errorf("%d pages, want %d; %v", pages, tt.pages, err)
				}
			})
		})
	}
}

func TestListsOfAServerAreBounded(t *testing.T) {
	many := make([]string, 15_000)
	for i := range many {
		many[i] = fmt.Sprintf("n%d", i)
	}
	big := strings.Repeat("x", 17<<20)
	for _, tt := range []struct {
		name         string
		page         func(n int, params string) string
		items, pages int
	}{
		{"pages without end", func(n int, _ string) string { return list(mcpwire.Tool, fmt.Sprintf(`"%d"`, n), fmt.Sprint(n)) }, mostPages, mostPages},
		{"empty pages without end", func(n int, _ string) string { return list(mcpwire.Tool, fmt.Sprintf(`"%d"`, n)) }, 0, mostPages},
		{"items without end", func(n int, _ string) string { return list(mcpwire.Tool, fmt.Sprintf(`"%d"`, n), many...) }, mostItems, 2},
		{"too many items on the last page", func(n int, _ string) string { return list(mcpwire.Tool, "", append(many, many...)...) }, mostItems, 1},
		{"bytes without end", func(n int, _ string) string { return list(mcpwire.Tool, fmt.Sprintf(`"%d"`, n), big) }, 4, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, server := changing(t, offer{})
				_, pages, _ := readTools(t, server, tt.page)
				if items := len(upstream.Simulate(server.u).Entries(mcpwire.Tool)); items != tt.items || pages != tt.pages {
					t.Errorf("%d items of %d pages, want %d of %d", items, pages, tt.items, tt.pages)
				}
			})
		})
	}
}

// A server is asked for what it declares, and for tools in any case.
func TestWhatAServerIsAskedFor(t *testing.T) {
	const unknown = `"error":{"code":-32601,"message":"no"}`
	for _, tt := range []struct {
		name     string
		declared []mcpwire.Kind
		answer   string
		asked    int
		fails    bool
	}{
		{"nothing declared, and there is nothing", nil, unknown, 1, false},
		{"nothing declared, but there are tools", nil, list(mcpwire.Tool, "", "a"), 1, false},
		{"resources declared", []mcpwire.Kind{mcpwire.Resource}, unknown, 3, true},
		{"tools declared that cannot be listed", []mcpwire.Kind{mcpwire.Tool}, unknown, 1, true},
		{"all declared", allKinds, list(mcpwire.Tool, ""), 4, false}, // the other lists fail, which costs only them
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, server := changing(t, offer{})
				upstream.Simulate(server.u).Result().Capabilities = nil
				for _, k := range tt.declared {
					server.declares(k)
				}
				var err error
				go func() { err = upstream.Simulate(server.u).Read(context.Background(), allKinds) }()
				asked := server.gives(always(tt.answer))
				if len(asked) != tt.asked || (err != nil) != tt.fails {
					t.Errorf("asked for %q, %v", asked, err)
				}
			})
		})
	}
}
