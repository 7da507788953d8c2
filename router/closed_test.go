package router

import (
	"strings"
	"testing"
	"testing/synctest"

	"toolman/router/policy"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A server that a policy closes to the only client there is says nothing to it: neither log
// messages nor questions come through, and what is not there is not told by name. An open one is
// heard.
func TestAClosedServerSaysNothingToTheClient(t *testing.T) {
	list := policy.List{Entries: []policy.Entry{{Text: "x"}}}
	p, err := (&policy.Rules{Exposed: map[string]policy.List{"open": list, "closed": {}}}).For("")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, setup{active: []string{"*"}, capabilities: `{"elicitation":{}}`, Options: Options{Policy: p, MetaTools: view.MetaTools{Manage: true}}},
			offer{namespace: "open", tools: []string{"x"}}, offer{namespace: "closed", tools: []string{"x"}})
		for i, hears := range []bool{true, false} {
			for _, frame := range []string{
				`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"of a server"}}`,
				`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"1"}}`,
				`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"7","status":"working"}}`,
				`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"of a server","requestedSchema":{"type":"object","properties":{}}}}`,
			} {
				g.servers[i].says(frame)
				synctest.Wait()
				if heard := g.client.hears(); len(heard) > 0 != hears {
					t.Errorf("server %d says %s, and the client hears %q", i, frame, heard)
				}
			}
			if refused := g.servers[i].hears(); len(refused) > 0 == hears {
				t.Errorf("server %d is answered %q", i, refused)
			}
		}
		for _, u := range g.r.all() {
			upstream.Simulate(u).End("it ended")
		}
		o := g.own("get-active-toolset", "{}")
		if !strings.Contains(o.structured, `"unavailableServers":["open"]`) {
			t.Errorf("got %s", o.structured)
		}
	})
}
