package router

import (
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

var allKinds = []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template, mcpwire.Prompt}

// alike offers an item of each kind, of the same name, that says whose it is.
func alike(namespace, owner string) offer {
	return offer{
		namespace: namespace,
		tools:     []string{`{"name":"x","title":"` + owner + `"}`},
		resources: []string{`{"uri":"x","title":"` + owner + `"}`},
		templates: []string{`{"uriTemplate":"x","title":"` + owner + `"}`},
		prompts:   []string{`{"name":"x","title":"` + owner + `"}`},
	}
}

// checkOwners checks whose item is offered, of each kind; "" is nobody's.
func checkOwners(t *testing.T, c *catalog.Catalog, owner string) {
	t.Helper()
	for _, k := range allKinds {
		got := ""
		for _, e := range c.Entries(k) {
			got += e.Item.Description
		}
		if got != owner {
			t.Errorf("%s: offered is %q, want %q", k, got, owner)
		}
		if e := c.Lookup(k, []byte("ns_x")); (e == nil) != (owner == "") || e != nil && e.Item.Description != owner {
			t.Errorf("%s: found %v, want %q", k, e, owner)
		}
	}
}

func TestCatalogOrderIsTheFilesThenTheServers(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "b", tools: []string{"2", "1"}, late: true}, offer{namespace: "a", tools: []string{"z", "y"}},
		offer{tools: []string{"c"}})
	checkList(t, "while the first is late", namesOf(g.r.Catalog().Entries(mcpwire.Tool)), "a_z", "a_y", "c")
	g.servers[0].ready()
	checkList(t, "all", namesOf(g.r.Catalog().Entries(mcpwire.Tool)), "b_2", "b_1", "a_z", "a_y", "c")
}

func TestTheFirstServerOfTheFileHasTheName(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "first"), alike("ns", "second"), alike("ns", "third"))
	checkOwners(t, g.r.Catalog(), "first")
	collisions := g.r.Catalog().Collisions
	if len(collisions) != 2*len(allKinds) {
		t.Fatalf("%d collisions, want %d", len(collisions), 2*len(allKinds))
	}
	for i, c := range collisions {
		loser := []string{"second", "third"}[i/len(allKinds)]
		if c.By != "ns" || c.Loser.Item.Description != loser || upstream.Of(c.Loser.Source) == g.r.all()[0] {
			t.Errorf("collision %d: %s loses to %q, want %s to ns", i, c.Loser.Item.Description, c.By, loser)
		}
	}
}

func TestACollisionIsLoggedOnce(t *testing.T) {
	first, second := alike("ns", "first"), alike("ns", "second")
	first.late, second.late = true, true
	g := newRig(t, setup{}, first, second)
	core, logs := observer.New(zap.WarnLevel)
	g.r.log = zap.New(core)
	g.servers[0].ready()
	g.servers[1].ready()
	g.r.update()
	g.r.update()
	if n := logs.Len(); n != len(allKinds) {
		t.Errorf("%d lines, want %d", n, len(allKinds))
	}
	if got := logs.All()[0].ContextMap(); got["tool"] != "ns_x" || got["upstream"] != "ns (server 2)" || got["by"] != "ns" {
		t.Errorf("logged %v", got)
	}
}

// Which server is ready first does not matter.
func TestAnEarlierServerTakesItsNamesWhenItIsReady(t *testing.T) {
	first := alike("ns", "first")
	first.late = true
	g := newRig(t, setup{}, first, alike("ns", "second"))
	checkOwners(t, g.r.Catalog(), "second")
	g.servers[0].ready()
	checkOwners(t, g.r.Catalog(), "first")
}

func TestADeadServersNamesAreNotInherited(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "first"), alike("ns", "second"))
	g.servers[0].dies()
	checkOwners(t, g.r.Catalog(), "")
	if n := len(g.r.Catalog().Collisions); n != len(allKinds) {
		t.Errorf("%d collisions, want those of the second server", n)
	}
	g.servers[1].lists(mcpwire.Tool, "x", "y")
	g.r.update()
	checkList(t, "tools", namesOf(g.r.Catalog().Entries(mcpwire.Tool)), "ns_y")
}

// A server that says it has no longer got something gives the name up.
func TestANameThatIsGivenUpIsInherited(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "first"), alike("ns", "second"))
	for _, k := range allKinds {
		g.servers[0].lists(k)
	}
	g.r.update()
	checkOwners(t, g.r.Catalog(), "second")
}

func TestADeadLoserTakesNothing(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "first"), alike("ns", "second"))
	g.servers[1].dies()
	checkOwners(t, g.r.Catalog(), "first")
	if c := g.r.Catalog().Collisions; len(c) > 0 {
		t.Errorf("the dead collide: %v", c)
	}
}

func TestNamesOfToolmanAreReserved(t *testing.T) {
	g := newRig(t, setup{},
		offer{tools: []string{catalog.ActivateTool, "ok"}, resources: []string{catalog.CatalogURI}, prompts: []string{catalog.ActivateTool}},
		offer{namespace: "toolman", tools: []string{"activate", "activate2"}})
	c := g.r.Catalog()
	checkList(t, "tools", namesOf(c.Entries(mcpwire.Tool)), "ok", "toolman_activate2")
	checkList(t, "resources", namesOf(c.Entries(mcpwire.Resource)))
	checkList(t, "prompts, which have nothing to do with it", namesOf(c.Entries(mcpwire.Prompt)), catalog.ActivateTool)
	if len(c.Collisions) != 3 {
		t.Errorf("%d collisions, want 3", len(c.Collisions))
	}
	for _, one := range c.Collisions {
		if one.By != "toolman" {
			t.Errorf("%s is taken by %q", one.Loser.Name, one.By)
		}
	}
}

func TestNamesThatMeetCollide(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a", tools: []string{"b_c", "x y", "d", "d"}},
		offer{namespace: "a_b", tools: []string{"c"}}, offer{tools: []string{"a_d"}},
		offer{tools: []string{(&catalog.Source{Namespace: "a", URISep: "_"}).Expose(mcpwire.Tool, "x y")}})
	checkList(t, "tools", namesOf(g.r.Catalog().Entries(mcpwire.Tool)), "a_b_c", "a_x_y_ba072e2d", "a_d")
	var losers []string
	for _, c := range g.r.Catalog().Collisions {
		losers = append(losers, c.Loser.Source.Name+" "+c.Loser.Item.Name)
	}
	checkList(t, "losers", losers, "a d", "a_b c", "server 3 a_d", "server 4 a_x_y_ba072e2d")
}

func TestKindsDoNotCollide(t *testing.T) {
	g := newRig(t, setup{}, alike("ns", "one"))
	checkOwners(t, g.r.Catalog(), "one")
	if len(g.r.Catalog().Collisions) > 0 {
		t.Error("items of different kinds collide")
	}
}

// An entry that has not changed is the same, so that nobody is told of a change.
func TestKeepKeepsWhatIsAsItWas(t *testing.T) {
	_, _, server := one(t, offer{namespace: "ns", tools: []string{"a", "b", `{"name":"c","x":1}`}})
	before := upstream.Simulate(server.u).Entries(mcpwire.Tool)
	server.lists(mcpwire.Tool, "b", `{"name":"c","x":2}`, "d", "b")
	after := upstream.Simulate(server.u).Entries(mcpwire.Tool)
	if after[0] != before[1] || after[3] != before[1] {
		t.Error("b, which has moved, is another entry")
	}
	if after[1] == before[2] || !strings.Contains(string(after[1].Item.Raw), `"x":2`) {
		t.Error("c has not changed")
	}
}
