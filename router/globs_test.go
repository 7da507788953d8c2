package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		match   []string
		not     []string
	}{
		{"pjpd*", []string{"pjpd_list", "pjpd_projects://list", "pjpd", "pjpd_a/b:c\nd"}, []string{"xpjpd_list", "PJPD_list", ""}},
		{"*", []string{"", "a", "a/b", "ü"}, nil},
		{"*_list", []string{"a_list", "a_b_list", "_list"}, []string{"a_lists"}},
		{"a_?", []string{"a_b", "a_ü", "a_/"}, []string{"a_", "a_bc"}},
		{"a_[bc]*", []string{"a_b", "a_c1"}, []string{"a_d"}},
		{"a_[!bc]", []string{"a_d"}, []string{"a_b"}},
		{"{a,b}_list", []string{"a_list", "b_list"}, []string{"c_list", "{a,b}_list"}},
		{"exact", []string{"exact"}, []string{"exact1", "Exact"}},
		{`a\*`, []string{"a*"}, []string{"ab"}},
		{"", []string{""}, []string{"a"}},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			globs, err := catalog.CompileGlobs([]string{"never-this", tt.pattern})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.match {
				if globs.First(name) == nil {
					t.Errorf("does not match %q", name)
				}
			}
			for _, name := range tt.not {
				if globs.First(name) != nil {
					t.Errorf("matches %q", name)
				}
			}
		})
	}
	if (catalog.Globs{}).First("a") != nil {
		t.Error("no pattern matches")
	}
	for _, bad := range []string{"[a", "{a", "a_[b"} {
		if _, err := catalog.CompileGlobs([]string{"*", bad}); err == nil {
			t.Errorf("%s compiles", bad)
		}
	}
}

// Patterns see namespace and name as the configuration has them, also where
// clients are shown another name; the rest of an item is not their business.
func TestWhatIsActiveAtStart(t *testing.T) {
	long := strings.Repeat("x", 70)
	g := newRig(t, setup{active: []string{"fs_files/*", "fs_res*", "*" + long, "tool_only", "fs_tpl{?,??}"}}, offer{
		namespace: "fs",
		tools:     []string{"files/read", "other", long, `{"name":"title","title":"fs_res"}`},
		resources: []string{"res://a", "files://a", `{"uri":"x://y","name":"fs_res"}`},
		templates: []string{"res://{a}", "other://{a}"},
		prompts:   []string{"p"},
	})
	v := g.view()
	checkList(t, "tools", namesOf(v.ActiveEntries(mcpwire.Tool)), "fs_files_read_555020f0", (&catalog.Source{Namespace: "fs", URISep: "_"}).Expose(mcpwire.Tool, long))
	checkList(t, "resources", namesOf(v.ActiveEntries(mcpwire.Resource)), "fs_res://a")
	checkList(t, "templates", namesOf(v.ActiveEntries(mcpwire.Template)), "fs_res://{a}")
	checkList(t, "prompts, which are always active", namesOf(v.ActiveEntries(mcpwire.Prompt)), "fs_p")
}

func TestWhatIsActiveByANameWithADot(t *testing.T) {
	g := newRig(t, setup{active: []string{"fs.read", "fs.wr*", "x"}}, offer{namespace: "fs", tools: []string{"read", "write"}, resources: []string{"read"}})
	checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "fs_read")
	checkList(t, "resources", namesOf(g.view().ActiveEntries(mcpwire.Resource)))
}
