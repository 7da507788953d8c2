package router

import (
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// A call and its answer together may allocate four times: the table of calls keeps
// the client's id, and little else is worth it.
func TestAllocationsOfACall(t *testing.T) {
	text := strings.Repeat("x", 100)
	for name, meta := range map[string]string{"without a progress token": "", "with a progress token": `,"_meta":{"progressToken":"p"}`} {
		t.Run(name, func(t *testing.T) {
			s, u, client, server := joined(t, "ns", echoTool)
			call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"` + text + `"}` + meta + `}}`)
			outcome := []byte(`{"content":[{"type":"text","text":"` + text + `"}]}`)
			var fromClient, fromServer reader
			var m jsonrpc.Message
			var reply []byte
			allocs := testing.AllocsPerRun(1000, func() {
				fromClient.deliver(t, s, call)
				if err := jsonrpc.Scan(server.frame, &m); err != nil {
					t.Fatal(err)
				}
				reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), outcome)
				fromServer.deliver(t, u, reply)
			})
			if allocs > 4 {
				t.Errorf("%v allocations, want 4 at most", allocs)
			}
			if want := `{"jsonrpc":"2.0","id":17,"result":` + string(outcome) + `}`; string(client.frame) != want {
				t.Errorf("got %s, want %s", client.frame, want)
			}
			if n := u.Calls.Len(); n > 0 {
				t.Errorf("%d calls are left", n)
			}
		})
	}
}
