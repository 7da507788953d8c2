package router

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"toolman/mcpwire"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/toolset"
	"toolman/router/view"
)

// named is a client that a trusted proxy has named.
func named(id string) client.Info {
	return client.Info{Principal: budget.Principal{Issuer: budget.Tokens, Subject: "1", ClientID: id, Path: "/"}, Agent: "a"}
}

// join begins a session of a client beside that of the rig.
func (g *rig) join(who client.Info) *rig {
	beside := &rig{t: g.t, r: g.r, client: &link{t: g.t}, servers: g.servers}
	beside.s = g.r.NewSession(beside.client, who)
	beside.client.handler = beside.s
	return beside
}

// joined is join for a client of the legacy era, which has sent initialize.
func (g *rig) joined(who client.Info) *rig {
	beside := g.join(who)
	beside.client.initialize("{}")
	beside.client.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	beside.client.hears()
	return beside
}

// sharing is a rig with three tools and toolsets of them, in a bubble.
func sharing(t *testing.T, f func(g *rig)) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{MetaTools: view.MetaTools{Toolsets: true, Manage: true}, Toolsets: []toolset.Set{fixed(t, "two", "ns_b")},
			PolicyOf: func(string) *policy.Policy { return nil }}
		g := newRig(t, setup{Options: o}, offer{namespace: "ns", tools: []string{"a", "b", "c"}, resources: []string{"r://1"}})
		f(g)
		g.r.clients.Close()
	})
}

func TestSessionsOfANamedClientShareTheirActivations(t *testing.T) {
	sharing(t, func(g *rig) {
		one, two := g.joined(named("x")), g.joined(named("x"))
		one.client.says(activation{toolsOn: []string{"ns_a"}, resourcesOn: []string{"ns_r://1"}}.frame("1"))
		synctest.Wait()
		checkList(t, "the other session is told", methodsOf(t, two.client.hears()), "notifications/tools/list_changed", "notifications/resources/list_changed")
		checkList(t, "and has it", two.activeTools(), "ns_a")
		one.client.hears()
		two.client.says(callFrame("2", "enable_toolset", `{"name":"two"}`), callFrame("3", "toolman_activate", `{"tools_on":[],"tools_off":["ns_a"],"resources_on":[],"resources_off":[]}`))
		synctest.Wait()
		if heard := methodsOf(t, one.client.hears()); len(heard) == 0 || heard[0] != "notifications/tools/list_changed" {
			t.Errorf("the first session is told %q", heard)
		}
		checkList(t, "and has it", one.activeTools(), "ns_b")
		if !one.view().Sets.IsEnabled("two") {
			t.Error("the toolset is not enabled in the other session")
		}
		one.client.says(callFrame("4", "disable_toolset", `{"name":"two"}`))
		synctest.Wait()
		checkList(t, "what another session has enabled can be disabled", two.activeTools())
		one.client.says(callFrame("5", "equip-toolset", `{"name":"two"}`))
		later := g.joined(named("x"))
		checkList(t, "a later session begins with it", later.activeTools(), "ns_b")
		later.client.says(callFrame("6", "unequip-toolset", `{}`))
		synctest.Wait()
		checkList(t, "and can go back to what was before", one.activeTools())

		for what, who := range map[string]client.Info{
			"another ID": named("y"), "no ID": named(""),
			"another agent": {Principal: named("x").Principal, Agent: "b"},
			"another token": {Principal: budget.Principal{Issuer: budget.Tokens, Subject: "2", ClientID: "x"}, Agent: "a"},
			"nobody":        {Principal: budget.Principal{ClientID: "x"}, Agent: "a"},
		} {
			other := g.joined(who)
			later.client.says(on("ns_c").frame("7"))
			synctest.Wait()
			checkList(t, what, other.activeTools())
			checkList(t, what+" hears", other.client.hears())
			other.client.says(on("ns_a").frame("8"))
			synctest.Wait()
			checkList(t, what+" tells", later.activeTools(), "ns_c")
			later.client.says(activation{toolsOff: []string{"ns_c"}}.frame("9"))
		}
	})
}

func TestBothErasShareTheirActivations(t *testing.T) {
	sharing(t, func(g *rig) {
		who := named("x")
		who.Many = true
		legacy, modern := g.joined(named("x")), g.join(who)
		modern.listenFor(`"l"`, `{"toolsListChanged":true}`)
		legacy.client.says(on("ns_a").frame("1"))
		synctest.Wait()
		modern.client.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + onSub(`"l"`) + `}}`)
		modern.client.says(modernCall("2", "tools/call", `"name":"toolman_activate","arguments":{"tools_on":["ns_b"],"tools_off":[],"resources_on":[],"resources_off":[]}`, ""))
		synctest.Wait()
		checkList(t, "both", legacy.activeTools(), "ns_a", "ns_b")
	})
}

// A request is served with the activations that another session has made before it, also if nothing
// has been notified yet.
func TestARequestSeesEarlierActivationsOfOtherSessions(t *testing.T) {
	sharing(t, func(g *rig) {
		one, two := g.joined(named("x")), g.joined(named("x"))
		for i := range 20 {
			name, id := "ns_"+string("abc"[i%3]), fmt.Sprint(i)
			one.client.says(on(name).frame(id))
			two.client.says(callFrame(id, name, "{}"))
			one.client.says(activation{toolsOff: []string{name}}.frame(id))
			if n := len(g.servers[0].hears()); n != 1 {
				t.Fatalf("the server has got %d calls after activation %d", n, i)
			}
			two.client.says(callFrame(id, name, "{}"))
			if n := len(g.servers[0].hears()); n != 0 {
				t.Fatalf("the server has got %d calls after deactivation %d", n, i)
			}
		}
	})
}

func TestSessionsActivateAtTheSameTime(t *testing.T) {
	sharing(t, func(g *rig) {
		one, two := g.joined(named("x")), g.joined(named("x"))
		for range 500 {
			var begin sync.WaitGroup
			begin.Add(2)
			for s, name := range map[*rig]string{one: "ns_a", two: "ns_b"} {
				go func() {
					begin.Done()
					begin.Wait()
					s.client.says(on(name).frame("1"))
				}()
			}
			synctest.Wait()
			for _, s := range []*rig{one, two} {
				checkList(t, "it has both", namesOf(s.view().ActiveEntries(mcpwire.Tool)), "ns_a", "ns_b")
			}
			one.client.says(activation{toolsOff: []string{"ns_a", "ns_b"}}.frame("2"))
			synctest.Wait()
		}
	})
}

func TestActivationsStayWithoutSessions(t *testing.T) {
	sharing(t, func(g *rig) {
		one := g.joined(named("x"))
		one.client.says(on("ns_a").frame("1"))
		one.client.hears()
		one.s.End()
		two := g.joined(named("x"))
		checkList(t, "the next session", two.activeTools(), "ns_a")
		two.client.says(activation{toolsOff: []string{"ns_a"}}.frame("1"))
		synctest.Wait()
		checkList(t, "the ended session hears nothing", one.client.hears())
		g.servers[0].lists(mcpwire.Tool, "a", "b")
		two.client.says(on("ns_b").frame("1"))
		g.r.update()
		checkList(t, "with another catalog", g.joined(named("x")).activeTools(), "ns_b")
	})
}
