package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/policy"
)

// policed is what the servers of a rig with policies offer. Some names are several
// servers'.
func policed() []offer {
	return []offer{
		{namespace: "a", tools: []string{"get", "same", `{"name":"put","annotations":{"readOnlyHint":false}}`, `{"name":"look","annotations":{"readOnlyHint":true}}`},
			resources: []string{"a://1", "a://2", "x://same"}, templates: []string{"at://{id}", "bt://{id}"}, prompts: []string{"ask", "tell"}},
		{namespace: "b", tools: []string{`{"name":"same","annotations":{"readOnlyHint":true}}`, "only"}, resources: []string{"x://same", "b://1", "bt://1"},
			templates: []string{"bt://{id}"}, prompts: []string{"ask"}},
		{tools: []string{"bare", "odd one"}, resources: []string{"c://1"}, templates: []string{"ct://{+path}"}, prompts: []string{"say"}},
	}
}

// someRules are random rules about those servers.
func someRules(rng *rand.Rand) *policy.Rules {
	line := 0
	list := func(from ...string) policy.List {
		line += 10
		l := policy.List{Line: line}
		for _, text := range from {
			if rng.IntN(3) == 0 {
				l.Entries = append(l.Entries, policy.Entry{Text: text, Line: line + 1})
			}
		}
		return l
	}
	lists := func() map[string]policy.List {
		all := map[string]policy.List{}
		for _, server := range []string{"a", "b", "c"} {
			if rng.IntN(2) == 0 {
				all[server] = list("get", "*same", "*_look", "a:put", "mcp__a__ask", "?://*", "at://{id}", "bt*", "ask", "bare", "c:*", "b_*")
			}
		}
		return all
	}
	r := &policy.Rules{File: "tools.toml", Exposed: lists(), Default: policy.Flag{On: rng.IntN(2) == 0, Line: 5}, Agents: map[string]policy.Agent{}}
	for _, agent := range []string{"x", "y"} {
		r.Agents[agent] = policy.Agent{Servers: list("*", "a", "b", "c", "a"), ReadOnly: policy.Flag{On: rng.IntN(4) == 0, Line: 7}, Overrides: lists()}
	}
	return r
}

// For every agent and item, whatever road is taken: what the policy denies is not
// there and cannot be had, and the reason is the same everywhere; what it allows is
// and can.
func TestAllRoadsAgree(t *testing.T) {
	for seed := range uint64(20) {
		rules := someRules(rand.New(rand.NewPCG(seed, 0)))
		for _, agent := range []string{"", "x", "y"} {
			p, err := rules.For(agent)
			if err != nil {
				t.Fatal(err)
			}
			g := newRig(t, setup{active: []string{"*"}, Options: Options{Policy: p, Mode: ModeMutate}}, policed()...)
			g.named("c", 2)
			r := &roads{t: t, g: g, what: fmt.Sprintf("seed %d, agent %q", seed, agent)}
			r.lists()
			for _, entries := range g.r.catalog.Load().entries {
				for _, e := range entries {
					r.check(e, g.asked(p, e))
				}
			}
			if t.Failed() {
				t.Fatalf("the rules were %+v", rules)
			}
		}
	}
}

// named gives a server the name that policies use, and shows the client what it has.
func (g *rig) named(name string, server int) {
	g.r.upstreams[server].Server.Name = name
	g.r.update()
	g.client.hears()
}

// asked is the policy's own verdict.
func (g *rig) asked(p *policy.Policy, e *Entry) policy.Verdict {
	var items []policy.Item
	var at int
	for _, entries := range g.r.catalog.Load().entries {
		for _, other := range entries {
			if other.Upstream != e.Upstream {
				continue
			}
			if other == e {
				at = len(items)
			}
			effects := other.Item.Kind == mcpwire.Tool && !strings.Contains(string(other.Item.Raw), `"readOnlyHint":true`)
			items = append(items, policy.Item{Name: other.Item.Name, Shown: other.Name, Effects: effects})
		}
	}
	return p.Judge(e.Upstream.calledIn(), items)[at]
}

// Roads are all the ways to an item.
type roads struct {
	t       *testing.T
	g       *rig
	what    string
	listed  map[string]bool // kind and name
	catalog []string
}

func (r *roads) lists() {
	r.listed = map[string]bool{}
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		key := [mcpwire.Kinds]string{"name", "uri", "uriTemplate", "name"}[k]
		for _, name := range r.g.names(k.Member(), key, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, k.ListMethod())) {
			r.listed[k.String()+" "+name] = true
		}
	}
	for line := range strings.Lines(catalogText(r.g.view())) {
		r.catalog = append(r.catalog, strings.TrimSuffix(strings.TrimPrefix(line, "* "), "\n"))
	}
}

