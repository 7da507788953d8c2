package router

import (
	"strings"
	"testing"
	"time"
)

// All that a round is about has the number of its call, and the time that it takes is
// not toolman's own.
func TestTraceOfARound(t *testing.T) {
	o := various()
	o.modern = true
	lines := traced(t, o, func(g *rig) {
		client, server := g.client, g.servers[0]
		id := open(client, server, "1")
		time.Sleep(5 * time.Millisecond)
		server.says(reply(id, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m"}}}}`))
		asked := client.hears()
		time.Sleep(20 * time.Millisecond)
		client.says(reply(idOf(t, asked[1]), `{}`))
		time.Sleep(10 * time.Millisecond)
		client.says(reply(idOf(t, asked[0]), `{}`))
		id = idOf(t, server.hearsOne())
		time.Sleep(7 * time.Millisecond)
		server.says(reply(id, `{"resultType":"complete"}`))

		server.says(reply(open(client, server, "2"), `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`))
		client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	})
	for i, line := range lines { // what was rewritten is another matter
		lines[i] = line[:strings.LastIndex(line, " ")]
	}
	checkList(t, "trace", lines,
		"client in c1 tools/call ns_echo - - - -",
		"upstream out c1 tools/call echo - - - -",
		"upstream in c1 tools/call echo - ok 5ms -",
		"client out c1 roots/list - - - - -",
		"client out c1 elicitation/create - - - - -",
		"client in c1 elicitation/create - - ok 20ms -",
		"client in c1 roots/list - - ok 30ms -",
		"upstream out c1 tools/call echo - - - -",
		"upstream in c1 tools/call echo - ok 7ms -",
		"client out c1 tools/call ns_echo - ok 42ms 42ms",
		"client in c2 tools/call ns_echo - - - -",
		"upstream out c2 tools/call echo - - - -",
		"upstream in c2 tools/call echo - ok - -",
		"client out c2 roots/list - - - - -",
		"client in c2 notifications/cancelled - - - - -",
		"client out c2 notifications/cancelled - - - - -",
	)
}
