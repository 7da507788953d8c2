package router

import (
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/client"
)

func TestAFoundToolIsNotLookedUpAgain(t *testing.T) {
	g, c, server := one(t, offer{namespace: "s", tools: []string{"a", "b"}})
	call := func(found *client.FoundTool) {
		var m jsonrpc.Message
		m.Build([]byte("1"), "tools/call", jsonrpc.Param{Key: "name", Value: []byte(`"not a name"`)})
		var out peer.Outgoing
		g.s.Call(&m, found, &out)
		out.Flush()
	}
	found := g.s.FindTool("s", "a")
	if found == nil || found.Name != g.s.FindTool("s", found.Name).Name || g.s.FindTool("s", "c") != nil || g.s.FindTool("t", "a") != nil {
		t.Fatalf("found %v", found)
	}
	for _, name := range []string{"s_a", "s:a", "mcp__s__a", "a"} {
		if alone, both := g.s.FindTool("", name), g.s.FindTool("s", name); alone == nil || both == nil || alone.Entry != found.Entry || both.Entry != found.Entry {
			t.Errorf("%s is %v without its server, and %v with it", name, alone, both)
		}
	}
	if g.s.FindTool("t", "mcp__s__a") != nil || g.s.FindTool("", "mcp__t__a") != nil {
		t.Error("the name of another server finds the tool")
	}
	call(found)
	if got := server.hearsOne(); !strings.Contains(got, `"name":"a"`) {
		t.Errorf("the server gets %s", got)
	}
	changed := *g.view()
	g.s.View.Store(&changed)
	call(found)
	if got := c.hearsOne(); !strings.Contains(got, "not a name") {
		t.Errorf("with another view the client gets %s", got)
	}
}