// check takes every road to an entry.
func (r *roads) check(e *Entry, v policy.Verdict) {
	r.t.Helper()
	k := e.Item.Kind
	if got := r.listed[k.String()+" "+e.Name]; got != v.Allowed {
		r.t.Errorf("%s: %s %s is listed: %t; %s", r.what, k, e.Name, got, v)
	}
	if k != mcpwire.Prompt && slices.Contains(r.catalog, e.Name) != v.Allowed {
		r.t.Errorf("%s: %s %s is in the catalog: %t; %s", r.what, k, e.Name, !v.Allowed, v)
	}
	why := ""
	if !v.Allowed {
		why = fmt.Sprintf("%s %s is denied by policy: %s. Go on without it; whoever keeps that file can allow it there", k, e.Name, v)
	}
	r.explained(e, v, why)
	server := e.Upstream.calledIn()
	names := []string{e.Name, server + ":" + e.Item.Name, "mcp__" + server + "__" + e.Item.Name}
	if r.owners(e) == 1 {
		names = append(names, e.Item.Name)
	}
	for _, name := range names {
		for what, frame := range requests(k, name) {
			r.try(what+" "+name, frame, e, why)
		}
	}
	if k == mcpwire.Template && e.Name != "a_bt://{id}" && e.Name != "b_bt://{id}" {
		r.try("what it makes", requests(mcpwire.Resource, strings.NewReplacer("{id}", "7", "{+path}", "7").Replace(e.Name))["read"], e, why)
	}
	if k != mcpwire.Prompt {
		r.activated(e, why)
	}
}

// owners counts who has a name, or makes a URI.
func (r *roads) owners(e *Entry) (n int) {
	for _, entries := range r.g.r.catalog.Load().entries {
		for _, other := range entries {
			if other.Item.Name == e.Item.Name || e.Item.Kind.IsURI() && other.Item.Kind == mcpwire.Template && other.makes(e.Item.Name) {
				n++
			}
		}
	}
	return n
}

// requests are those that can be made about an item.
func requests(k mcpwire.Kind, name string) map[string]string {
	frame := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, fmt.Sprintf(params, name))
	}
	switch k {
	case mcpwire.Tool:
		return map[string]string{"call": frame("tools/call", `"name":%q`), "toolman_call": frame("tools/call", `"name":"toolman_call","arguments":{"name":%q}`)}
	case mcpwire.Prompt:
		return map[string]string{"get": frame("prompts/get", `"name":%q`), "complete": frame("completion/complete", `"ref":{"type":"ref/prompt","name":%q},"argument":{}`)}
	}
	return map[string]string{"read": frame("resources/read", `"uri":%q`), "subscribe": frame("resources/subscribe", `"uri":%q`),
		"complete": frame("completion/complete", `"ref":{"type":"ref/resource","uri":%q},"argument":{}`)}
}

// try makes a request that leads to an entry, or is refused for a reason.
func (r *roads) try(what, frame string, e *Entry, why string) {
	r.t.Helper()
	r.g.client.says(frame)
	answers := r.g.client.hears()
	for i, l := range r.g.servers {
		heard := l.hears()
		if want := why == "" && l.u == e.Upstream; (len(heard) == 1) != want || want && !strings.Contains(heard[0], fmt.Sprintf("%q", e.Item.Name)) && what != "what it makes" {
			r.t.Errorf("%s: %s: server %d heard %q; denied: %q", r.what, what, i, heard, why)
		}
	}
	if why != "" && (len(answers) != 1 || !strings.Contains(answers[0], jsonText(why))) {
		r.t.Errorf("%s: %s: answered %q, want %s", r.what, what, answers, why)
	}
}

