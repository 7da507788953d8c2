package router

import (
	"strings"
	"testing"
)

func logLine(level string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":1}}`
}

// A modern client hears a legacy server's messages only while a request that asked for
// them is open, and only those that it asked for.
func TestLogMessagesForAModernClient(t *testing.T) {
	g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "a", tools: []string{"t"}})
	client, server := g.client, g.servers[0]
	server.says(logLine("error"))
	client.wants()
	client.says(modernCall("1", "tools/call", `"name":"a_t"`, ``))
	quiet := server.hearsOne()
	server.says(logLine("error"))
	client.wants()
	client.says(modernCall("2", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"warning"`))
	got := server.hears()
	if len(got) != 2 || !strings.HasSuffix(got[0], `"method":"logging/setLevel","params":{"level":"warning"}}`) || strings.Contains(got[1], "logLevel") {
		t.Fatalf("the server got %q", got)
	}
	server.says(logLine("info"), logLine("warning"))
	client.wants(logLine("warning"))
	for _, id := range []string{idOf(t, quiet), idOf(t, got[1])} {
		server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	}
	client.hears()
	server.says(logLine("error"))
	client.wants()
	// The server is told again only when more is wanted.
	client.says(modernCall("3", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"error"`), modernCall("4", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"debug"`))
	if methods := strings.Join(methodsOf(t, server.hears()), " "); methods != "tools/call logging/setLevel tools/call" {
		t.Errorf("the server got %s", methods)
	}
}

// A modern server is told the level of a legacy client with each request.
func TestTheLevelOfALegacyClientForAModernServer(t *testing.T) {
	_, client, server := one(t, offer{namespace: "a", tools: []string{"t"}, modern: true})
	client.asks(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"notice"}}`)
	server.wants()
	client.says(callFrame("2", "a_t", "{}"))
	if got := server.hearsOne(); !strings.Contains(got, `"io.modelcontextprotocol/logLevel":"notice"`) {
		t.Errorf("the server got %s", got)
	}
	server.says(logLine("notice"))
	client.wants(logLine("notice"))
}
