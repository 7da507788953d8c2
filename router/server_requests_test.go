package router

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/session"
	"toolman/router/upstream"
)

func TestWhatAServerAsksIsPassedOnVerbatim(t *testing.T) {
	for _, tt := range []struct{ name, server, client string }{
		{"sampling", "{ \"params\":{\"messages\":[1.0,1E2,\"\\ud800<\u2028\"],\"x\":1,\"x\":2},\"id\":@ ,\"method\":\"sampling/createMessage\",\"jsonrpc\":\"2.0\"}",
			"{ \"params\":{\"messages\":[1.0,1E2,\"\\ud800<\u2028\"],\"x\":1,\"x\":2},\"id\":# ,\"method\":\"sampling/createMessage\",\"jsonrpc\":\"2.0\"}"},
		{"elicitation", `{"jsonrpc":"2.0","\u0069d":@,"method":"elicitation/create","params":{"_meta":{"progressToken":"@"},"message":"\u003f","mode":"url"}}`,
			`{"jsonrpc":"2.0","\u0069d":#,"method":"elicitation/create","params":{"_meta":{"progressToken":#},"message":"Server a asks: \u003f","mode":"url"}}`},
		{"roots", `{"jsonrpc":"2.0","id":@,"method":"roots\/list"}`, `{"jsonrpc":"2.0","id":#,"method":"roots\/list"}`},
	} {
		for _, id := range []string{`0`, `"x"`, `-1.50`, `""`, `18446744073709551616`} {
			g, client, server := one(t, offer{namespace: "a"})
			server.says(strings.Replace(tt.server, "@", id, 1))
			asked := client.hearsOne()
			our := idOf(t, asked)
			if want := strings.ReplaceAll(tt.client, "#", our); asked != want {
				t.Errorf("%s: got\n%s, want\n%s", tt.name, asked, want)
			}
			const answer = `{"result":{ "y":[1E2,"\/"]}, "id":%s,"jsonrpc":"2.0"}`
			client.says(fmt.Sprintf(answer, our), fmt.Sprintf(answer, our))
			server.wants(fmt.Sprintf(answer, id))
			g.quiet()
		}
	}
}

func TestTheClientsErrorsReachTheServer(t *testing.T) {
	_, client, server := one(t, offer{namespace: "a"})
	for _, tt := range [][2]string{
		{`{"jsonrpc":"2.0","id":#,"error":{"code":-1.0,"message":"no"}}`, `{"jsonrpc":"2.0","id":"q","error":{"code":-1.0,"message":"no"}}`},
		{`{"jsonrpc":"2.0","id":#,"result":null,"error":{"code":1,"message":"no"}}`, `{"jsonrpc":"2.0","id":"q","error":{"code":1,"message":"no"}}`},
		{`{"jsonrpc":"2.0","id":#,"error":null,"result":{"x":1.0}}`, `{"jsonrpc":"2.0","id":"q","result":{"x":1.0}}`},
	} {
		server.says(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		client.says(strings.Replace(tt[0], "#", idOf(t, client.hearsOne()), 1))
		server.wants(tt[1])
	}
}

func TestAnswersOfTheClientThatNobodyAskedForAreDropped(t *testing.T) {
	g, client, server := one(t, various())
	id := open(client, server, "1")
	server.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	asked := idOf(t, client.hearsOne())
	for _, odd := range []string{id, "1", `"` + asked + `"`, asked + ".0", "null", asked + "0", `{}`, "0"} {
		client.says(`{"jsonrpc":"2.0","id":` + odd + `,"result":{}}`)
	}
	client.says(`{"jsonrpc":"2.0","result":{}}`)
	g.quiet()
	client.says(`{"jsonrpc":"2.0","id":` + asked + `,"result":{}}`)
	server.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

// An answer that cannot be read must not leave the server waiting.
func TestAnAnswerOfTheClientThatCannotBeRead(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":#,"result":{},"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","id":#,"error":"no"}`,
		`{"jsonrpc":"2.0","id":#,"result":{"x":`,
		`{"result":"` + "\xff" + `","jsonrpc":"2.0","id":#}`,
	} {
		for method, want := range map[string]string{
			"roots/list":         `{"jsonrpc":"2.0","id":"q","error":{"code":-32603,"message":"the client's answer could not be passed on: `,
			"elicitation/create": `{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}`,
		} {
			g, client, server := one(t, offer{namespace: "a"})
			server.says(`{"jsonrpc":"2.0","id":"q","method":"` + method + `","params":{"message":"m"}}`)
			client.says(strings.Replace(frame, "#", idOf(t, client.hearsOne()), 1))
			if got := server.hearsOne(); !strings.HasPrefix(got, want) {
				t.Errorf("%q: got %s, want %s", frame, got, want)
			}
			g.quiet()
		}
	}
}

func TestWhatTheClientCannotDoIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, capabilities, request, want string }{
		{"a capability that it has not", `{"roots":{}}`, `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`,
			`{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"the client has not declared the capability sampling"}}`},
		{"an elicitation", `{"roots":{}}`, `{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"m"}}`,
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"the client has not declared the capability elicitation"}}`},
		{"a method of no client", everything, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"toolman does not pass on requests of this method to clients"}}`},
		{"two tokens", everything, `{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"progressToken":1,"progressToken":2}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"in params._meta: the member progressToken stands there twice"}}`},
		{"a task that is not the client's", everything, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the client executes no such task for this server"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRig(t, setup{capabilities: tt.capabilities}, offer{namespace: "a"})
			g.servers[0].says(tt.request)
			g.servers[0].wants(tt.want)
			g.quiet()
		})
	}
}

