package router

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/session"
	"toolman/router/upstream"
)

// outlet is a Sender that keeps the last frame.
type outlet struct{ frame []byte }

func (o *outlet) Queue(frame []byte, edits []jsonrpc.Edit) error {
	o.frame = jsonrpc.AppendSplice(o.frame[:0], frame, edits...)
	return nil
}
func (o *outlet) Flush() {}

// joined returns a session and an upstream that offers the tools, with outlets in
// the place of pipes.
func joined(t testing.TB, namespace string, tools ...string) (s *session.Session, u *upstream.Upstream, client, server *outlet) {
	t.Helper()
	return joinedWith(t, Options{}, namespace, tools...)
}

func joinedWith(t testing.TB, o Options, namespace string, tools ...string) (s *session.Session, u *upstream.Upstream, client, server *outlet) {
	t.Helper()
	globs, err := catalog.CompileGlobs([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	o.Servers, o.Active, o.URISeparator = []upstream.Server{{Namespace: namespace, StartTimeout: time.Second}}, globs, "_"
	r := New(o, nil, zap.NewNop())
	u = r.all()[0]
	client, server = &outlet{}, &outlet{}
	upstream.Simulate(u).Connect(server)
	page, err := mcpwire.ParsePage(mcpwire.Tool, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	upstream.Simulate(u).List(mcpwire.Tool, page.Items)
	r.startup.waiting.Store(2)
	upstream.Simulate(u).Ready(0, mcpwire.InitializeResult{})
	s = r.NewSession(client, soleClient)
	s.Peer.Hello, s.Peer.Ready = &mcpwire.Hello{Version: mcpwire.Latest}, true
	r.upstreamSettled()
	return s, u, client, server
}

// A reader reads frames as a peer does.
type reader struct {
	scan jsonrpc.Scanner
	m    jsonrpc.Message
	b    peer.Outgoing
}

func (r *reader) deliver(t testing.TB, h peer.Handler, frame []byte) {
	if err := r.scan.Scan(frame, &r.m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	h.Message(&r.m, &r.b)
	r.b.Flush()
}

const echoTool = `{"name":"echo","inputSchema":{"type":"object"}}`

func BenchmarkForward(bench *testing.B) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		bench.Run(fmt.Sprint(size), func(bench *testing.B) {
			s, u, client, server := joined(bench, "ns", echoTool)
			text := strings.Repeat("x", size)
			call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"` + text + `"},"_meta":{"progressToken":3}}}`)
			var fromClient, fromServer reader
			var m jsonrpc.Message
			var reply []byte
			bench.SetBytes(int64(2 * len(call)))
			bench.ReportAllocs()
			for bench.Loop() {
				fromClient.deliver(bench, s, call)
				jsonrpc.Scan(server.frame, &m)
				reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), []byte(`{"content":[{"type":"text","text":"ok"}]}`))
				fromServer.deliver(bench, u, reply)
			}
			if want := `{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"ok"}]}}`; string(client.frame) != want {
				bench.Fatalf("got %s, want %s", client.frame, want)
			}
		})
	}
}

// Without a namespace there is nothing to replace, not even another spelling of
// the same text.
func TestANameThatStaysIsNotWrittenAnew(t *testing.T) {
	s, _, _, server := joined(t, "", echoTool)
	var fromClient reader
	fromClient.deliver(t, s, []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"\u0065cho","arguments":{}}}`))
	if !strings.Contains(string(server.frame), `{"name":"\u0065cho","arguments":{}}`) {
		t.Errorf("the server got %s", server.frame)
	}
}
