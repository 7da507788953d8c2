package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/toolset"
)

// withOwners runs a test with two agents and the user on stdio, who is g.client.
func withOwners(t *testing.T, test func(t *testing.T, g *rig, s *shelf, alice, bob *link)) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		agent := func(name string) *link {
			return g.another(client.Info{Agent: name, Principal: budget.Principal{Issuer: budget.Tokens, Subject: "of " + name, Agent: name}})
		}
		test(t, g, s, agent("alice"), agent("bob"))
	})
}

const (
	savedA = `{"name":"dev","description":"of alice","tools":[{"namespacedName":"ns_a"}]}`
	savedB = `{"name":"dev","tools":[{"namespacedName":"ns_b"}]}`
)

// A toolset that one agent has saved does not exist for another: neither to see, nor to use, nor
// to delete, and its name is free.
func TestASavedToolsetIsItsOwners(t *testing.T) {
	withOwners(t, func(t *testing.T, g *rig, s *shelf, alice, bob *link) {
		if o := g.ownOf(alice, "build-toolset", savedA); !o.Success {
			t.Fatalf("got %+v", o)
		}
		for _, other := range []*link{bob, g.client} {
			for _, tool := range []string{"equip-toolset", "enable_toolset", "describe_toolset"} {
				known := g.ownOf(other, tool, oneSet("nix"))
				if o := g.ownOf(other, tool, oneSet("dev")); o.Success || o.Message != strings.ReplaceAll(known.Message, "nix", "dev") {
					t.Errorf("%s: %+v", tool, o)
				}
			}
			for _, tool := range []string{"list-saved-toolsets", "list_toolsets", "list_tools"} {
				if o := g.ownOf(other, tool, `{}`); strings.Contains(o.structured, "dev") || strings.Contains(o.structured, "alice") {
					t.Errorf("%s: %s", tool, o.structured)
				}
			}
			const all = `{"name":"dev","confirm":true}`
			if o := g.ownOf(other, "delete-toolset", all); o.Success || o.Message != "there is no saved toolset dev" || len(s.sets) != 1 {
				t.Errorf("got %+v with %v", o, s.sets)
			}
		}
		if o := g.ownOf(bob, "build-toolset", savedB); !o.Success {
			t.Errorf("the name is taken: %+v", o)
		}
		if o := g.ownOf(bob, "delete-toolset", `{"name":"dev","confirm":true}`); !o.Success {
			t.Errorf("got %+v", o)
		}
		set := s.sets["tokens::alice/dev"]
		if len(s.sets) != 1 || set.Owner != "tokens::alice" || set.Name != "dev" || set.Tools[0].NamespacedName != "ns_a" {
			t.Errorf("saved %+v", s.sets)
		}
		// Another token of the agent has the same toolsets.
		again := g.another(client.Info{Agent: "alice", Principal: budget.Principal{Issuer: budget.Tokens, Subject: "new", Agent: "alice"}})
		if o := g.ownOf(again, "equip-toolset", oneSet("dev")); !o.Success || !strings.Contains(o.structured, `"ns_a"`) {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(again, "delete-toolset", `{"name":"dev","confirm":true}`); !o.Success || len(s.sets) != 0 {
			t.Errorf("got %+v with %v", o, s.sets)
		}
	})
}

// Toolsets without an owner, such as all that were saved before toolsets had one, are the
// operator's: everybody uses them, and only the user on stdio deletes them.
func TestAToolsetWithoutAnOwnerIsTheOperators(t *testing.T) {
	withOwners(t, func(t *testing.T, g *rig, s *shelf, alice, bob *link) {
		s.sets = map[string]toolset.Set{"dev": {Name: "dev", Tools: []toolset.Ref{{NamespacedName: "ns_a"}}}}
		if o := g.ownOf(bob, "equip-toolset", oneSet("dev")); !o.Success {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(bob, "list-saved-toolsets", `{}`); len(o.Toolsets) != 1 {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(bob, "build-toolset", savedB); o.Success || !strings.Contains(o.Message, "toolset dev already exists, and is the operator's") {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(bob, "delete-toolset", `{"name":"dev","confirm":true}`); o.Success || !strings.Contains(o.Message, "toolset dev is the operator's") || len(s.sets) != 1 {
			t.Errorf("got %+v", o)
		}
		// One of alice's that is older than the operator's is the one that she means.
		s.sets["tokens::alice/dev"] = toolset.Set{Name: "dev", Owner: "tokens::alice", Tools: []toolset.Ref{{NamespacedName: "ns_c"}}}
		if o := g.ownOf(alice, "equip-toolset", oneSet("dev")); !o.Success || !strings.Contains(o.structured, "ns_c") {
			t.Errorf("got %+v", o)
		}
		if o := g.own("delete-toolset", `{"name":"dev","confirm":true}`); !o.Success || len(s.sets) != 1 {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(alice, "get-active-toolset", `{}`); !strings.Contains(o.structured, `"equipped":true`) {
			t.Errorf("got %+v", o)
		}
	})
}

// An agent cannot fill the file, which has room for everybody's.
func TestAnOwnerSavesSoMuchAndNoMore(t *testing.T) {
	withOwners(t, func(t *testing.T, g *rig, s *shelf, alice, bob *link) {
		s.sets = map[string]toolset.Set{}
		add := func(tools int) {
			set := toolset.Set{Name: fmt.Sprint("set-", len(s.sets)), Owner: "tokens::alice", Tools: make([]toolset.Ref, tools)}
			s.sets[set.Key()] = set
		}
		add(toolset.MaxOwnedRefs)
		if o := g.ownOf(alice, "build-toolset", savedA); o.Success || !strings.Contains(o.Message, "2001 tools, and 2000 is the limit") {
			t.Errorf("got %+v", o)
		}
		clear(s.sets)
		for range toolset.MaxOwned {
			add(1)
		}
		if o := g.ownOf(alice, "build-toolset", savedA); o.Success || !strings.Contains(o.Message, "50 toolsets") {
			t.Errorf("got %+v", o)
		}
		if o := g.ownOf(bob, "build-toolset", savedA); !o.Success {
			t.Errorf("got %+v", o)
		}
	})
}
