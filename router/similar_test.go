package router

import (
	"fmt"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

func TestSimilar(t *testing.T) {
	g := newRig(t, setup{}, offer{
		namespace: "pjpd",
		tools:     []string{"list_projects", "list_tasks", "add_project", "Read.File", "x"},
		resources: []string{"projects://list", "projects://tasks"},
		templates: []string{"projects://by-id/{id}"},
		prompts:   []string{"summarize"},
	}, offer{namespace: "zz", tools: []string{"list_projects"}})
	for _, tt := range []struct {
		name   string
		kind   mcpwire.Kind
		wanted string
		first  []string
	}{
		{"without its namespace", mcpwire.Tool, "add_project", []string{"pjpd_add_project"}},
		{"without its namespace, of two servers", mcpwire.Tool, "list_projects", []string{"pjpd_list_projects", "zz_list_projects"}},
		{"with the name of toolman before it", mcpwire.Tool, "mcp__toolman__pjpd_add_project", []string{"pjpd_add_project"}},
		{"another case", mcpwire.Tool, "PJPD_Add_Project", []string{"pjpd_add_project"}},
		{"other separators", mcpwire.Tool, "pjpd-read file", []string{"pjpd_Read.File"}},
		{"a letter missing, the nearest first", mcpwire.Tool, "pjpd_lst_projects", []string{"pjpd_list_projects"}},
		{"two letters swapped", mcpwire.Tool, "pjpd_list_taksk", []string{"pjpd_list_tasks"}},
		{"a part", mcpwire.Tool, "tasks", []string{"pjpd_list_tasks"}},
		{"a letter too many and no namespace", mcpwire.Tool, "add_projects", []string{"pjpd_add_project"}},
		{"a short part says nothing", mcpwire.Tool, "ta", nil},
		{"one letter", mcpwire.Tool, "y", nil},
		{"something else", mcpwire.Tool, "completely_different_thing", nil},
		{"toolman's own tool", mcpwire.Tool, "toolman_activte", []string{"toolman_activate"}},
		{"toolman's own tool with its name before it", mcpwire.Tool, "mcp__toolman__toolman_activate", []string{"toolman_activate"}},
		{"toolman's own resource", mcpwire.Resource, "toolman://catalogue", []string{"toolman://catalog"}},
		{"nothing", mcpwire.Tool, "", nil},
		{"another kind", mcpwire.Tool, "summarize", nil},
		{"a prompt", mcpwire.Prompt, "summarise", []string{"pjpd_summarize"}},
		{"a bare URI", mcpwire.Resource, "projects://lists", []string{"pjpd_projects://list"}},
		{"a template for a resource", mcpwire.Resource, "pjpd_projects://by_id/{id}", []string{"pjpd_projects://by-id/{id}"}},
		{"a resource for a template", mcpwire.Template, "pjpd_projects://task", []string{"pjpd_projects://tasks"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := g.view().Catalog.Similar(tt.kind, tt.wanted, catalog.ActivateTool)
			if tt.first != nil {
				got = got[:min(len(got), len(tt.first))]
			}
			checkList(t, "similar to "+tt.wanted, got, tt.first...)
		})
	}
}

func TestSimilarIsBounded(t *testing.T) {
	var tools []string
	for i := range 20 {
		tools = append(tools, fmt.Sprintf("read_%d", i))
	}
	g := newRig(t, setup{}, offer{namespace: "ns", tools: tools, resources: []string{"a://" + strings.Repeat("x", 1<<20), "evil\n\u202ename"}})
	if got := g.view().Catalog.Similar(mcpwire.Tool, "read"); len(got) != catalog.MaxSimilar {
		t.Errorf("%d names, want %d", len(got), catalog.MaxSimilar)
	}
	g.view().Catalog.Similar(mcpwire.Resource, strings.Repeat("y", 1<<20)) // takes no time to speak of
	checkList(t, "a name that hides something", g.view().Catalog.Similar(mcpwire.Resource, "evil name"), "ns_evil name")
}

func BenchmarkSimilar(b *testing.B) {
	var tools []string
	for i := range 10_000 {
		tools = append(tools, fmt.Sprintf("read_some-File.of_project_%d", i))
	}
	g := newRig(b, setup{}, offer{namespace: "ns", tools: tools})
	for b.Loop() {
		g.view().Catalog.Similar(mcpwire.Tool, "ns_wirte_some_flie_to_porject_1")
	}
}