// jsonText is a text as it stands in a string of JSON.
func jsonText(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

func (r *roads) activated(e *Entry, why string) {
	r.t.Helper()
	a := activation{resourcesOn: []string{e.Name}}
	if e.Item.Kind == mcpwire.Tool {
		a = activation{toolsOn: []string{e.Name}}
	}
	r.g.client.says(a.frame("1"))
	o := reportOf(r.t, r.g.client.hearsOne())
	if o.Success != (why == "") || why != "" && !strings.Contains(o.text(), why) {
		r.t.Errorf("%s: activating %s says %s, want %s", r.what, e.Name, o.text(), why)
	}
}

func (r *roads) explained(e *Entry, v policy.Verdict, why string) {
	r.t.Helper()
	for _, x := range r.g.r.Explain(e.Name) {
		if x.Kind == e.Item.Kind && x.Name == e.Name {
			want := Explanation{Kind: x.Kind, Name: e.Name, Server: e.Upstream.Name, Visible: v.Allowed, Active: v.Allowed, Callable: v.Allowed, Rule: v.String(), Error: why}
			if x != want {
				r.t.Errorf("%s: explained as %+v, want %+v", r.what, x, want)
			}
			return
		}
	}
	r.t.Errorf("%s: %s is not explained", r.what, e.Name)
}

// exposes is a rig whose policy is these lists for every client.
func exposes(t *testing.T, lists map[string][]string, offers ...offer) *rig {
	t.Helper()
	r := &policy.Rules{File: "f", Exposed: map[string]policy.List{}}
	for server, texts := range lists {
		l := policy.List{Line: 1}
		for _, text := range texts {
			l.Entries = append(l.Entries, policy.Entry{Text: text, Line: 2})
		}
		r.Exposed[server] = l
	}
	p, err := r.For("")
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, setup{active: []string{"*"}, Options: Options{Policy: p}}, offers...)
}

func TestADeniedResourceIsNotHadByATemplate(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"r://{id}"}}, offer{namespace: "ns", resources: []string{"r://1"}, templates: []string{"r://{id}"}})
	for uri, want := range map[string]Verdict{"ns_r://1": Denied, "r://1": Denied, "ns:r://1": Denied, "ns_r://2": Active, "r://2": Active, "ns_r://{id}": Active} {
		if _, got := g.view().findURI([]byte(uri)); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

func TestWhatADeniedTemplateMakesIsDenied(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"other"}}, offer{namespace: "ns", templates: []string{"r://{id}"}})
	for uri, want := range map[string]Verdict{"ns_r://1": Denied, "r://1": Denied, "ns_r://{id}": Denied, "r://{id}": Denied, "ns_q://1": Unknown} {
		if _, got := g.view().findURI([]byte(uri)); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

func TestNobodyListensToWhatIsDenied(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"r://1"}}, offer{namespace: "ns", resources: []string{"r://1", "r://2"}})
	g.servers[0].subscribable()
	g.listenFor(`"l"`, `{"resourceSubscriptions":["ns_r://1","ns_r://2","r://2"]}`, `{"resourceSubscriptions":["ns_r://1"]}`)
}

func TestOneServersDeniedNameIsAnothersToUse(t *testing.T) {
	g := exposes(t, map[string][]string{"a": {}, "b": {"same", "x://same"}}, policed()[:2]...)
	for k, name := range map[mcpwire.Kind]string{mcpwire.Tool: "same", mcpwire.Resource: "x://same"} {
		if got, verdict := g.view().findAny(k, name); verdict != Active || got.upstream.Name != "b" {
			t.Errorf("%s leads to %v, %s", name, got.upstream, verdict)
		}
	}
}

// The name of a denied item stays taken, as one of a server that is gone does.
func TestADeniedWinnersNameIsNotInherited(t *testing.T) {
	g := exposes(t, map[string][]string{"first": {}, "second": {"*"}}, offer{namespace: "ns", tools: []string{"x"}}, offer{namespace: "ns", tools: []string{"x"}})
	g.named("first", 0)
	g.named("second", 1)
	if got, verdict := g.view().find(mcpwire.Tool, []byte("ns_x")); verdict != Denied || got.upstream != g.r.upstreams[0] {
		t.Errorf("leads to %v, %s", got.upstream, verdict)
	}
}

func TestDeniedItemsAreNotSuggested(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"read"}}, offer{namespace: "ns", tools: []string{"read", "reap"}})
	if got := g.view().similar(mcpwire.Tool, "ns_reax"); !slices.Equal(got, []string{"ns_read"}) {
		t.Errorf("suggests %q", got)
	}
}

// What a server changes is judged anew, and a client hears only of what it may have.
func TestChangedListsAreJudgedAnew(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"a*"}}, offer{namespace: "ns", tools: []string{"a1", "b1"}})
	g.servers[0].lists(mcpwire.Tool, "a1", "b1", "b2")
	g.r.update()
	checkList(t, "told of what it may not have", g.client.hears())
	g.servers[0].lists(mcpwire.Tool, "a1", "a2", "b2")
	g.r.update()
	checkList(t, "told", methodsOf(t, g.client.hears()), toolsChanged)
	checkList(t, "active", namesOf(g.view().active(mcpwire.Tool)), "ns_a1", "ns_a2")
}