func TestPingsAreAnsweredByToolman(t *testing.T) {
	g := newRig(t, setup{silent: true}, offer{namespace: "a", starting: true})
	g.servers[0].says(`{"jsonrpc":"2.0","id":"\u0070","method":"ping"}`)
	g.servers[0].wants(`{"jsonrpc":"2.0","id":"\u0070","result":{}}`)
	g.client.says(`{"jsonrpc":"2.0","id":1.50,"method":"ping","params":[]}`)
	g.client.wants(`{"jsonrpc":"2.0","id":1.50,"result":{}}`)
	g.quiet()
}

// 2025-11-25, Lifecycle: nothing but pings and logging before initialized.
func TestRequestsWaitUntilTheClientIsReady(t *testing.T) {
	for name, ready := range map[string]string{
		"initialized": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"a request":   `{"jsonrpc":"2.0","id":"r","method":"prompts/list"}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, setup{silent: true}, offer{namespace: "a"}, offer{namespace: "b"})
			g.client.initialize(`{"roots":{}}`)
			g.client.hears()
			g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"x":"a"}}`, `{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"}`,
				`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}`)
			g.servers[1].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"x":"b"}}`)
			g.client.wants(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}`)
			g.servers[0].wants(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"the client has not declared the capability sampling"}}`)
			g.client.says(ready)
			heard := g.client.hears()
			if len(heard) < 2 {
				t.Fatalf("heard %q", heard)
			}
			for i, x := range []string{"a", "b"} {
				id := idOf(t, heard[i])
				if want := `{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list","params":{"x":"` + x + `"}}`; heard[i] != want {
					t.Errorf("got %s, want %s", heard[i], want)
				}
				g.client.says(`{"jsonrpc":"2.0","id":` + id + `,"result":"` + x + `"}`)
				g.servers[i].wants(`{"jsonrpc":"2.0","id":1,"result":"` + x + `"}`)
			}
			g.client.says(ready)
			g.client.hears()
			g.quiet()
		})
	}
}

func TestRequestsThatWaitCanBeTakenBack(t *testing.T) {
	g := newRig(t, setup{silent: true}, offer{namespace: "a"}, offer{namespace: "b"})
	g.client.initialize(`{"roots":{}}`)
	g.client.hears()
	for _, l := range g.servers {
		l.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	}
	g.servers[0].says(fmt.Sprintf(cancelFrame, "1"))
	g.servers[1].dies()
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	id := idOf(t, g.client.hearsOne())
	g.client.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	g.servers[0].wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	g.quiet()
}

