package router

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/session"
	"toolman/router/view"
)

// A deaf client hears nothing, and so keeps nothing.
type deaf struct{}

func (deaf) Queue([]byte, []jsonrpc.Edit) error { return nil }
func (deaf) Flush()                             {}

// settlesIn has a session go through what clients do first.
func settlesIn(t testing.TB, s *session.Session) {
	l := &link{t: t, handler: s}
	l.initialize("{}")
	l.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

func manyTools(n int) (tools []string) {
	for i := range n {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("x", 200)))
	}
	return tools
}

// 10,000 idle clients are to fit into 300 MB with all that HTTP takes.
func TestIdleSessionsAreSmall(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: manyTools(100)})
	const n, most = 1000, 4 << 10
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	grown := -1
	for grown < 0 { // while what other tests have left is freed
		before := heap()
		for range n {
			settlesIn(t, g.r.NewSession(deaf{}, client.Info{}))
		}
		grown = heap() - before
	}
	if each := grown / n; each > most {
		t.Errorf("an idle session takes %d bytes, want %d at most", each, most)
	}
	runtime.KeepAlive(g)
}

func TestSessionsWithTheSameRightsShareTheirViewAlsoAfterAChange(t *testing.T) {
	rules := &policy.Rules{Default: policy.Flag{On: true}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: []string{"one"}}, offer{namespace: "b", tools: []string{"two"}})
	alike := map[string][2]*session.Session{}
	for name, who := range map[string]client.Info{"nobody's": {}, "a policy's": {Policy: p}, "limited": {Only: []string{}}} {
		alike[name] = [2]*session.Session{g.r.NewSession(deaf{}, who), g.r.NewSession(deaf{}, who)}
	}
	check := func(when string) {
		t.Helper()
		seen := map[*view.View]bool{}
		for name, pair := range alike {
			v := pair[0].View.Load()
			if v != pair[1].View.Load() {
				t.Errorf("%s, %s: two views", when, name)
			}
			seen[v] = true
		}
		if len(seen) != len(alike) {
			t.Errorf("%s, there are %d views for %d rights", when, len(seen), len(alike))
		}
	}
	check("at first")
	g.servers[1].dies()
	check("after a change")
	for _, e := range alike["nobody's"][0].View.Load().Catalog.Tools() {
		if e.Source.Name == "b" {
			t.Error("what is gone is still there")
		}
	}
}

func TestSharedPagesAreMadeForManyAtOnce(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{namespace: "a", tools: manyTools(20)})
	want := g.another(client.Info{}).asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	g.servers[0].lists(mcpwire.Tool, manyTools(20)...) // the same
	g.r.update()
	var wg sync.WaitGroup
	for range 8 {
		l := g.another(client.Info{})
		wg.Go(func() {
			if got := l.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
	wg.Wait()
}

func TestViewsThatProxiesAskForAreBounded(t *testing.T) {
	g := newRig(t, setup{}, offer{namespace: "a", tools: []string{"x"}})
	for i := range 12 {
		g.r.Toolsets = append(g.r.Toolsets, fixed(t, fmt.Sprintf("s%d", i), "a_x"))
	}
	for bits := range 1 << 12 {
		only := []string{}
		for i := range 12 {
			if bits>>i&1 == 1 {
				only = append(only, fmt.Sprintf("s%d", i))
			}
		}
		g.r.startView(g.r.catalog.Load(), nil, client.Info{Only: only})
	}
	if n := len(g.r.viewCache.views); n > maxStartViews {
		t.Errorf("%d views are kept", n)
	}
}
