package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/policy"
)

// twoNamespaces is a rig with two servers that have tools, resources and templates.
func twoNamespaces(t *testing.T, o Options) *rig {
	return newRig(t, setup{Options: o},
		offer{namespace: "git", tools: []string{"status", "commit", "log"}, resources: []string{"repo://head", "repo://tags"}, templates: []string{"repo://{path}"}},
		offer{namespace: "docker", tools: []string{"ps"}, resources: []string{"image://all"}})
}

// switchedOn are the names of active tools, resources and templates.
func (g *rig) switchedOn() (names []string) {
	for _, k := range []mcpwire.Kind{mcpwire.Tool, mcpwire.Resource, mcpwire.Template} {
		names = append(names, namesOf(g.view().ActiveEntries(k))...)
	}
	return names
}

func TestGlobsAndServersAreSwitched(t *testing.T) {
	git := []string{"git_status", "git_commit", "git_log"}
	repo := []string{"git_repo://head", "git_repo://tags", "git_repo://{path}"}
	for _, tt := range []struct {
		name   string
		before []string // tools and resources
		a      activation
		want   []string
	}{
		{"a glob of tools", nil, activation{toolsOn: []string{"git_*"}}, git},
		{"a server's tools", nil, activation{toolsOn: []string{"server:git"}}, git},
		{"a server's resources and templates", nil, activation{resourcesOn: []string{"server:git"}}, repo},
		{"a glob of resources", nil, activation{resourcesOn: []string{"git_repo://t*"}}, []string{"git_repo://tags"}},
		{"a template by its name is no glob", nil, activation{resourcesOn: []string{"git_repo://{path}"}}, []string{"git_repo://{path}"}},
		{"everything", nil, activation{toolsOn: []string{"*"}, resourcesOn: []string{"*"}},
			slices.Concat(git, []string{"docker_ps"}, repo[:2], []string{"docker_image://all"}, repo[2:])},
		{"off", append(slices.Clone(git), "docker_ps"), activation{toolsOff: []string{"git_[cs]*", "server:docker"}}, []string{"git_log"}},
		{"resources off", repo, activation{resourcesOff: []string{"server:git"}}, nil},
		{"a name beats a glob of the other list", nil, activation{toolsOn: []string{"git_*"}, toolsOff: []string{"git_commit"}}, []string{"git_status", "git_log"}},
		{"and a glob that is off", git, activation{toolsOn: []string{"git_log"}, toolsOff: []string{"server:git"}}, []string{"git_log"}},
		{"two globs with the same item, and a name", git, activation{toolsOn: []string{"*_log", "git_log"}, toolsOff: []string{"git_l*"}}, git},
		{"a glob and a name of one list", nil, activation{toolsOn: []string{"git_s*", "git_status", "git_s*"}}, []string{"git_status"}},
		{"alternatives", nil, activation{toolsOn: []string{"{git_log,docker_*}"}}, []string{"git_log", "docker_ps"}},
	} {
		g := twoNamespaces(t, Options{})
		if tt.before != nil {
			if _, o := g.activate(activation{toolsOn: slices.DeleteFunc(slices.Clone(tt.before), isURI), resourcesOn: slices.DeleteFunc(slices.Clone(tt.before), isTool)}); !o.Success {
				t.Fatal(o.text())
			}
		}
		_, o := g.activate(tt.a)
		if !o.Success {
			t.Errorf("%s: says %s", tt.name, o.text())
		}
		checkList(t, tt.name, g.switchedOn(), tt.want...)
	}
}

func isURI(name string) bool  { return strings.Contains(name, "://") }
func isTool(name string) bool { return !isURI(name) }

