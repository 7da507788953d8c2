package router

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/mcpwire"
	"toolman/router/subscribe"
	"toolman/router/upstream"
)

// listenFor opens a subscription with this filter, whose acknowledgement must say the same
// or, when it is given, this.
func (g *rig) listenFor(id, filter string, acknowledged ...string) {
	g.t.Helper()
	want := filter
	if len(acknowledged) > 0 {
		want = acknowledged[0]
	}
	got := g.client.asks(modernCall(id, "subscriptions/listen", `"notifications":`+filter, ""))
	if want := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + onSub(id) + `,"notifications":` + want + `}}`; got != want {
		g.t.Fatalf("acknowledged with\n%s, want\n%s", got, want)
	}
}

// onSub is the _meta of a notification on a subscription.
func onSub(id string) string { return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` }

func TestSubscriptionsHearWhatTheyAskedFor(t *testing.T) {
	g := newRig(t, setup{silent: true, active: []string{"a_x"}}, offer{namespace: "a", tools: []string{"x", "y"}, resources: []string{"r://1"}})
	g.listenFor(`"l"`, `{"toolsListChanged":true}`)
	g.listenFor(`7`, `{"toolsListChanged":true,"promptsListChanged":true}`)
	g.listenFor(`"rest"`, `{"resourcesListChanged":true,"resourceSubscriptions":["toolman://catalog"]}`)
	g.client.says(modernCall("2", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["a_y"],"tools_off":[],"resources_on":[],"resources_off":[]}`, ""))
	heard := g.client.hears()
	checkList(t, "told", heard[:min(3, len(heard))],
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+onSub(`"l"`)+`}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+onSub(`7`)+`}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+onSub(`"rest"`)+`,"uri":"toolman://catalog"}}`)
	if len(heard) != 4 || !strings.HasPrefix(heard[3], `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[`) {
		t.Errorf("answered %q", heard)
	}
	// A subscription that was cancelled hears nothing, not even its end.
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
	g.client.wants()
	g.servers[0].lists(mcpwire.Tool, "x")
	g.r.update()
	if got := g.client.hears(); len(got) != 2 || !strings.Contains(got[0], onSub(`7`)) || !strings.Contains(got[1], "toolman://catalog") {
		t.Errorf("told %q", got)
	}
	// The others are ended in good order.
	g.s.Closed(io.EOF)
	g.client.wants(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete",`+onSub(`7`)+`}}`,
		`{"jsonrpc":"2.0","id":"rest","result":{"resultType":"complete",`+onSub(`"rest"`)+`}}`)
}

func TestSubscriptionsEndInGoodOrderWithToolman(t *testing.T) {
	g := newRig(t, setup{silent: true})
	g.listenFor("1", `{"toolsListChanged":true}`)
	g.r.Close()
	g.client.wants(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",` + onSub("1") + `}}`)
}

func TestASubscriptionToNothingEndsAtOnce(t *testing.T) {
	g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1"}})
	g.client.says(modernCall("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a_r://1","r://none"],"later":true}`, ""))
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+onSub("1")+`,"notifications":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+onSub("1")+`}}`)
	g.quiet()
}

func TestListensAreBounded(t *testing.T) {
	g := newRig(t, setup{silent: true}, offer{namespace: "a"})
	for i := range subscribe.MaxListens {
		g.listenFor(fmt.Sprint(i), `{"toolsListChanged":true}`)
	}
	if got := g.client.asks(modernCall(`"more"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")); codeOf(t, got) != -32600 {
		t.Errorf("got %s", got)
	}
}

// subscribable makes a server say that it tells of changes of resources.
func (l *link) subscribable() {
	upstream.Simulate(l.u).Result().Capabilities["resources"] = []byte(`{"subscribe":true}`)
}

// A legacy server is subscribed to once for all subscriptions of a modern client.
func TestModernSubscriptionsToALegacyServer(t *testing.T) {
	g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1", "r://2"}})
	server := g.servers[0]
	server.subscribable()
	g.listenFor(`"l"`, `{"resourceSubscriptions":["a_r://1"]}`)
	got := server.hearsOne()
	if want := `"method":"resources/subscribe","params":{"uri":"r://1"}}`; !strings.HasSuffix(got, want) {
		t.Errorf("the server got %s, want %s", got, want)
	}
	g.listenFor(`"m"`, `{"resourceSubscriptions":["r://1"]}`)
	server.wants()
	server.says(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://1","x":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://2"}}`)
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+onSub(`"l"`)+`,"uri":"a_r://1","x":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+onSub(`"m"`)+`,"uri":"r://1","x":1}}`)
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
	server.wants()
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"m"}}`)
	if got := server.hearsOne(); !strings.HasSuffix(got, `"method":"resources/unsubscribe","params":{"uri":"r://1"}}`) {
		t.Errorf("the server got %s", got)
	}
	g.client.wants()
}

