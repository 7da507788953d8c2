package router

import (
	"encoding/json"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

// refusalOf reads why something was refused, and checks the form of the answer.
func refusalOf(t testing.TB, frame string, method mcpwire.Method, code int) string {
	t.Helper()
	if method == mcpwire.ToolsCall {
		o := reportOf(t, frame)
		if o.Success {
			t.Fatalf("not refused: %s", frame)
		}
		return o.text()
	}
	var reply struct {
		Error struct {
			Code    int
			Message string
			Data    report
		}
	}
	if err := json.Unmarshal([]byte(frame), &reply); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	e := reply.Error
	if e.Code != code || e.Data.Success || e.Data.Result != nil || e.Data.Error == nil || *e.Data.Error != e.Message {
		t.Fatalf("not a proper error of code %d: %s", code, frame)
	}
	return e.Message
}

func TestRefusals(t *testing.T) {
	const activate = `{"tools_on":["ns_off1"],"tools_off":[],"resources_on":[],"resources_off":[]}`
	long := strings.Repeat("x", 1000)
	for _, tt := range []struct {
		name   string
		method mcpwire.Method
		params string
		code   int
		says   string
	}{
		{"an inactive tool", mcpwire.ToolsCall, `{"name":"ns_off1"}`, 0,
			"tool ns_off1 is not active: active_toolsets does not have it; call toolman_activate with " + activate + ", then try again"},
		{"an inactive tool without its server", mcpwire.ToolsCall, `{"name":"off1"}`, 0,
			"tool ns_off1 is not active: active_toolsets does not have it; call toolman_activate with " + activate + ", then try again"},
		{"an unknown tool", mcpwire.ToolsCall, `{"name":"of1"}`, 0, "unknown tool of1; similar names: ns_on1, ns_off1, ns_off2"},
		{"a tool like no other", mcpwire.ToolsCall, `{"name":"qwertyuiop"}`, 0, "unknown tool qwertyuiop; tools/list lists those there are"},
		{"a tool without a name", mcpwire.ToolsCall, `{"name":""}`, 0, `unknown tool ""; tools/list lists those there are`},
		{"a tool with a long name", mcpwire.ToolsCall, `{"name":"` + long + `"}`, 0, "unknown tool " + long[:200] + "; tools/list lists those there are"},
		{"a tool whose name hides something", mcpwire.ToolsCall, `{"name":"\u001b[2J\u202e"}`, 0, "unknown tool  [2J; tools/list lists those there are"},
		{"no name at all", mcpwire.ToolsCall, `{}`, 0, "tools/call needs params.name"},
		{"a name that is a number", mcpwire.ToolsCall, `{"name":1}`, 0, "tools/call needs params.name"},
		{"two names", mcpwire.ToolsCall, `{"name":"ns_on1","name":"ns_off1"}`, 0, "in params: the member name stands there twice"},
		{"a name in another spelling", mcpwire.ToolsCall, `{"Name":"ns_on1"}`, 0, `in params: the member "Name" is spelled almost like name`},
		{"two progress tokens", mcpwire.ToolsCall, `{"name":"ns_on1","_meta":{"progressToken":1,"progressToken":2}}`, 0,
			"in params._meta: the member progressToken stands there twice"},
		{"params that are a list", mcpwire.ToolsCall, `["ns_on1"]`, 0, "params must be an object"},

		{"an inactive resource", mcpwire.ResourcesRead, `{"uri":"ns_off://r"}`, -32602,
			`resource ns_off://r is not active: active_toolsets does not have it; call toolman_activate with {"tools_on":[],"tools_off":[],"resources_on":["ns_off://r"],"resources_off":[]}, then try again`},
		{"a bare URI of an inactive resource", mcpwire.ResourcesRead, `{"uri":"off://r"}`, -32602,
			`resource ns_off://r is not active: active_toolsets does not have it; call toolman_activate with {"tools_on":[],"tools_off":[],"resources_on":["ns_off://r"],"resources_off":[]}, then try again`},
		{"what an inactive template makes", mcpwire.ResourcesRead, `{"uri":"ns_off://7"}`, -32602,
			`resource template ns_off://{t} is not active: active_toolsets does not have it; call toolman_activate with {"tools_on":[],"tools_off":[],"resources_on":["ns_off://{t}"],"resources_off":[]}, then try again`},
		{"an unknown resource", mcpwire.ResourcesRead, `{"uri":"ns_on:r"}`, -32602, "unknown resource ns_on:r; similar names: ns_on://r"},
		{"a resource like no other", mcpwire.ResourcesRead, `{"uri":"qwertyuiop"}`, -32602, "unknown resource qwertyuiop; resources/list lists those there are"},
		{"no URI", mcpwire.ResourcesRead, `{"name":"ns_on://r"}`, -32602, "resources/read needs params.uri"},
		{"a subscription to an inactive resource", mcpwire.Subscribe, `{"uri":"ns_off://r"}`, -32602, "resource ns_off://r is not active: active_toolsets does not have it; "},
		{"a subscription to nothing", mcpwire.Unsubscribe, ``, -32602, "resources/unsubscribe needs params.uri"},

		{"an unknown prompt", mcpwire.PromptsGet, `{"name":"ns_q"}`, -32602, "unknown prompt ns_q; similar names: ns_p"},
		{"a completion of nothing", mcpwire.Complete, `{}`, -32602, `completion/complete needs params.ref, either {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}`},
		{"a completion of an inactive template", mcpwire.Complete, `{"ref":{"type":"ref/resource","uri":"ns_off://{t}"},"argument":{"name":"t","value":""}}`, -32602,
			"resource template ns_off://{t} is not active: active_toolsets does not have it; "},
		{"a completion of an unknown template", mcpwire.Complete, `{"ref":{"type":"ref/resource","uri":"qwertyuiop"}}`, -32602,
			"unknown resource template qwertyuiop; resources/templates/list lists those there are"},
		{"an unknown task", mcpwire.TasksGet, `{"taskId":"t"}`, -32602, "unknown task t; it was not made over this connection, is older than the last 1000, or its ID is longer than 256 bytes"},
		{"no task", mcpwire.TasksCancel, `{"taskId":1}`, -32602, "tasks/cancel needs params.taskId"},

		{"an unknown method", "tools/delete", `{}`, -32601, "toolman does not know the method tools/delete"},
		{"a method that hides something", "\u202e\u001b[2J", `{}`, -32601, "toolman does not know the method  [2J"},
		{"a server's method", mcpwire.CreateMessage, `{}`, -32601, "toolman does not know the method sampling/createMessage"},
		{"the list of tasks", "tasks/list", ``, -32601, "toolman does not know the method tasks/list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switchable(t)
			method, _ := json.Marshal(tt.method)
			params := ""
			if tt.params != "" {
				params = `,"params":` + tt.params
			}
			frame := g.client.asks(`{"jsonrpc":"2.0","id":"\u0031","method":` + string(method) + params + `}`)
			if id := idOf(t, frame); id != `"\u0031"` {
				t.Errorf("answered %s", id)
			}
			if got := refusalOf(t, frame, tt.method, tt.code); got != tt.says && (!strings.HasSuffix(tt.says, "; ") || !strings.HasPrefix(got, tt.says)) {
				t.Errorf("says\n%s, want\n%s", got, tt.says)
			}
			g.quiet()
		})
	}
}