func TestGlobsThatCannotBeUsed(t *testing.T) {
	g := twoNamespaces(t, Options{})
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("git_%c*", "slc"[i%3])
	}
	for _, tt := range []struct {
		a    activation
		want string
	}{
		{activation{toolsOn: []string{"gti_*"}}, "no tool matches gti_* (did you mean "},
		{activation{toolsOn: []string{"git_stats*"}}, "no tool matches git_stats* (did you mean git_status"},
		{activation{toolsOff: []string{"nix*"}}, "no tool matches nix*"},
		{activation{resourcesOn: []string{"git_s*"}}, "no resource matches git_s*"},
		{activation{toolsOn: []string{"server:gti"}}, "unknown server gti; there are server:git, server:docker"},
		{activation{resourcesOff: []string{"server:none"}}, "unknown server none"},
		{activation{toolsOn: []string{"git"}}, "unknown tool git; server:git stands for all of that server"},
		{activation{toolsOn: []string{"git_[", "git_{a"}}, "unknown tool git_[; unknown tool git_{a"},
		{activation{toolsOn: []string{"git_*"}, toolsOff: []string{"*_log"}}, "git_log is to be both on and off"},
		{activation{toolsOn: []string{"git_log", "git_s*"}, toolsOff: []string{"git_log"}}, "git_log is to be both on and off"},
		{activation{toolsOn: many}, "is one glob or server too many; a call takes 20"},
		{activation{toolsOn: []string{"git_*", "git_comit"}}, "unknown tool git_comit (did you mean git_commit"},
	} {
		before := g.view()
		if _, o := g.activate(tt.a); o.Success || g.view() != before || !strings.Contains(o.text(), tt.want) {
			t.Errorf("%+v: says %s, want %s", tt.a, o.text(), tt.want)
		}
	}
	none := newRig(t, setup{}, offer{namespace: "git", tools: []string{"log"}})
	if _, o := none.activate(activation{resourcesOn: []string{"server:git"}}); o.Success || !strings.Contains(o.text(), "server:git has no resources that this client may use") {
		t.Errorf("says %s", o.text())
	}
}

// What a client may not use is left out of a glob, and the reply has its number, not its names.
func TestGlobsLeaveOutWhatIsForbidden(t *testing.T) {
	rules := &policy.Rules{File: "tools.toml", Exposed: map[string]policy.List{"git": {Entries: []policy.Entry{{Text: "log"}}}}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	g := twoNamespaces(t, Options{Policy: p})
	_, o := g.activate(activation{toolsOn: []string{"git_*"}})
	if !o.Success || !strings.Contains(o.text(), "2 more that match git_* are not for this client") || strings.Contains(o.text(), "commit") {
		t.Errorf("says %s", o.text())
	}
	checkList(t, "active", g.switchedOn(), "git_log")
	for _, text := range []string{"docker_*", "server:docker"} {
		if _, o := g.activate(activation{toolsOn: []string{text}}); o.Success || strings.Contains(o.text(), "docker_ps") {
			t.Errorf("%s: says %s", text, o.text())
		}
	}
	g.activate(activation{toolsOff: []string{"*"}})
	checkList(t, "off", g.switchedOn())
}

// A name may stand behind its server's name, or that of a toolset, and a dot. The names that
// clients see come first.
func TestNamesWithADot(t *testing.T) {
	build := func(t *testing.T, active ...string) *rig {
		o := Options{}
		o.Toolsets = append(o.Toolsets, fixed(t, "dev", "git_status", "docker_ps"), fixed(t, "all", "*_status"), fixed(t, "git", "docker_ps"), fixed(t, "git.x", "git_log"))
		return newRig(t, setup{active: active, Options: o},
			offer{namespace: "git", tools: []string{"status", "log", "ps"}, prompts: []string{"ask"}},
			offer{namespace: "docker", tools: []string{"ps", "status", "net.ls"}},
			offer{namespace: "", tools: []string{"git.log", "plain"}},
			offer{namespace: "x", tools: []string{"docker.status", "free.form"}})
	}
	for _, active := range [][]string{{"*"}, nil} {
		g := build(t, active...)
		for name, want := range map[string]string{
			"git.status":      "git_status",
			"dev.status":      "git_status",
			"dev.git_status":  "git_status",
			"dev.ps":          "docker_ps",
			"docker.net.ls":   "docker_net.ls",
			"git.x.log":       "git_log",
			"git.log":         "git.log", // that name is a tool's
			"free.form":       "x_free.form",
			"git.ps":          "ambiguous: git.ps may be git_ps or docker_ps; use one of these names",
			"all.status":      "ambiguous: all.status may be git_status or docker_status",
			"docker.status":   "ambiguous: docker.status may be ",
			"git.stats":       "unknown",
			"dev.log":         "unknown",
			"dev.":            "unknown",
			".status":         "unknown",
			"docker.docker.x": "unknown",
		} {
			e, verdict := g.view().Find(mcpwire.Tool, []byte(name))
			got := verdict.String()
			switch {
			case verdict == catalog.Active || verdict == catalog.Inactive:
				if got = e.Entry.Name; (verdict == catalog.Active) != (active != nil) {
					t.Errorf("%s is %s", name, verdict)
				}
			case verdict == catalog.Ambiguous:
				got = "ambiguous: " + g.client.asks(callFrame("1", name, "{}"))
				if i := strings.Index(got, name+" may be"); i >= 0 {
					got = "ambiguous: " + got[i:]
				}
			}
			if got != want && !(strings.HasPrefix(want, "ambiguous") && strings.HasPrefix(got, want)) {
				t.Errorf("%s (active %q): got %s, want %s", name, active, got, want)
			}
			if active != nil || strings.HasPrefix(name, "free") {
				continue
			}
			_, o := g.activate(activation{toolsOn: []string{name}})
			if success := !strings.Contains(want, " ") && want != "unknown"; o.Success != success {
				t.Errorf("toolman_activate %s: says %s", name, o.text())
			} else if success {
				g.activate(activation{toolsOff: []string{want}})
			} else if strings.HasPrefix(want, "ambiguous") && !strings.Contains(o.text(), name+" may be ") {
				t.Errorf("toolman_activate %s: says %s", name, o.text())
			}
		}
	}
	g := build(t)
	if e, verdict := g.view().Find(mcpwire.Prompt, []byte("git.ask")); verdict != catalog.Active || e.Entry.Name != "git_ask" {
		t.Errorf("git.ask is %v", verdict)
	}
}

// A tool of another server does not get a name that belongs to one that is gone or forbidden.
func TestANameWithADotIsNotInherited(t *testing.T) {
	rules := &policy.Rules{File: "tools.toml", Exposed: map[string]policy.List{"git": {Entries: []policy.Entry{{Text: "log"}}}}, Default: policy.Flag{On: true}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Policy: p}}, offer{namespace: "git", tools: []string{"log", "status"}},
		offer{namespace: "x", tools: []string{"git.status", "git.other"}})
	if e, verdict := g.view().Find(mcpwire.Tool, []byte("git.status")); verdict != catalog.Denied {
		t.Errorf("a denied tool: git.status is %v %+v", verdict, e)
	}
	if e, verdict := g.view().Find(mcpwire.Tool, []byte("git.other")); verdict != catalog.Active || e.Entry.Name != "x_git.other" {
		t.Errorf("git.other is %v", verdict)
	}
	g.servers[0].dies()
	g.client.hears()
	if e, verdict := g.view().Find(mcpwire.Tool, []byte("git.status")); verdict != catalog.Unknown {
		t.Errorf("the tool of a server that is gone: git.status is %v %+v", verdict, e)
	}
}

