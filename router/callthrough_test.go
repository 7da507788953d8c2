package router

import (
	"encoding/json"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/metatool"
	"toolman/router/view"
)

// Nothing of the frame changes but the name and the arguments, which are the tool's own.
func TestToolmanCallIsPassedOnAsACallOfTheTool(t *testing.T) {
	for _, tt := range []struct{ name, params, passed string }{
		{"plain", `"name":"toolman_call","arguments":{"name":"ns_echo","arguments":{"a":1.0, "b":"\u0041"}}`, `"name":"echo","arguments":{"a":1.0, "b":"\u0041"}`},
		{"without arguments", `"name":"toolman_call","arguments":{"name":"ns_echo"}`, `"name":"echo","arguments":{}`},
		{"in another order", `"arguments" : { "arguments": {"name":"toolman_call"} ,"name":"ns_\u0065cho" }, "name": "toolman_call"`, `"arguments" : {"name":"toolman_call"}, "name": "echo"`},
		{"with what else there is", `"task":{"ttl":1},"name":"toolman_call","x":[],"_meta":{"progressToken":"p","y":1e0},"arguments":{"name":"ns_echo","arguments":{}}`,
			`"task":{"ttl":1},"name":"echo","x":[],"_meta":{"progressToken":ID,"y":1e0},"arguments":{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client, server := one(t, various())
			client.says(`{"jsonrpc":"2.0","method":"tools/call","id":"c","params":{` + tt.params + `}}`)
			got := server.hearsOne()
			id := idOf(t, got)
			if want := `{"jsonrpc":"2.0","method":"tools/call","id":` + id + `,"params":{` + strings.ReplaceAll(tt.passed, "ID", id) + `}}`; got != want {
				t.Errorf("the server got\n%s, want\n%s", got, want)
			}
			server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[ ],"x":1.0}}`)
			client.wants(`{"jsonrpc":"2.0","id":"c","result":{"content":[ ],"x":1.0}}`)
		})
	}
}

func TestToolmanCallCrossesTheEras(t *testing.T) {
	_, client, server := one(t, offer{namespace: "a", tools: []string{"t"}})
	client.says(modernCall("1", "tools/call", `"name":"toolman_call","arguments":{"name":"a_t","arguments":{"n":1.0}}`, `,"progressToken":7`))
	got := server.hearsOne()
	id := idOf(t, got)
	if want := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"t","arguments":{"n":1.0},"_meta":{"progressToken":` + id + `}}}`; got != want {
		t.Errorf("the server got\n%s, want\n%s", got, want)
	}
	server.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+id+`,"progress":1}}`, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
	client.wants(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`)
}