// What toolman advises works.
func TestTheAdviceOfARefusalWorks(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "ns", tools: []string{`a"b`, "plain"}, resources: []string{"r:\"<\\\u2028ü"}})
	for method, params := range map[mcpwire.Method]string{
		mcpwire.ToolsCall:     `{"name":"` + (&catalog.Source{Namespace: "ns", URISep: "_"}).Expose(mcpwire.Tool, `a"b`) + `"}`,
		mcpwire.ResourcesRead: `{"uri":"ns_r:\"<\\\u2028ü"}`,
	} {
		request := `{"jsonrpc":"2.0","id":1,"method":"` + string(method) + `","params":` + params + `}`
		says := refusalOf(t, g.client.asks(request), method, -32602)
		_, rest, _ := strings.Cut(says, "call toolman_activate with ")
		args, _, _ := strings.Cut(rest, ", then try again")
		if o := reportOf(t, last(g, callFrame("2", catalog.ActivateTool, args))); !o.Success {
			t.Fatalf("%s: %s", args, o.text())
		}
		g.client.says(request)
		g.client.wants()
		if n := len(g.servers[0].hears()); n != 1 {
			t.Errorf("%s: %d requests were passed on", method, n)
		}
	}
}

// last says something and returns the last frame that comes of it.
func last(g *rig, frame string) string {
	g.t.Helper()
	g.client.says(frame)
	heard := g.client.hears()
	if len(heard) == 0 {
		g.t.Fatal("no answer")
	}
	return heard[len(heard)-1]
}

func TestAnAmbiguousURISaysHowToBeExact(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", resources: []string{"r://x"}}, offer{namespace: "b", resources: []string{"r://x"}})
	frame := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"r://x"}}`)
	if got, want := refusalOf(t, frame, mcpwire.ResourcesRead, -32602),
		"several servers have a resource r://x; use the URI with the name of its server, such as a_r://x"; got != want {
		t.Errorf("says %s, want %s", got, want)
	}
}