func TestRequestsThatWaitAreBounded(t *testing.T) {
	g := newRig(t, setup{silent: true}, offer{namespace: "a"})
	g.client.initialize(`{"roots":{}}`)
	g.client.hears()
	for i := range mostEarly {
		g.servers[0].says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i))
	}
	g.quiet()
	g.servers[0].says(`{"jsonrpc":"2.0","id":"x","method":"roots/list"}`)
	g.servers[0].wants(`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the client is not ready yet"}}`)
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if n := len(g.client.hears()); n != mostEarly {
		t.Errorf("%d were passed on, want %d", n, mostEarly)
	}
}

func TestTheBytesOfRequestsThatWaitAreBounded(t *testing.T) {
	g := newRig(t, setup{silent: true}, offer{namespace: "a"})
	g.client.initialize(`{"roots":{}}`)
	g.client.hears()
	g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"x":"` + strings.Repeat("x", mostEarlyBytes-100) + `"}}`)
	g.quiet()
	g.servers[0].says(`{"jsonrpc":"2.0","id":"x","method":"roots/list"}`)
	g.servers[0].wants(`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the client is not ready yet"}}`)
}

func TestWhatADeadServerHasAskedIsTakenBack(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a"}, offer{namespace: "b"})
	g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	taken := idOf(t, g.client.hearsOne())
	g.servers[1].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	stays := idOf(t, g.client.hearsOne())
	g.servers[0].dies()
	g.client.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + taken + `,"reason":"the server has disconnected"}}`)
	g.client.says(`{"jsonrpc":"2.0","id":`+taken+`,"result":{}}`, `{"jsonrpc":"2.0","id":`+stays+`,"result":{}}`)
	g.servers[0].wants()
	g.servers[1].wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestWhatAServerAsksOfAClientThatIsGone(t *testing.T) {
	g, client, server := one(t, offer{namespace: "a"})
	const gone = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the client is gone"}}`
	server.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	client.hears()
	g.s.Closed(io.EOF)
	server.wants(fmt.Sprintf(gone, "1"))
	server.says(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"m"}}`)
	server.wants(fmt.Sprintf(gone, "2"), `{"jsonrpc":"2.0","id":3,"result":{"action":"cancel"}}`)
	g.quiet()
}

// A question that the client's queue has no room for does not keep the server waiting.
func TestWhatAServerAsksOfAClientThatDoesNotRead(t *testing.T) {
	g, client, server := one(t, offer{namespace: "a"})
	client.refuses = jsonrpc.ErrQueueFull
	server.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"m"}}`)
	server.wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the request could not be written to the client"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}}`)
	if n := session.Simulate(g.s).Held().ServerRequests; n != 0 {
		t.Errorf("%d questions are open", n)
	}
}

func TestWhatIsAskedOfNobody(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a"})
	upstream.Simulate(g.r.all()[0]).Share()
	g.servers[0].says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","method":"notifications/message"}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x"}}`, fmt.Sprintf(cancelFrame, "1"))
	g.servers[0].wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no client is connected, or several are, and the request does not say which one it is for"}}`)
	g.quiet()
}

// Notifications that are nobody's business but the client's pass as they are.
func TestNotificationsOfServersPass(t *testing.T) {
	g, client, server := one(t, offer{namespace: "a"})
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"x":1.0}}}`,
		`{ "method":"notifications/elicitation/complete","params":{"elicitationId":"e"},"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"notifications/of/the/future"}`,
	} {
		server.says(frame)
		client.wants(frame)
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"tools/call"}`, `{"jsonrpc":"2.0","method":""}`)
	g.quiet()
}

func TestTheClientsRootsChangeForAllServers(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a"}, offer{namespace: "b"}, offer{namespace: "c", late: true}, offer{namespace: "d"})
	g.servers[3].dies()
	const changed = `{"jsonrpc":"2.0", "method":"notifications/roots/list_changed"}`
	g.client.says(changed)
	g.servers[0].wants(changed)
	g.servers[1].wants(changed)
	g.quiet()
	g.client.says(`{"jsonrpc":"2.0","method":"notifications/message"}`, `{"jsonrpc":"2.0","method":"`+string(mcpwire.ToolsListChanged)+`"}`)
	g.quiet()
}
