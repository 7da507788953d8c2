package router

import (
	"strings"
	"testing"

	"toolman/router/breakpoint"
)

// debugged is a rig with a Debugger and a user who has these rules. held receives the numbers of
// held messages.
func debugged(t *testing.T, from setup, rules ...breakpoint.Rule) (g *rig, user *breakpoint.Client, held chan uint64) {
	t.Helper()
	from.Debug = breakpoint.New(breakpoint.Options{})
	from.active = []string{"*"}
	g = newRig(t, from, offer{namespace: "a", tools: []string{"t", "u"}})
	held = make(chan uint64, 100)
	user = from.Debug.Open(func(e breakpoint.Event) {
		if e.Event == "held" {
			held <- e.N
		}
	})
	for _, r := range rules {
		if _, err := user.AddRule(r); err != nil {
			t.Fatal(err)
		}
	}
	return g, user, held
}

func TestABatchWithAHeldRequest(t *testing.T) {
	hold := breakpoint.Rule{Filter: []string{"tool:a_t"}, From: breakpoint.FromClient, Action: breakpoint.Hold}
	fail := breakpoint.Rule{Filter: []string{"tool:a_u"}, From: breakpoint.FromClient, Action: breakpoint.Error}
	start := func(t *testing.T) (g *rig, user *breakpoint.Client, n uint64) {
		g, user, held := debugged(t, setup{silent: true}, hold, fail)
		g.client.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		g.client.hears()
		g.client.says(`[` + callFrame("1", "a_t", "{}") + `,` + callFrame("2", "a_u", "{}") + `,{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
		g.quiet()
		return g, user, <-held
	}
	const failed = `[{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"toolman's debugger has made this error (rule tool:a_u)"}},{"jsonrpc":"2.0","id":3,"result":{}}`
	t.Run("released", func(t *testing.T) {
		g, user, n := start(t)
		if err := user.Release(n); err != nil {
			t.Fatal(err)
		}
		g.servers[0].says(`{"jsonrpc":"2.0","id":` + idOf(t, g.servers[0].hearsOne()) + `,"result":{}}`)
		g.client.wants(failed + `,{"jsonrpc":"2.0","id":1,"result":{}}]`)
	})
	t.Run("answered", func(t *testing.T) {
		g, user, n := start(t)
		if err := user.Answer(n, []byte(`{"x":1}`), nil); err != nil {
			t.Fatal(err)
		}
		g.client.wants(failed + `,{"jsonrpc":"2.0","id":1,"result":{"x":1}}]`)
		g.quiet()
	})
	t.Run("dropped", func(t *testing.T) {
		g, user, n := start(t)
		if err := user.Drop(n); err != nil {
			t.Fatal(err)
		}
		g.client.wants(failed + `]`)
		g.quiet()
	})
	t.Run("cancelled", func(t *testing.T) {
		g, _, _ := start(t)
		g.client.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		g.client.wants(failed + `]`)
		g.quiet()
	})
}

// A held request of a session that has ended goes nowhere, and the session is forgotten.
func TestASessionWithAHeldRequestEnds(t *testing.T) {
	g, user, held := debugged(t, setup{}, breakpoint.Rule{Filter: []string{"tool:a_t"}, Action: breakpoint.Hold})
	g.client.says(callFrame("1", "a_t", "{}"))
	n := <-held
	g.s.End()
	if err := user.Release(n); err == nil || !strings.Contains(err.Error(), "not held any more") {
		t.Errorf("released: %v", err)
	}
	g.s.Entry()
	if n := len(g.r.sessions.gates.all); n != 0 {
		t.Errorf("%d sessions are kept", n)
	}
	g.client.hears()
}
