package router

import (
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
)

func TestExpose(t *testing.T) {
	long := strings.Repeat("x", 61) // with "ns_" as long as a name may be
	for _, tt := range []struct {
		name, namespace, sep string
		kind                 mcpwire.Kind
		item, want           string
	}{
		{"a tool", "pjpd", "_", mcpwire.Tool, "list_projects", "pjpd_list_projects"},
		{"a prompt", "pjpd", "+", mcpwire.Prompt, "summarize", "pjpd_summarize"},
		{"a resource", "pjpd", "_", mcpwire.Resource, "projects://list", "pjpd_projects://list"},
		{"a resource with the other separator", "pjpd", "+", mcpwire.Resource, "projects://list", "pjpd+projects://list"},
		{"a template", "pjpd", "+", mcpwire.Template, "projects://{id}", "pjpd+projects://{id}"},
		{"a tool of a server without a namespace", "", "_", mcpwire.Tool, "list", "list"},
		{"a resource of a server without a namespace", "", "_", mcpwire.Resource, "projects://list", "projects://list"},
		{"every character that clients take", "N-s.0", "_", mcpwire.Tool, "Az09_-.", "N-s.0_Az09_-."},
		{"a name as long as may be", "ns", "_", mcpwire.Tool, long, "ns_" + long},
		{"a long URI stays whole", "ns", "_", mcpwire.Resource, "a:" + long + long, "ns_a:" + long + long},
		{"a URI of any characters stays whole", "ns", "_", mcpwire.Resource, "a b/ü\n", "ns_a b/ü\n"},
		{"a name one too long", "ns", "_", mcpwire.Tool, long + "y", "ns_" + long[:52] + "_c77f8375"},
		{"characters that not all clients take", "ns", "_", mcpwire.Tool, "files/read ü", "ns_files_read___e1a41a55"},
		{"a prompt with a space", "ns", "_", mcpwire.Prompt, "a b", "ns_a_b_1291b734"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &catalog.Source{Namespace: tt.namespace, URISep: tt.sep}
			if got := n.Expose(tt.kind, tt.item); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestShortNamesAreUniqueAndPortable(t *testing.T) {
	n := &catalog.Source{Namespace: "ns", URISep: "_"}
	seen := map[string]string{}
	add := func(name string) {
		t.Helper()
		got := n.Expose(mcpwire.Tool, name)
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q are both %q", name, other, got)
		}
		seen[got] = name
		if len(got) > catalog.NameLimit || !catalog.Portable(got) {
			t.Errorf("%q became %q, which not all clients take", name, got)
		}
		if again := n.Expose(mcpwire.Tool, name); again != got {
			t.Errorf("%q became %q and then %q", name, got, again)
		}
	}
	for _, name := range []string{"a b", "a/b", "a:b", "a\u00a0b", "ä", "ö", "\x00", "\n", "*", "<&>", "日本語", strings.Repeat("é", 100)} {
		add(name)
	}
	for i := range 100 {
		add(strings.Repeat("x", 62+i))
	}
}

func TestUpstreamsHaveNamesOfTheirOwn(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a"}, offer{}, offer{namespace: "a"}, offer{}, offer{namespace: "server 2"})
	var names []string
	for _, u := range g.r.all() {
		names = append(names, u.Name)
	}
	checkList(t, "names", names, "a", "server 2", "a (server 3)", "server 4", "server 2 (server 5)")
}
