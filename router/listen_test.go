package router

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"toolman/mcpwire"
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
	for i := range maxListens {
		g.listenFor(fmt.Sprint(i), `{"toolsListChanged":true}`)
	}
	if got := g.client.asks(modernCall(`"more"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")); codeOf(t, got) != -32600 {
		t.Errorf("got %s", got)
	}
}

// subscribable makes a server say that it tells of changes of resources.
func (l *link) subscribable() {
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	l.u.result.Capabilities["resources"] = []byte(`{"subscribe":true}`)
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

// A modern server is listened to on one subscription, which is opened anew when more is
// wanted; a legacy client knows nothing of it.
func TestLegacySubscriptionsToAModernServer(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://1", "r://2"}, modern: true})
	server := g.servers[0]
	server.subscribable()
	var last string
	for i, uris := range []string{`"r://1"`, `"r://1","r://2"`} {
		g.client.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"a_r://%d"}}`, i, i+1))
		g.client.wants(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		got := server.hears()
		if want := `"notifications":{"resourceSubscriptions":[` + uris + `]}}}`; len(got) != i+1 || !strings.HasSuffix(got[i], want) {
			t.Fatalf("the server got %q, want %s", got, want)
		}
		if i > 0 && got[0] != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+last+`}}` {
			t.Errorf("the server got %s", got[0])
		}
		last = idOf(t, got[i])
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+onSub(last)+`,"notifications":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+onSub(last)+`,"uri":"r://2"}}`)
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a_r://2"}}`)
	g.client.says(`{"jsonrpc":"2.0","id":9,"method":"resources/unsubscribe","params":{"uri":"a_r://1"}}`, `{"jsonrpc":"2.0","id":10,"method":"resources/unsubscribe","params":{"uri":"a_r://2"}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":9,"result":{}}`, `{"jsonrpc":"2.0","id":10,"result":{}}`)
	if got := methodsOf(t, server.hears()); len(got) != 3 || got[2] != "notifications/cancelled" {
		t.Errorf("the server got %q", got)
	}
}
