package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolman/mcpwire"
	"toolman/router/toolset"
)

// withShelf runs a test in a bubble, with a rig whose toolsets can be saved.
func withShelf(t *testing.T, o Options, test func(t *testing.T, g *rig, s *shelf)) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		o.Shelf = s
		test(t, sets(t, o), s)
	})
}

func TestToolsetsAreBuiltEquippedAndDeleted(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		o := g.own("build-toolset", `{"name":"dev","description":"d","tools":[{"namespacedName":"ns_a"},{"namespacedName":"ns_c"},{"namespacedName":"ns_a"}]}`)
		if !o.Success || len(o.notified) > 0 || o.Message != "Toolset 'dev' was saved with 2 tools" {
			t.Fatalf("got %+v", o)
		}
		a := g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_a")).RefID()
		if saved := s.sets["dev"]; len(saved.Tools) != 2 || saved.Tools[0] != (toolset.Ref{NamespacedName: "ns_a", RefID: a}) || !toolset.ValidRefID(a) ||
			saved.Version != "1.0.0" || saved.CreatedAt.IsZero() || saved.Description != "d" {
			t.Errorf("saved %+v", saved)
		}
		if o := g.own("list-saved-toolsets", `{}`); len(o.Toolsets) != 1 || !strings.Contains(o.structured,
			`"tools":[{"namespacedName":"ns_a","refId":"`+a+`","server":"ns","active":false}`) {
			t.Errorf("got %s", o.structured)
		}
		g.own("equip-toolset", oneSet("dev"))
		checkList(t, "equipped", g.activeTools(), "ns_a", "ns_c")
		if o := g.own("delete-toolset", oneSet("dev")); o.Success || !strings.Contains(o.Message, "confirm") || len(s.sets) != 1 {
			t.Errorf("got %+v", o)
		}
		if o := g.own("delete-toolset", `{"name":"dev","confirm":true}`); !o.Success || len(o.notified) != 1 || len(s.sets) != 0 {
			t.Errorf("got %+v", o)
		}
		checkList(t, "deleted", g.activeTools(), "ns_on")
		o = g.own("build-toolset", fmt.Sprintf(`{"name":"dev","tools":[{"refId":%q}],"autoEquip":true}`, a))
		if !o.Success || !strings.Contains(o.structured, `"autoEquipped":true`) {
			t.Errorf("got %+v", o)
		}
		checkList(t, "equipped at once", g.activeTools(), "ns_a")
		g.own("enable_toolset", oneSet("dev"))
		g.own("unequip-toolset", `{}`)
		g.own("enable_toolset", oneSet("dev"))
		g.own("delete-toolset", `{"name":"dev","confirm":true}`)
		checkList(t, "deleted while enabled", g.activeTools(), "ns_on")
	})
}

func TestWhatCannotBeSavedIsNot(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		s.sets = map[string]toolset.Set{"dev": {Name: "dev"}}
		for _, tt := range []struct{ args, want string }{
			{`{"name":"dev","tools":[{"namespacedName":"ns_a"}]}`, "already exists"},
			{`{"name":"ab","tools":[{"namespacedName":"ns_a"}]}`, "ab is in tools.toml (line 1)"},
			{`{"name":"a b","tools":[{"namespacedName":"ns_a"}]}`, "the name of a toolset is"},
			{`{"name":"x","tools":[]}`, "at least one tool"},
			{`{"name":"x","tools":[{"namespacedName":"ns_a"},{"namespacedName":"ns_aa"},{"refId":"sha256:00"}]}`, "nothing was saved: Tool not found: ns_aa (did you mean ns_a"},
			{`{"name":"x","tools":[{"namespacedName":"ns_a","refId":"sha256:00"}]}`, "SECURITY: the definition of ns_a has changed"},
			{`{"name":"x","tools":["ns_a"]}`, `tools must be a list of tools, each {"namespacedName": …}`},
			{`{"name":"x","tools":[{}]}`, "needs namespacedName or refId"},
			{`{"name":"x","tools":[{"name":"ns_a"}]}`, `"name" is not a parameter`},
			{`{"tools":[{"namespacedName":"ns_a"}]}`, "name is missing"},
			{`{"name":"x","tools":[{"namespacedName":"ns_a"}],"autoEquip":1}`, "autoEquip must be true or false"},
			{`{"name":"x","tools":[` + strings.Repeat(`{},`, 1001) + `{}]}`, "at most 1000 tools"},
		} {
			if o := g.own("build-toolset", tt.args); o.Success || !o.failed || !strings.Contains(o.Message, tt.want) || len(s.sets) != 1 {
				t.Errorf("%.100s: %+v", tt.args, o)
			}
		}
		s.err = errors.New("the disk is gone")
		if o := g.own("build-toolset", `{"name":"x","tools":[{"namespacedName":"ns_a"}]}`); o.Message != "the disk is gone" {
			t.Errorf("got %+v", o)
		}
		if o := g.own("list-saved-toolsets", `{}`); o.Success || o.Message != "the disk is gone" {
			t.Errorf("got %+v", o)
		}
		if o := g.own("enable_toolset", oneSet("dev")); o.Success || !strings.Contains(o.Message, "saved ones could not be read: the disk is gone") {
			t.Errorf("got %+v", o)
		}
		if o := g.own("enable_toolset", oneSet("ab")); !o.Success { // it is of tools.toml
			t.Errorf("got %+v", o)
		}
	})
}

