package router

import (
	"strings"
	"testing"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/upstream"
)

// batching is a rig whose client has agreed on the one revision with batches.
func batching(t *testing.T) (client, server *link) {
	g := newRig(t, setup{active: []string{"*"}, silent: true}, offer{namespace: "a", tools: []string{"t"}})
	g.client.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	g.client.hears()
	return g.client, g.servers[0]
}

func TestABatchIsAnsweredInOneArray(t *testing.T) {
	client, server := batching(t)
	client.says(`[{"jsonrpc":"2.0","id":1,"method":"ping"}, ` + callFrame("2", "a_t", `{"n":1.0}`) + `,{"jsonrpc":"2.0","method":"notifications/initialized"},[{"jsonrpc":"2.0","id":3,"method":"ping"}],` +
		`{"jsonrpc":"2.0","id":4,"metod":"x"}]`)
	client.wants()
	call := server.hearsOne()
	client.says(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	client.wants(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	server.says(`{"jsonrpc":"2.0","id":` + idOf(t, call) + `,"result":{"content":[ ]}}`)
	got := client.hearsOne()
	for _, want := range []string{`[{"jsonrpc":"2.0","id":1,"result":{}},`, `,{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, `,{"jsonrpc":"2.0","id":4,"error":{"code":-32600,`, `,{"jsonrpc":"2.0","id":2,"result":{"content":[ ]}}]`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestABatchOfWhichAPartIsCancelled(t *testing.T) {
	client, server := batching(t)
	client.says(`[` + callFrame("1", "a_t", "{}") + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	client.wants()
	server.hears()
	client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	client.wants(`[{"jsonrpc":"2.0","id":2,"result":{}}]`)
}

func TestBatchesAreBounded(t *testing.T) {
	client, _ := batching(t)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, frame := range []string{`[]`, `[` + strings.Repeat(ping+",", peer.MaxBatch) + ping + `]`} {
		if got := client.asks(frame); codeOf(t, got) != -32600 {
			t.Errorf("answered %.200s", got)
		}
	}
}

// A server of that revision may send batches, and only such a server.
func TestABatchOfAServer(t *testing.T) {
	for version, want := range map[string]int{mcpwire.V2025_03_26: 2, mcpwire.V2025_06_18: 0} {
		g, client, server := one(t, offer{namespace: "a", tools: []string{"t"}})
		upstream.Simulate(server.u).Result().ProtocolVersion = version
		client.says(callFrame("1", "a_t", "{}"))
		id := idOf(t, server.hearsOne())
		server.says(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},3,{"jsonrpc":"2.0","id":` + id + `,"result":{}}]`)
		if got := client.hears(); len(got) != want {
			t.Errorf("%s: the client got %q", version, got)
		}
		g.quiet()
	}
}
