package router

import (
	"encoding/json"
	"testing"

	"go.uber.org/zap"
)

// showsPages are the capabilities of a client with MCP Apps.
const showsPages = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

func TestServersLearnOfExtensions(t *testing.T) {
	const vendor = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"com.example/x":{"a":1}}}`
	g := newRig(t, setup{capabilities: vendor, silent: true}, offer{namespace: "ns", starting: true})
	g.client.initialize(vendor)
	if got := g.r.env.FirstClient.Hello.Relayed(); string(got) != vendor {
		t.Errorf("after initialize a server is told %s", got)
	}
	for declared, want := range map[string]string{
		`{}`:   `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`,
		vendor: vendor[:len(vendor)-1] + `,"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`: `{"extensions":{},"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`,
	} {
		g := newRig(t, setup{silent: true}, offer{namespace: "ns", starting: true})
		g.client.says(modern("1", "tools/list", `"x":1`, declared))
		if got := g.r.env.FirstClient.Hello.Relayed(); string(got) != want {
			t.Errorf("a modern client declares %s, a server is told %s", declared, got)
		}
	}
	r := New(Options{}, nil, zap.NewNop())
	r.HandshakeShared()
	if got := r.env.FirstClient.Hello.Relayed(); string(got) != showsPages {
		t.Errorf("a shared server is told %s", got)
	}
	var full map[string]json.RawMessage
	r = New(Options{}, nil, zap.NewNop())
	r.HandshakeFull()
	if err := json.Unmarshal(r.env.FirstClient.Hello.Capabilities, &full); err != nil || len(full) != 4 {
		t.Errorf("%v: %s", err, r.env.FirstClient.Hello.Capabilities)
	}
}