// A toolset may be built from, and saved with, names with a dot.
func TestToolsetsWithDottedNames(t *testing.T) {
	withShelf(t, Options{}, func(t *testing.T, g *rig, s *shelf) {
		a := g.view().Catalog.Lookup(mcpwire.Tool, []byte("ns_a")).RefID()
		if o := g.own("build-toolset", `{"name":"dev","tools":[{"namespacedName":"ns.a"},{"namespacedName":"bc.b"},{"namespacedName":"ns:c"}]}`); !o.Success {
			t.Fatalf("got %+v", o)
		}
		if got := s.sets["dev"].Tools; len(got) != 3 || got[0].NamespacedName != "ns_a" || got[1].NamespacedName != "ns_b" || got[2].NamespacedName != "ns_c" || got[0].RefID != a {
			t.Errorf("saved %+v", got)
		}
		dotted := s.sets["dev"]
		dotted.Name, dotted.Tools = "dotted", slices.Clone(dotted.Tools[:1])
		dotted.Tools[0].NamespacedName = "ns.a"
		s.sets["dotted"] = dotted
		if o := g.own("equip-toolset", oneSet("dotted")); !o.Success || len(o.Warnings) > 0 {
			t.Errorf("got %+v", o)
		}
		checkList(t, "equipped", g.activeTools(), "ns_a")
		dotted.Tools[0].RefID = wasOther
		if o := g.own("equip-toolset", oneSet("dotted")); !strings.Contains(strings.Join(o.Warnings, ""), "SECURITY: the definition of ns.a has changed") {
			t.Errorf("got %+v", o)
		}
		if o := g.own("build-toolset", `{"name":"no","tools":[{"namespacedName":"ns.d"}]}`); o.Success || !strings.Contains(o.Message, "Tool not found: ns.d") {
			t.Errorf("got %+v", o)
		}
	})
	g := newRig(t, setup{}, offer{namespace: "a", tools: []string{"b.c"}}, offer{namespace: "a.b", tools: []string{"c"}})
	set := fixed(t, "s", "a.b.c")
	if warnings := g.view().Catalog.Expand(&set).Warnings(); len(warnings) != 1 || warnings[0] != "a.b.c may be a_b.c or a.b_c; use one of these names" {
		t.Errorf("says %q", warnings)
	}
	one := fixed(t, "s", "a.b.c", "a_b.c")
	if x := g.view().Catalog.Expand(&one); len(x.Tools) != 1 {
		t.Errorf("got %+v", x)
	}
}
