package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

// A client is told which server is not available, and why, by whatever name it uses for an item.
func TestAnItemOfAnAbsentServerIsNotUnknown(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: []string{"read"}, resources: []string{"r://x"}, prompts: []string{"ask"}},
		offer{namespace: "a_b", late: true}, offer{namespace: "live", tools: []string{"read"}})
	g.servers[0].dies()
	g.client.hears()
	for name, want := range map[string]string{
		"a_read":           "server a is gone (it ended with exit status 3)",
		"a:read":           "server a is gone",
		"mcp__a__read":     "server a is gone",
		"a.read":           "server a is gone",
		"a_never_was":      "server a is gone",
		"a_b_never_was":    "server a_b is still starting",
		"live_nevr":        "unknown tool live_nevr",
		"else_where":       "unknown tool else_where",
		"toolman_activat":  "unknown tool",
		"mcp__live__never": "unknown tool",
	} {
		text := refusalOf(t, g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`"}}`), mcpwire.ToolsCall, 0)
		if !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, request := range []string{
		`"method":"resources/read","params":{"uri":"a_r://x"}`,
		`"method":"resources/read","params":{"uri":"r://x"}`,
		`"method":"prompts/get","params":{"name":"a_ask"}`,
	} {
		if answer := g.client.asks(`{"jsonrpc":"2.0","id":1,` + request + `}`); !strings.Contains(answer, "server a is gone") || !strings.Contains(answer, `"code":-32602`) {
			t.Errorf("%s: %s", request, answer)
		}
	}
	if _, got := g.activate(activation{toolsOn: []string{"a_read"}}); got.Success || !strings.Contains(got.text(), "server a is gone") {
		t.Errorf("activation: %s", got.text())
	}
	catalogText := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + catalog.CatalogURI + `"}}`)
	for _, want := range []string{"! server a is not available: it ended with exit status 3", "! server a_b is not available: it is still starting"} {
		if !strings.Contains(catalogText, want) || !strings.Contains(g.definition().Description, want) {
			t.Errorf("%s is missing in %s", want, catalogText)
		}
	}
	g.servers[1].ready()
	if got := g.definition().Description; strings.Contains(got, "server a_b") {
		t.Errorf("a server that is ready: %s", got)
	}
}

// A client that may not use a server is not told of it.
func TestAnAbsentServerIsHiddenFromWhoMayNotUseIt(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Policy: exposing(t, map[string][]string{"live": {"*"}})}},
		offer{namespace: "secret", late: true}, offer{namespace: "live", tools: []string{"read"}})
	upstream.Simulate(g.servers[0].u).End("it ended with exit status 3")
	g.client.hears()
	answer := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret_read"}}`)
	if strings.Contains(answer, "gone") || strings.Contains(g.definition().Description, "secret") {
		t.Errorf("got %s", answer)
	}
}
