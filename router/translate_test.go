package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/upstream"
)

// envelope is the _meta of a modern client's request, without its braces.
const envelope = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`

// modernCall is a request of the modern era.
func modernCall(id, method, params, meta string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `"_meta":{` + envelope + meta + `}}}`
}

// claimed is what a modern server is told of the rig's client, with a comma behind it.
const claimed = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{},"roots":{}},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"rig","version":"1"},`

const wrappedTool = `{"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{}}}}`

// A call and its answer keep every byte but what the other era wants otherwise.
func TestACallCrossesTheEras(t *testing.T) {
	const params = `"name":"a_t","arguments":{"n":1.0, "t":"\u0041"}`
	for _, tt := range []struct {
		name                string
		client, server      bool // modern
		call, passed        string
		answer, toTheClient string
	}{
		{"legacy to legacy", false, false,
			`"params":{` + params + `,"_meta":{"progressToken":7,"x":1}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"},"_meta":{"progressToken":ID,"x":1}}`,
			`"result":{"content":[],"resultType":"mine"}`, `"result":{"content":[],"resultType":"mine"}`},
		{"modern to modern", true, true,
			`"params":{` + params + `,"_meta":{` + envelope + `,"progressToken":"p"}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"},"_meta":{` + envelope + `,"progressToken":ID}}`,
			`"result":{"resultType":"complete","content":[],"structuredContent":[1]}`, `"result":{"resultType":"complete","content":[],"structuredContent":[1]}`},
		{"legacy to modern", false, true,
			`"params":{` + params + `,"_meta":{"progressToken":7,"x":1}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"},"_meta":{` + claimed + `"progressToken":ID,"x":1}}`,
			`"result":{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{},"y":2}}`, `"result":{"content":[],"_meta":{"y":2}}`},
		{"legacy without _meta to modern", false, true,
			`"params":{` + params + `}`, `"params":{"_meta":{` + strings.TrimSuffix(claimed, ",") + `},"name":"t","arguments":{"n":1.0, "t":"\u0041"}}`,
			`"result":{"content":[],"structuredContent":[1],"resultType":"complete"}`, `"result":{"content":[],"structuredContent":{"result":[1]}}`},
		{"modern to legacy", true, false,
			`"params":{` + params + `,"_meta":{` + envelope + `,"progressToken":"p","x":1}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"},"_meta":{"progressToken":ID,"x":1}}`,
			`"result":{"content":[ ],"z":1}`, `"result":{"resultType":"complete","content":[ ],"z":1}`},
		{"modern to legacy, nothing left of _meta", true, false,
			`"params":{` + params + `,"_meta":{` + envelope + `}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"}}`,
			`"result":{}`, `"result":{"resultType":"complete"}`},
		{"a legacy server's error", true, false,
			`"params":{` + params + `,"_meta":{` + envelope + `}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"}}`,
			`"error":{"code":-32002,"message":"no"}`, `"error":{"code":-32602,"message":"no"}`},
		{"a modern server's error", false, true,
			`"params":{` + params + `}`, `"params":{"_meta":{` + strings.TrimSuffix(claimed, ",") + `},"name":"t","arguments":{"n":1.0, "t":"\u0041"}}`,
			`"error":{"code":-32602,"message":"no","data":[1.0]}`, `"error":{"code":-32602,"message":"no","data":[1.0]}`},
		{"a result and no error", true, false,
			`"params":{` + params + `,"_meta":{` + envelope + `}}`, `"params":{"name":"t","arguments":{"n":1.0, "t":"\u0041"}}`,
			`"result":{"a":1},"error":null`, `"result":{"resultType":"complete","a":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, client, server := one(t, offer{namespace: "a", tools: []string{"t"}, modern: tt.server})
			client.says(`{"jsonrpc":"2.0","id":"c","method":"tools/call",` + tt.call + `}`)
			got := server.hearsOne()
			id := idOf(t, got)
			if want := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call",` + strings.ReplaceAll(tt.passed, "ID", id) + `}`; got != want {
				t.Errorf("the server got\n%s, want\n%s", got, want)
			}
			server.says(`{"jsonrpc":"2.0","id":` + id + `,` + tt.answer + `}`)
			client.wants(`{"jsonrpc":"2.0","id":"c",` + tt.toTheClient + `}`)
		})
	}
}

func TestListsHaveTheFormOfTheClientsEra(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}},
		offer{namespace: "old", tools: []string{`{"name":"t","execution":{"taskSupport":"optional"},"x":1}`, `{"name":"task","execution":{"taskSupport":"required"}}`}},
		offer{namespace: "new", tools: []string{wrappedTool}, modern: true})
	legacy := g.client.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, want := range []string{
		`{"name":"old_t","execution":{"taskSupport":"optional"},"x":1}`, `"old_task"`,
		`{"name":"new_list","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/properties/result/$defs/x"},"$defs":{"x":{}}}},"required":["result"]}}`,
	} {
		if !strings.Contains(legacy, want) {
			t.Errorf("a legacy client does not get %s in\n%s", want, legacy)
		}
	}
	if strings.Contains(legacy, "resultType") {
		t.Errorf("a legacy client gets %s", legacy)
	}
	modern := g.client.asks(modernCall("2", "tools/list", "", ""))
	for _, want := range []string{`"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`, `{"name":"old_t","x":1}`, strings.Replace(wrappedTool, `"list"`, `"new_list"`, 1)} {
		if !strings.Contains(modern, want) {
			t.Errorf("a modern client does not get %s in\n%s", want, modern)
		}
	}
	if strings.Contains(modern, `{"name":"old_task"`) {
		t.Error("a modern client is offered a tool that it cannot call")
	}
	g.client.says(callFrame("3", "new_list", "{}"))
	got := g.servers[1].hearsOne()
	g.servers[1].says(`{"jsonrpc":"2.0","id":` + idOf(t, got) + `,"result":{"content":[],"structuredContent":{"a":1}}}`)
	g.client.wants(`{"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":{"result":{"a":1}}}}`)
}

