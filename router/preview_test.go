package router

import (
	"testing"

	"toolman/mcpwire"
	"toolman/router/view"
)

// What `toolman check` says a list costs is what it costs.
func TestPreview(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_a*"}}, offer{namespace: "ns", tools: []string{"a1", "a2", "b/1", `{"name":"b2","description":"<ü\n"}`}, resources: []string{"r:"}})
	size := func() (n int) {
		for _, tool := range g.listed(mcpwire.Tool) {
			n += len(tool) + 1
		}
		return n - 1
	}
	p := g.r.Preview()
	if p.ActiveTools != 2 || p.Bytes != size() || p.CatalogBytes != len(view.AppendCatalog(nil, g.view(), 0)) {
		t.Errorf("got %+v, want 2 tools of %d bytes", p, size())
	}
	var rest activation
	for _, e := range g.r.Catalog().Entries(mcpwire.Tool) {
		rest.toolsOn = append(rest.toolsOn, e.Name)
	}
	g.activate(rest)
	// Two more are marked with "* " now.
	if want := size() - 2*len("* "); p.AllBytes != want {
		t.Errorf("all of them: %d bytes, want %d", p.AllBytes, want)
	}
}

func TestShortenedSaysWhichNamesAreNotAsConfigured(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "ns", tools: []string{"plain", "a/b"}, resources: []string{"a/b"}})
	for k, want := range map[mcpwire.Kind][]bool{mcpwire.Tool: {false, true}, mcpwire.Resource: {false}} {
		for i, e := range g.r.Catalog().Entries(k) {
			if e.Shortened() != want[i] {
				t.Errorf("%s %s: %v", k, e.Name, e.Shortened())
			}
		}
	}
}
