package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/subscribe"
	"toolman/router/toolset"
	"toolman/router/upstream"
)

const (
	subscribeFrame   = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`
	unsubscribeFrame = `{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":%q}}`
	updatedFrame     = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"x":1.0,"uri":%q}}`
)

func subscribing(t *testing.T) (g *rig, client, server *link) {
	g = newRig(t, setup{active: []string{"*"}}, offer{namespace: "ns", resources: []string{"r://x", "r://x/y", "r://d/"}, templates: []string{"t://{+a}"}},
		offer{namespace: "other", resources: []string{"r://x"}})
	return g, g.client, g.servers[0]
}

// Updates come under the URI that the client has used.
func TestUpdatesOfAResource(t *testing.T) {
	for _, tt := range []struct{ name, asked, updated, told string }{
		{"as it is listed", "ns_r://x", "r://x", "ns_r://x"},
		{"bare", "t://1", "t://1", "t://1"},
		{"what a template makes", "ns_t://1", "t://1", "ns_t://1"},
		{"a part of it", "ns_r://x/y", "r://x/y/z", "ns_r://x/y/z"},
		{"a part by a query", "ns_r://x", "r://x?q", "ns_r://x?q"},
		{"a part by a fragment", "ns_r://x", "r://x#f", "ns_r://x#f"},
		{"a part of a directory", "ns_r://d/", "r://d/z", "ns_r://d/z"},
		{"another", "ns_r://x/y", "r://x", ""},
		{"one whose name goes on", "ns_r://x", "r://xy", ""},
		{"what only starts like a part", "ns_r://x", "r://x/../z", ""},
		{"the client's spelling", "ns_r://x", "ns_r://x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, client, server := subscribing(t)
			server.says(fmt.Sprintf(updatedFrame, tt.updated)) // nobody has asked yet
			g.quiet()
			client.says(fmt.Sprintf(subscribeFrame, tt.asked))
			server.hearsOne()
			g.servers[1].says(fmt.Sprintf(updatedFrame, tt.updated)) // another server's
			g.quiet()
			server.says(fmt.Sprintf(updatedFrame, tt.updated))
			if tt.told != "" {
				client.wants(fmt.Sprintf(updatedFrame, tt.told))
			}
			g.quiet()
			client.says(fmt.Sprintf(unsubscribeFrame, tt.asked))
			server.hearsOne()
			server.says(fmt.Sprintf(updatedFrame, tt.updated))
			g.quiet()
		})
	}
}

// Updates of what a client may not have do not reach it, whatever it has subscribed to.
func TestUpdatesOfWhatIsDenied(t *testing.T) {
	exposed := map[string][]string{"ns": {"n://a", "n://a/open/*", "n://b/*", "t://{id}"}}
	has := offer{namespace: "ns", resources: []string{"n://a", "n://a-secret", "n://a/secret", "n://b/1", "t://denied"}, templates: []string{"t://{id}"}}
	told := map[string]string{ // by the server's URI
		"n://a": "ns_n://a", "n://a/open/1": "ns_n://a/open/1", "n://a/other": "", "n://a-secret": "", "n://a/secret": "", "n://abc/1": "",
		"n://a/open/../secret": "", "n://b/1": "", "t://1": "t://1", "t://1/2": "", "t://denied": "", "t://12": "",
	}
	check := func(t *testing.T, g *rig, frame func(told string) string) {
		for uri, want := range told {
			g.servers[0].says(fmt.Sprintf(updatedFrame, uri))
			got := strings.Join(g.client.hears(), "\n")
			if want != "" {
				want = frame(want)
			}
			if got != want {
				t.Errorf("an update of %s is told as %q, want %q", uri, got, want)
			}
		}
	}
	t.Run("2025-11-25", func(t *testing.T) {
		g := exposes(t, exposed, has)
		g.client.says(fmt.Sprintf(subscribeFrame, "ns_n://a"), fmt.Sprintf(subscribeFrame, "t://1"))
		g.servers[0].hears()
		check(t, g, func(told string) string { return fmt.Sprintf(updatedFrame, told) })
	})
	t.Run("2026-07-28", func(t *testing.T) {
		g := exposes(t, exposed, has)
		g.servers[0].subscribable()
		g.listenFor("1", `{"resourceSubscriptions":["ns_n://a","t://1"]}`)
		g.servers[0].hears()
		check(t, g, func(told string) string {
			return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + onSub("1") + `,"x":1.0,"uri":"` + told + `"}}`
		})
	})
	t.Run("limited to a toolset", func(t *testing.T) {
		has.resources = append(has.resources, "n://a/open/1")
		g := newRig(t, setup{active: []string{"*"}, Options: Options{Toolsets: []toolset.Set{fixed(t, "a", "ns_n://a", "ns_t://{id}")}}}, has)
		g.servers[0].subscribable()
		upstream.Simulate(g.r.all()[0]).Share()
		client := g.another(client.Info{Only: []string{"a"}})
		client.says(fmt.Sprintf(subscribeFrame, "ns_n://a"))
		client.hears()
		for _, uri := range []string{"n://a/open/1", "n://a/other", "n://a-secret"} {
			g.servers[0].says(fmt.Sprintf(updatedFrame, uri))
			client.wants()
		}
		g.servers[0].says(fmt.Sprintf(updatedFrame, "n://a"))
		client.wants(fmt.Sprintf(updatedFrame, "ns_n://a"))
	})
}

// Nor do updates of what the client has switched off since it has subscribed.
func TestUpdatesOfWhatIsInactive(t *testing.T) {
	g, client, server := subscribing(t)
	client.says(fmt.Sprintf(subscribeFrame, "ns_r://x"), fmt.Sprintf(subscribeFrame, "ns_t://1"))
	client.says(callFrame("2", catalog.ActivateTool, `{"tools_on":[],"tools_off":[],"resources_on":[],"resources_off":["ns_r://x","ns_t://{+a}"]}`))
	client.hears()
	server.hears()
	for _, uri := range []string{"r://x", "r://x/y", "r://x/z", "t://1", "t://1/2"} {
		server.says(fmt.Sprintf(updatedFrame, uri))
	}
	g.quiet()
}

func TestASubscriptionEndsUnderAnySpelling(t *testing.T) {
	g, client, server := subscribing(t)
	client.says(fmt.Sprintf(subscribeFrame, "ns_t://1"), fmt.Sprintf(unsubscribeFrame, "t://1"))
	server.hears()
	server.says(fmt.Sprintf(updatedFrame, "t://1"))
	g.quiet()
}

// What is subscribed can be ended, whatever has become of the resource.
func TestASubscriptionEndsAlsoWhenItsResourceCannotBeUsed(t *testing.T) {
	for _, asked := range []string{"ns_r://x", "ns_t://1", "t://1"} {
		for name, lose := range map[string]func(*rig){
			"switched off": func(g *rig) {
				g.client.says(callFrame("2", catalog.ActivateTool, `{"tools_on":[],"tools_off":[],"resources_on":[],"resources_off":["ns_r://x","ns_t://{+a}"]}`))
			},
			"not listed any more": func(g *rig) {
				g.servers[0].lists(mcpwire.Resource)
				g.servers[0].lists(mcpwire.Template)
				g.r.update()
			},
		} {
			t.Run(asked+" "+name, func(t *testing.T) {
				g, client, server := subscribing(t)
				client.says(fmt.Sprintf(subscribeFrame, asked))
				own := scanned(t, server.hearsOne())
				lose(g)
				client.hears()
				client.says(fmt.Sprintf(unsubscribeFrame, asked))
				m := scanned(t, server.hearsOne())
				if string(m.Text(m.Method)) != "resources/unsubscribe" || string(m.Bytes(m.Params)) != string(own.Bytes(own.Params)) {
					t.Errorf("the server is told %s", m.Frame)
				}
				if again := client.asks(fmt.Sprintf(unsubscribeFrame, asked)); codeOf(t, again) != -32602 {
					t.Errorf("what is not subscribed: %s", again)
				}
				server.says(fmt.Sprintf(updatedFrame, "r://x"), fmt.Sprintf(updatedFrame, "t://1"))
				g.quiet()
			})
		}
	}
}

func TestTheCatalogCanBeSubscribedTo(t *testing.T) {
	g, client, _ := subscribing(t)
	change := func(on, off string) []string {
		client.says(callFrame("2", catalog.ActivateTool, `{"tools_on":[],"tools_off":[],"resources_on":[`+on+`],"resources_off":[`+off+`]}`))
		heard := client.hears()
		return heard[:len(heard)-1] // without the reply
	}
	const done = `{"jsonrpc":"2.0","id":1,"result":{}}`
	checkList(t, "subscribing is answered", []string{client.asks(fmt.Sprintf(subscribeFrame, catalog.CatalogURI))}, done)
	checkList(t, "a change", change("", `"ns_r://x"`), `{"jsonrpc":"2.0","method":"`+toolsChanged+`"}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"toolman://catalog"}}`, `{"jsonrpc":"2.0","method":"`+resourcesChanged+`"}`)
	checkList(t, "no change", change("", `"ns_r://x"`))
	checkList(t, "unsubscribing is answered", []string{client.asks(fmt.Sprintf(unsubscribeFrame, catalog.CatalogURI))}, done)
	checkList(t, "a change that nobody waits for", methodsOf(t, change(`"ns_r://x"`, "")), toolsChanged, resourcesChanged)
	g.quiet()
}

func TestThePartOfTwoSubscriptionsIsTheNearersPart(t *testing.T) {
	_, client, server := subscribing(t)
	client.says(fmt.Sprintf(subscribeFrame, "t://1"), fmt.Sprintf(subscribeFrame, "ns_t://1/2"), fmt.Sprintf(subscribeFrame, "t://1/2/3/4"))
	for range 20 { // whatever the order of a map
		server.says(fmt.Sprintf(updatedFrame, "t://1/2/3"))
		client.wants(fmt.Sprintf(updatedFrame, "ns_t://1/2/3"))
	}
}

func TestUpdatesThatSayNothing(t *testing.T) {
	g, client, server := subscribing(t)
	client.says(fmt.Sprintf(subscribeFrame, "ns_r://x"))
	server.hears()
	for _, params := range []string{`{}`, `{"uri":1}`, `{"uri":"r://x","uri":"r://x"}`, `{"URI":"r://x"}`, `["r://x"]`} {
		server.says(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":` + params + `}`)
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/resources/updated"}`)
	g.quiet()
}

func TestARefusedSubscriptionIsNone(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "ns", resources: []string{"r://x"}})
	refused := g.client.asks(fmt.Sprintf(subscribeFrame, "ns_r://x"))
	if codeOf(t, refused) != -32602 {
		t.Errorf("got %s", refused)
	}
	g.servers[0].says(fmt.Sprintf(updatedFrame, "r://x"))
	g.quiet()
}

func TestSubscriptionsAreBounded(t *testing.T) {
	g, client, server := subscribing(t)
	for i := range subscribe.MaxSubscriptions + 10 {
		client.says(fmt.Sprintf(subscribeFrame, fmt.Sprintf("t://%06d", i)))
	}
	if n := len(server.hears()); n != subscribe.MaxSubscriptions {
		t.Errorf("%d were passed on", n)
	}
	if got := client.hears(); len(got) != 10 || !strings.Contains(got[0], "has 10000 subscriptions, which is the limit") {
		t.Errorf("the client hears %d answers, the first is %.200q", len(got), got)
	}
	if n := session.Simulate(g.s).Held().Subscriptions; n != subscribe.MaxSubscriptions {
		t.Errorf("%d are remembered, want %d", n, subscribe.MaxSubscriptions)
	}
}