func TestModernRequests(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, silent: true}, various())
	for _, tt := range []struct {
		name, frame, want string
	}{
		{"discover needs no server", modernCall(`"d"`, "server/discover", "", ""), `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"]`},
		{"a removed method", modernCall("1", "ping", "", ""), `"error":{"code":-32601,`},
		{"initialize with an envelope", modernCall("1", "initialize", "", ""), `"error":{"code":-32601,`},
		{"no such method", modernCall("1", "no/such", "", ""), `"error":{"code":-32601,`},
		{"another revision", strings.Replace(modernCall("1", "tools/list", "", ""), mcpwire.Newest, "1900-01-01", 1),
			`"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}`},
		{"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `"error":{"code":-32602,`},
		{"a log level that is none", modernCall("1", "tools/list", "", `,"io.modelcontextprotocol/logLevel":"loud"`), `"error":{"code":-32602,`},
		{"no filter", modernCall("1", "subscriptions/listen", "", ""), `"error":{"code":-32602,`},
		{"the catalog", modernCall("1", "resources/read", `"uri":"toolman://catalog"`, ""), `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[`},
		{"an unknown prompt", modernCall("1", "prompts/get", `"name":"no"`, ""), `"error":{"code":-32602,`},
		{"an unknown tool", modernCall("1", "tools/call", `"name":"no"`, ""), `"error":{"code":-32602,"message":"unknown tool no`},
		{"an activation of nothing", modernCall("1", "tools/call", `"name":"toolman_activate","arguments":{}`, ""), `"result":{"resultType":"complete",`},
	} {
		if got := g.client.asks(tt.frame); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	select {
	case <-g.r.env.FirstClient.Done:
	default:
		t.Error("the servers are not spoken to")
	}
	// The same client may still begin a session.
	g.client.initialize("")
	if got := g.client.hearsOne(); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("initialize is answered %s", got)
	}
}

func TestDiscoverDoesNotDecideWhatTheServersAreTold(t *testing.T) {
	g := newRig(t, setup{silent: true}, various())
	g.client.asks(modernCall("1", "server/discover", "", ""))
	select {
	case <-g.r.env.FirstClient.Done:
		t.Error("the handshakes begin for a client that only looks around")
	default:
	}
}

// What crosses costs little more than what does not: a legacy client's call 6 allocations, of which
// it needs one for being made again.
func TestAllocationsOfACallThatCrosses(t *testing.T) {
	for _, tt := range []struct {
		client, server bool
		level          string
		most           float64
	}{{false, false, "", 0}, {true, true, "", 0}, {false, true, "", 6}, {true, false, "", 2}, {true, false, "info", 2}} {
		t.Run(fmt.Sprintf("%s to %s %s", client.EraOf(tt.client), client.EraOf(tt.server), tt.level), func(t *testing.T) {
			exchange := crossing(t, tt.client, tt.server, tt.level, 1000)
			if allocs := testing.AllocsPerRun(1000, exchange); allocs > tt.most {
				t.Errorf("%v allocations, want %v at most", allocs, tt.most)
			}
		})
	}
}

func BenchmarkCrossing(bench *testing.B) {
	for _, size := range []int{1000, 1_000_000} {
		for _, from := range []bool{false, true} {
			for _, to := range []bool{false, true} {
				bench.Run(fmt.Sprintf("%s to %s/%d", client.EraOf(from), client.EraOf(to), size), func(bench *testing.B) {
					exchange := crossing(bench, from, to, "", size)
					bench.ReportAllocs()
					for bench.Loop() {
						exchange()
					}
				})
			}
		}
	}
}

// crossing returns a function that makes a call with a result of size bytes. A modern client's may
// want log messages of a level.
func crossing(t testing.TB, client, server bool, level string, size int) func() {
	s, u, c, to := joined(t, "ns", echoTool)
	u.Source.Modern = server
	s.Peer.Meta = (&mcpwire.Hello{}).Claim("")
	text := strings.Repeat("x", size)
	meta, kind := "", ""
	if client {
		meta = `,"_meta":{` + envelope
		if level != "" { // which the server has logged from before
			meta += `,"io.modelcontextprotocol/logLevel":"` + level + `"`
			upstream.Simulate(u).Logs(level)
			upstream.Simulate(u).Result().Capabilities = map[string]json.RawMessage{"logging": []byte("{}")}
		}
		meta += "}"
	}
	if server {
		kind = `"resultType":"complete",`
	}
	call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"a"}` + meta + `}}`)
	result := []byte(`{` + kind + `"content":[{"type":"text","text":"` + text + `"}]}`)
	var fromClient, fromServer reader
	var m jsonrpc.Message
	var reply []byte
	return func() {
		fromClient.deliver(t, s, call)
		if err := jsonrpc.Scan(to.frame, &m); err != nil {
			t.Fatal(err)
		}
		reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), result)
		fromServer.deliver(t, u, reply)
		if client != bytes.Contains(c.frame[:64], []byte("resultType")) {
			t.Fatalf("got %.100s", c.frame)
		}
	}
}
