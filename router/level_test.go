package router

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func logLine(level string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":1}}`
}

// A modern client hears a legacy server's messages only while a request that asked for
// them is open, and only those that it asked for.
func TestLogMessagesForAModernClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "a", tools: []string{"t"}})
		client, server := g.client, g.servers[0]
		server.says(logLine("error"))
		client.wants()
		client.says(modernCall("1", "tools/call", `"name":"a_t"`, ``))
		quiet := server.hearsOne()
		server.says(logLine("error"))
		client.wants()
		client.says(modernCall("2", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"warning"`))
		// The call waits until the server logs as it should.
		leveling := server.hearsOne()
		if !strings.HasSuffix(leveling, `"method":"logging/setLevel","params":{"level":"warning"}}`) {
			t.Fatalf("the server got %q", leveling)
		}
		answerTo(t, server, leveling)
		call := server.hearsOne()
		if strings.Contains(call, "logLevel") {
			t.Fatalf("the server got %q", call)
		}
		server.says(logLine("info"), logLine("warning"))
		client.wants(logLine("warning"))
		for _, id := range []string{idOf(t, quiet), idOf(t, call)} {
			server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		}
		client.hears()
		server.says(logLine("error"))
		client.wants()
		// The server is told again only when more is wanted.
		client.says(modernCall("3", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"error"`), modernCall("4", "tools/call", `"name":"a_t"`, `,"io.modelcontextprotocol/logLevel":"debug"`))
		got := server.hears()
		if methods := strings.Join(methodsOf(t, got), " "); methods != "tools/call logging/setLevel" {
			t.Errorf("the server got %s", methods)
		}
		answerTo(t, server, got[1])
		if methods := strings.Join(methodsOf(t, server.hears()), " "); methods != "tools/call" {
			t.Errorf("then the server got %s", methods)
		}
	})
}

// A call that waits for a log level waits neither for ever nor for a server that is gone, and can
// be taken back.
func TestACallWaitsForALogLevelButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{silent: true, active: []string{"*"}}, offer{namespace: "a", tools: []string{"t"}}, offer{namespace: "b", tools: []string{"t"}})
		a, b := g.servers[0], g.servers[1]
		call := func(tool, level string) { // under the id 1
			g.client.says(modernCall("1", "tools/call", `"name":"`+tool+`"`, `,"io.modelcontextprotocol/logLevel":"`+level+`"`))
		}
		call("a_t", "error")
		answerTo(t, a, a.hearsOne())
		answerTo(t, a, a.hearsOne())
		g.client.hearsOne()

		call("a_t", "warning")
		first := a.hearsOne()
		time.Sleep(levelTimeout)
		synctest.Wait()
		answerTo(t, a, a.hearsOne())
		g.client.hearsOne()
		answerTo(t, a, first)
		g.quiet()

		call("a_t", "info")
		a.hearsOne()
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		time.Sleep(levelTimeout)
		synctest.Wait()
		g.quiet()

		call("b_t", "info")
		b.hearsOne()
		b.dies()
		if frame := g.client.hearsOne(); !strings.Contains(frame, "server b is gone") {
			t.Errorf("the client got %s", frame)
		}

		call("a_t", "debug")
		a.hearsOne()
		if n := g.s.Pending(); n != 1 {
			t.Errorf("%d requests are pending, want 1", n)
		}
		g.s.Abandon()
		if frame := g.client.hearsOne(); !strings.Contains(frame, "not answered in time") {
			t.Errorf("the client got %s", frame)
		}
		g.quiet()
	})
}

// answerTo has a server answer a request.
func answerTo(t *testing.T, server *link, request string) {
	t.Helper()
	server.says(`{"jsonrpc":"2.0","id":` + idOf(t, request) + `,"result":{}}`)
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
