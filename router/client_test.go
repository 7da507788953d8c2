package router

import (
	"strings"
	"testing"
	"testing/synctest"

	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/session"
	"toolman/router/upstream"
)

// crowd is a rig whose servers are shared by several clients, each initialized.
func crowd(t *testing.T, clients int, offers ...offer) (*rig, []*link) {
	t.Helper()
	g := newRig(t, setup{active: []string{"*"}, capabilities: "{}"}, offers...)
	for _, u := range g.r.all() {
		upstream.Simulate(u).Share()
	}
	links := []*link{g.client}
	for range clients - 1 {
		l := &link{t: t}
		l.handler = g.r.NewSession(l, client.Info{})
		l.initialize("{}")
		l.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		l.hears()
		links = append(links, l)
	}
	return g, links
}

func TestClientsWithTheSameIdsGetTheirOwnAnswersAndProgress(t *testing.T) {
	g, clients := crowd(t, 3, offer{namespace: "a", tools: []string{"x"}})
	var ids []string
	for _, c := range clients {
		c.says(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a_x","_meta":{"progressToken":"t"}}}`)
		ids = append(ids, idOf(t, g.servers[0].hears()[0]))
	}
	for i, c := range clients {
		g.servers[0].says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + ids[i] + `,"progress":1}}`)
		c.wants(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
		g.quiet()
	}
	for i, c := range clients {
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + ids[i] + `,"result":{"content":[],"who":` + ids[i] + `}}`)
		c.wants(`{"jsonrpc":"2.0","id":7,"result":{"content":[],"who":` + ids[i] + `}}`)
		for _, other := range clients {
			other.wants()
		}
	}
}

func TestAServerThatIsSharedAsksNobody(t *testing.T) {
	g, clients := crowd(t, 2, offer{namespace: "a", tools: []string{"x"}})
	g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}`)
	if got := g.servers[0].hears(); len(got) != 1 || !strings.Contains(got[0], `"code":-32601`) {
		t.Errorf("the server hears %q", got)
	}
	for _, c := range clients {
		c.wants()
	}
}

func TestLogMessagesOfASharedServerGoToTheOnlyCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, clients := crowd(t, 2, offer{namespace: "a", tools: []string{"x"}})
		const message = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
		for _, c := range clients {
			c.says(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
			c.hears()
		}
		g.servers[0].hears()
		g.servers[0].says(message)
		clients[1].says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_x"}}`)
		g.servers[0].says(message)
		clients[1].wants(message)
		clients[0].says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_x"}}`)
		g.servers[0].says(message)
		for _, c := range clients {
			c.wants()
		}
	})
}

func TestAResourceIsFollowedUntilNobodyWantsItAnyMore(t *testing.T) {
	g, clients := crowd(t, 2, offer{namespace: "a", resources: []string{"r://1"}})
	subscribe := func(c *link, method mcpwire.Method) {
		t.Helper()
		c.says(`{"jsonrpc":"2.0","id":3,"method":"` + string(method) + `","params":{"uri":"a_r://1"}}`)
		c.wants(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	}
	server := g.servers[0]
	subscribe(clients[0], mcpwire.Subscribe)
	if got := server.hears(); len(got) != 1 || !strings.Contains(got[0], `"resources/subscribe"`) {
		t.Errorf("the server hears %q", got)
	}
	subscribe(clients[1], mcpwire.Subscribe)
	server.wants()
	server.says(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://1"}}`)
	for _, c := range clients {
		c.wants(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a_r://1"}}`)
	}
	subscribe(clients[0], mcpwire.Unsubscribe)
	server.wants()
	clients[1].handler.(*session.Session).End()
	if got := server.hears(); len(got) != 1 || !strings.Contains(got[0], `"resources/unsubscribe"`) {
		t.Errorf("the server hears %q", got)
	}
}

func TestASessionThatEndsTakesItsCallsBack(t *testing.T) {
	g, clients := crowd(t, 2, offer{namespace: "a", tools: []string{"x"}})
	var ids []string
	for _, c := range clients {
		c.says(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a_x"}}`)
		ids = append(ids, idOf(t, g.servers[0].hears()[0]))
	}
	clients[1].handler.(*session.Session).End()
	if got := g.servers[0].hears(); len(got) != 1 || !strings.Contains(got[0], `"requestId":`+ids[1]) {
		t.Errorf("the server hears %q", got)
	}
	for i, id := range ids {
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		if i == 0 {
			clients[0].wants(`{"jsonrpc":"2.0","id":7,"result":{}}`)
		}
	}
	clients[1].wants()
}