// A modern server is listened to on a subscription for each resource, so that none is ever opened
// anew; a legacy client knows nothing of it.
func TestLegacySubscriptionsToAModernServer(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1", "r://2"}, modern: true})
	server := g.servers[0]
	server.subscribable()
	var ids []string
	for i, uri := range []string{"r://1", "r://2"} {
		g.client.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"a_%s"}}`, i, uri))
		g.client.wants(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		got := server.hearsOne()
		if !strings.HasSuffix(got, `"notifications":{"resourceSubscriptions":["`+uri+`"]}}}`) {
			t.Fatalf("the server got %s", got)
		}
		ids = append(ids, idOf(t, got))
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+onSub(ids[1])+`,"notifications":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+onSub(ids[1])+`,"uri":"r://2"}}`)
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a_r://2"}}`)
	g.client.says(`{"jsonrpc":"2.0","id":9,"method":"resources/unsubscribe","params":{"uri":"a_r://1"}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":9,"result":{}}`)
	server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + ids[0] + `}}`)
}

// The Go SDK's servers forget the subscription to the lists with any other, and say when.
func TestListsAreListenedToAgainWhereTheEndOfAnotherSubscriptionSilencesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1"}, modern: true})
		server := g.servers[0]
		server.converses()
		server.subscribable()
		upstream.Simulate(server.u).Result().Capabilities["prompts"] = []byte(`{"listChanged":true}`)
		server.u.Feed.Listen()
		lists := server.hearsOne()
		if filter := `"notifications":{"promptsListChanged":true}}}`; !strings.HasSuffix(lists, filter) {
			t.Errorf("the server got %s", lists)
		}
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a_r://1"}}`)
		resource := idOf(t, server.hearsOne())
		g.client.says(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"a_r://1"}}`)
		server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + resource + `}}`)
		end := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete",` + onSub(id) + `}}`
		}
		server.says(end(resource))
		again := server.hearsOne()
		if got, want := strings.Replace(again, idOf(t, again), "", 1), strings.Replace(lists, idOf(t, lists), "", 1); got != want {
			t.Errorf("the server got %s, want %s", got, want)
		}
		time.Sleep(debounceTime)
		synctest.Wait()
		if got := methodsOf(t, server.hears()); len(got) != 1 || got[0] != "prompts/list" {
			t.Errorf("what may have changed in between is read with %q", got)
		}
		// The one that was forgotten may still be answered in the end; that changes nothing.
		server.says(end(idOf(t, lists)))
		time.Sleep(2 * relistenPause)
		server.wants()
		server.says(end(idOf(t, again)))
		time.Sleep(2 * relistenPause)
		synctest.Wait()
		if got := methodsOf(t, server.hears()); len(got) != 1 || got[0] != "subscriptions/listen" {
			t.Errorf("the end of the one that counts led to %q", got)
		}
	})
}

// A server that ends a subscription as soon as it is opened is not asked for it for ever.
func TestASubscriptionThatTheServerDoesNotLetStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1"}, modern: true})
		server := g.servers[0]
		server.subscribable()
		g.client.says(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a_r://1"}}`)
		id := idOf(t, server.hearsOne())
		server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete",` + onSub(id) + `}}`)
		time.Sleep(2 * relistenPause)
		synctest.Wait()
		server.wants()
	})
}
