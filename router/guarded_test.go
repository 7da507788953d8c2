package router

import (
	"fmt"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/session"
	"toolman/router/toolset"
	"toolman/router/upstream"
)

// guarded are all the things that decide about the tool echo of namespace ns, which may be used.
func guarded(t testing.TB) Options {
	t.Helper()
	list := policy.List{Line: 1}
	for i := range 20 {
		list.Entries = append(list.Entries, policy.Entry{Text: fmt.Sprintf("other_%d*", i), Line: i})
	}
	list.Entries = append(list.Entries, policy.Entry{Text: "e*o", Line: 30})
	rules := &policy.Rules{File: "tools.toml", Agents: map[string]policy.Agent{
		"a": {Servers: policy.List{Entries: []policy.Entry{{Text: "n*"}}}, Overrides: map[string]policy.List{"ns": list}}}}
	p, err := rules.For("a")
	if err != nil {
		t.Fatal(err)
	}
	def, err := (&mcpwire.Item{Kind: mcpwire.Tool, Raw: []byte(echoTool)}).Definition()
	if err != nil {
		t.Fatal(err)
	}
	ref := mcpwire.RefID(def)
	return Options{Policy: p, Dangers: dangerous(t, policy.Elicit, "other_*", "*_delete").Dangers, Pins: &catalog.Pins{mcpwire.Tool: {"ns_echo": ref}},
		Equipped: &toolset.Set{Name: "s", Tools: []toolset.Ref{{NamespacedName: "ns_echo", RefID: ref}}}}
}

// enableMany enables toolsets that do not have the tool.
func enableMany(s *session.Session, n int) {
	v := s.View.Load()
	for i := range n {
		v = v.Enable(&toolset.Set{Name: fmt.Sprint(i), Tools: []toolset.Ref{{NamespacedName: "ns_other"}}})
	}
	s.View.Store(v)
}

// exchange is one call of ns_echo and its answer.
func exchange(t testing.TB, s *session.Session, u *upstream.Upstream, server *outlet) func() {
	call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"hello"}}}`)
	var fromClient, fromServer reader
	var m jsonrpc.Message
	var reply []byte
	return func() {
		fromClient.deliver(t, s, call)
		if err := jsonrpc.Scan(server.frame, &m); err != nil {
			t.Fatal(err)
		}
		reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), []byte(`{"content":[]}`))
		fromServer.deliver(t, u, reply)
	}
}

// A policy, dangerous_tools, pins and toolsets have decided before a call comes: it allocates no
// more for them. What they cost in time is BenchmarkGuarded's to say.
func TestWhatDecidesAddsNothingToACall(t *testing.T) {
	allocs := func(o Options, sets int) float64 {
		s, u, client, server := joinedWith(t, o, "ns", echoTool)
		enableMany(s, sets)
		n := testing.AllocsPerRun(1000, exchange(t, s, u, server))
		if got := string(client.frame); got != `{"jsonrpc":"2.0","id":17,"result":{"content":[]}}` {
			t.Fatalf("answered %s", got)
		}
		return n
	}
	plain := allocs(Options{}, 0)
	if got := allocs(guarded(t), 20); got != plain {
		t.Errorf("%v allocations, %v without anything that decides", got, plain)
	}
}

func BenchmarkGuarded(b *testing.B) {
	for _, bench := range []struct {
		name string
		o    Options
		sets int
	}{{"nothing decides", Options{}, 0}, {"policy, pins and toolset", guarded(b), 0}, {"and 20 toolsets enabled", guarded(b), 20}} {
		b.Run(bench.name, func(b *testing.B) {
			s, u, _, server := joinedWith(b, bench.o, "ns", echoTool)
			enableMany(s, bench.sets)
			once := exchange(b, s, u, server)
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
}