// A saved toolset never stands for a tool whose definition is another one than it was,
// unless that is allowed.
func TestAToolThatChangesFallsOutOfSavedToolsets(t *testing.T) {
	for _, stale := range []bool{false, true} {
		withShelf(t, Options{AllowStale: stale}, func(t *testing.T, g *rig, s *shelf) {
			g.own("build-toolset", `{"name":"dev","tools":[{"namespacedName":"ns_a"},{"namespacedName":"ns_b"},{"namespacedName":"ns_c"}]}`)
			g.own("enable_toolset", oneSet("dev"))
			checkList(t, "active", g.activeTools(), "ns_on", "ns_a", "ns_b", "ns_c")
			// a says something else, b is gone, and c only puts its members in another order
			g.servers[0].lists(mcpwire.Tool, "on", `{"name":"a","description":"Now also deletes."}`, `{"_meta":{},"name":"c"}`)
			g.r.update()
			g.client.hears()
			want := []string{"ns_on", "ns_c"}
			if stale {
				want = []string{"ns_on", "ns_a", "ns_c"}
			}
			checkList(t, "after the change", g.activeTools(), want...)
			o := g.own("describe_toolset", oneSet("dev"))
			label := map[bool]string{false: "SECURITY: the definition of ns_a has changed", true: "INSECURE: the definition of ns_a has changed"}[stale]
			if len(o.Warnings) != 2 || !strings.HasPrefix(o.Warnings[0], label) || o.Warnings[1] != "1 tool is not there" {
				t.Errorf("warnings %q", o.Warnings)
			}
			if o := g.own("disable_toolset", oneSet("dev")); !o.Success {
				t.Errorf("got %+v", o)
			}
			g.activate(activation{toolsOn: []string{"ns_a"}})
			g.own("enable_toolset", oneSet("dev"))
			g.own("disable_toolset", oneSet("dev"))
			checkList(t, "disabled, also what had changed", g.activeTools(), "ns_on")
		})
	}
}

func TestWhatComesAfterAChoreWaitsForIt(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		s.sets = map[string]toolset.Set{"dev": {Name: "dev", Tools: []toolset.Ref{{NamespacedName: "ns_a"}}}}
		s.hold = make(chan struct{})
		g.client.says(callFrame("1", "equip-toolset", oneSet("dev")), callFrame("2", "ns_a", `{}`), callFrame("3", "list_tools", `{}`), callFrame("4", "ns_on", `{}`))
		synctest.Wait()
		g.quiet()
		if n := g.s.Pending(); n != 4 {
			t.Errorf("%d pending", n)
		}
		s.hold <- struct{}{}
		synctest.Wait()
		heard := g.client.hears()
		if methods := methodsOf(t, heard); !slices.Equal(methods, []string{toolsChanged, ""}) || idOf(t, heard[1]) != "1" {
			t.Errorf("heard %q", heard)
		}
		if sent := g.servers[0].hears(); len(sent) != 1 || !strings.Contains(sent[0], `"name":"a"`) {
			t.Errorf("sent %q", sent)
		}
		close(s.hold)
		synctest.Wait()
		heard = g.client.hears()
		if len(heard) != 2 || idOf(t, heard[0]) != "3" || idOf(t, heard[1]) != "4" || !strings.Contains(heard[1], "not active") {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestAChoreThatNobodyWaitsForIsNotAnswered(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		s.hold = make(chan struct{})
		before := g.view()
		g.client.says(callFrame("1", "enable_toolset", oneSet("ab")),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, callFrame("2", "ns_on", `{}`))
		synctest.Wait()
		if n := g.s.Pending(); n != 1 {
			t.Errorf("%d pending", n)
		}
		close(s.hold)
		synctest.Wait()
		g.client.wants()
		if len(g.servers[0].hears()) != 1 || g.view() != before {
			t.Error("the call that waited was not made, or the cancelled one was served")
		}
	})
}

func TestAChoreEndsWithToolman(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		s.hold = make(chan struct{})
		g.client.says(callFrame("1", "enable_toolset", oneSet("ab")), callFrame("2", "list_tools", `{}`))
		g.s.Abandon()
		heard := g.client.hears()
		if len(heard) != 2 || idOf(t, heard[0]) != "1" || !strings.Contains(heard[0], "toolman is ending") || idOf(t, heard[1]) != "2" {
			t.Errorf("heard %q", heard)
		}
		close(s.hold)
		synctest.Wait()
		g.client.wants()
	})
}