func TestReadOnlyFollowsWhatAServerSays(t *testing.T) {
	p, err := (&policy.Rules{Default: policy.Flag{On: true}, Agents: map[string]policy.Agent{
		"x": {Servers: policy.List{Entries: []policy.Entry{{Text: "*"}}}, ReadOnly: policy.Flag{On: true}}}}).For("x")
	if err != nil {
		t.Fatal(err)
	}
	hint := func(name, annotations string) string {
		return fmt.Sprintf(`{"name":%q,"annotations":%s}`, name, annotations)
	}
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Policy: p}}, offer{namespace: "ns", tools: []string{
		"silent", hint("yes", `{"readOnlyHint":true}`), hint("no", `{"readOnlyHint":false}`), hint("text", `{"readOnlyHint":"true"}`), hint("null", `null`),
		hint("twice", `{"readOnlyHint":true,"readOnlyHint":false}`), hint("case", `{"readonlyhint":true}`), hint("escaped", `{"readOnly\u0048int": true }`), hint("list", `[true]`),
	}, resources: []string{"r://"}, prompts: []string{"p"}})
	checkList(t, "tools", namesOf(g.view().active(mcpwire.Tool)), "ns_yes", "ns_escaped")
	checkList(t, "resources and prompts", append(namesOf(g.view().active(mcpwire.Resource)), namesOf(g.view().active(mcpwire.Prompt))...), "ns_r://", "ns_p")
	g.servers[0].lists(mcpwire.Tool, hint("yes", `{}`), hint("no", `{"readOnlyHint":true}`))
	g.r.update()
	checkList(t, "tools later", namesOf(g.view().active(mcpwire.Tool)), "ns_no")
}

// Without a policy the catalog is the one there was, and with one looking up a name
// that may be used is the same map read: no call costs more.
func TestPoliciesCostACallNothing(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various())
	if c := g.r.catalog.Load(); c.under(nil) != c {
		t.Error("without a policy there is another catalog")
	}
	g = exposes(t, map[string][]string{"ns": {"*"}}, various())
	v, name := g.view(), []byte("ns_echo")
	if n := testing.AllocsPerRun(100, func() { v.find(mcpwire.Tool, name) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestExplain(t *testing.T) {
	g := exposes(t, map[string][]string{"a": {"same", "at://{id}"}, "b": {"same"}}, append(policed()[:2], offer{namespace: "b", tools: []string{"only"}})...)
	said := func(name string) (all []string) {
		for _, x := range g.r.Explain(name) {
			all = append(all, fmt.Sprintf("%s %s of %s: %t %t %t", x.Kind, x.Name, x.Server, x.Visible, x.Active, x.Callable))
		}
		return all
	}
	for name, want := range map[string][]string{
		"a_same":          {"tool a_same of a: true true true"},
		"same":            {"tool a_same of a: true true true", "tool b_same of b: true true true"},
		"b:same":          {"tool b_same of b: true true true"},
		"mcp__a__get":     {"tool a_get of a: false false false"},
		"x://same":        {"resource a_x://same of a: false false false", "resource b_x://same of b: false false false"},
		"a_at://7":        {"resource template a_at://{id} of a: true true true"},
		"b_bt://7":        {"resource template b_bt://{id} of b: false false false"},
		"ask":             {"prompt a_ask of a: false false false", "prompt b_ask of b: false false false"},
		"b_only":          {"tool b_only of b: false false false", "tool b_only of b (server 3): false false false"},
		ActivateTool:      {"tool toolman_activate of toolman: true true true"},
		CatalogURI:        {"resource toolman://catalog of toolman: true true true"},
		"nothing like it": nil,
	} {
		checkList(t, name, said(name), want...)
	}
	if got := g.r.Explain("b_only")[1].Rule; !strings.Contains(got, "b has that name already") {
		t.Errorf("the loser's rule is %q", got)
	}
	if got := g.r.Similar("a_gett"); !slices.Contains(got, "a_get") {
		t.Errorf("similar are %q", got)
	}
}

func TestExplainSaysWhatIsInactive(t *testing.T) {
	g := newRig(t, setup{active: []string{"ns_on"}}, offer{namespace: "ns", tools: []string{"on", "off"}})
	got := g.r.Explain("off")
	if len(got) != 1 || !got[0].Visible || got[0].Active || got[0].Callable || !strings.Contains(got[0].Error, "is not active; call toolman_activate") ||
		got[0].Rule != "no policy is given: everything is allowed" {
		t.Errorf("got %+v", got)
	}
}