// The retry of a call that needed input is one of toolman_call, too, and the tool
// gets the answer, and is not run again.
func TestInputIsAskedDuringToolmanCall(t *testing.T) {
	const params = `"name":"toolman_call","arguments":{"name":"a_t","arguments":{"n":1}}`
	_, client, server := one(t, offer{namespace: "a", tools: []string{"t"}})
	client.says(modernCall("1", "tools/call", params, ""))
	id := idOf(t, server.hearsOne())
	server.says(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
	var asked struct {
		Result struct {
			InputRequests map[string]json.RawMessage
			RequestState  string
		}
	}
	frame := client.hearsOne()
	if err := json.Unmarshal([]byte(frame), &asked); err != nil || len(asked.Result.InputRequests) != 1 {
		t.Fatalf("%v: %s", err, frame)
	}
	for key := range asked.Result.InputRequests {
		client.says(modernCall("2", "tools/call", params+`,"inputResponses":{"`+key+`":{"action":"decline"}},"requestState":"`+asked.Result.RequestState+`"`, ""))
	}
	server.wants(`{"jsonrpc":"2.0","id":"e","result":{"action":"decline"}}`)
	server.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`)
	client.wants(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)
}

// A modern server gets the tool's own call again, not toolman_call's.
func TestARoundDuringToolmanCall(t *testing.T) {
	g := newRoundRig(t, asksAll)
	g.client.says(callFrame("1", metatool.CallTool, `{"name":"ns_echo","arguments":{}}`))
	g.requires(idOf(t, g.server.hearsOne()), `"inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"`)
	g.client.says(reply(idOf(t, g.client.hearsOne()), `{"roots":[]}`))
	got := g.server.hearsOne()
	if want := g.retried(idOf(t, got), `"inputResponses":{"r":{"roots":[]}},"requestState":"s",`); got != want {
		t.Errorf("the server got\n%s, want\n%s", got, want)
	}
}

func TestToolmanCallRefuses(t *testing.T) {
	g := switching(t, "any", Options{})
	for name, tt := range map[string]struct{ arguments, says string }{
		"nothing":                   {`{}`, `arguments.name must be the name of a tool; toolman_call takes {"name": "<tool>", "arguments": {<the tool's own arguments>}}`},
		"no object":                 {`[]`, `arguments.name must be the name of a tool`},
		"a name that is a number":   {`{"name":1}`, `arguments.name must be the name of a tool`},
		"an unknown name":           {`{"name":"ns_onn"}`, `unknown tool ns_onn; similar names: ns_on`},
		"the server's own name":     {`{"name":"off"}`, `tool ns_off is not active: active_toolsets does not have it; call toolman_activate with {"tools_on":["ns_off"]`},
		"an inactive tool":          {`{"name":"ns_off"}`, `tool ns_off is not active: active_toolsets does not have it; call toolman_activate with {"tools_on":["ns_off"]`},
		"itself":                    {`{"name":"toolman_call","arguments":{"name":"ns_on"}}`, `toolman_call cannot be called by toolman_call; call it directly`},
		"itself, spelled otherwise": {`{"name":"toolman\u005fcall"}`, `toolman_call cannot be called by toolman_call`},
		"toolman_activate":          {`{"name":"toolman_activate"}`, `toolman_activate cannot be called by toolman_call; call it directly`},
		"arguments as text":         {`{"name":"ns_on","arguments":"{}"}`, `arguments.arguments must be an object`},
		"arguments that are null":   {`{"name":"ns_on","arguments":null}`, `arguments.arguments must be an object`},
		"the tool's among its own":  {`{"name":"ns_on","pa\u0074h":"/"}`, `"path" is not a parameter; toolman_call takes`},
		"a name twice":              {`{"name":"ns_on","name":"ns_off"}`, `twice`},
	} {
		answer := g.client.asks(callFrame("1", metatool.CallTool, tt.arguments))
		if got := reportOf(t, answer); got.Success || !strings.Contains(got.text(), tt.says) {
			t.Errorf("%s: says %q, want %q", name, got.text(), tt.says)
		}
	}
	if got := reportOf(t, g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toolman_call"}}`)); got.Success {
		t.Error("without arguments it is no failure")
	}
	g.servers[0].wants()
}

// It works where it is not listed, too.
func TestToolmanCallRunsWhatWasSwitchedOn(t *testing.T) {
	for _, m := range []view.Mode{view.ModeMutate, view.ModeCall} {
		g := switching(t, "any", Options{Mode: m})
		g.client.says(on("ns_off").frame("1"), callFrame("2", metatool.CallTool, `{"name":"ns_off"}`))
		if got := g.servers[0].hearsOne(); !strings.HasSuffix(got, `"params":{"name":"off","arguments":{}}}`) {
			t.Errorf("%s: the server got %s", m, got)
		}
	}
}

func TestTheNameToolmanCallIsTaken(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{tools: []string{metatool.CallTool, "x"}})
	c := g.r.Catalog()
	if len(c.Collisions) != 1 || c.Collisions[0].By != "toolman" {
		t.Errorf("collisions: %+v", c.Collisions)
	}
	checkList(t, "offered", namesOf(c.Entries(mcpwire.Tool)), "x")
	if got := reportOf(t, g.client.asks(activation{toolsOff: []string{metatool.CallTool}}.frame("1"))); !strings.Contains(got.text(), "toolman_call is always active") {
		t.Errorf("says %q", got.text())
	}
}

func TestTraceOfToolmanCall(t *testing.T) {
	lines := traced(t, various(), func(g *rig) {
		g.client.says(callFrame("1", metatool.CallTool, `{"name":"ns_echo","arguments":{"a":1}}`))
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{}}`)
		g.client.says(callFrame("2", metatool.CallTool, `{"name":"ns_nothing"}`))
	})
	checkList(t, "trace", lines,
		"client in c1 tools/call ns_echo - - - - -",
		"upstream out c1 tools/call echo - - - - params.name+id",
		"upstream in c1 tools/call echo - ok - - -",
		"client out c1 tools/call ns_echo - ok - - id",
		"client in c2 tools/call ns_nothing - - - - -",
		"client out c2 tools/call ns_nothing unknown tool_error - - -")
}
