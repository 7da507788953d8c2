package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// exposes is a rig whose policy is these lists for every client.
func exposes(t *testing.T, lists map[string][]string, offers ...offer) *rig {
	t.Helper()
	return newRig(t, setup{active: []string{"*"}, Options: Options{Policy: exposing(t, lists)}}, offers...)
}

// exposing is a policy that is these lists.
func exposing(t *testing.T, lists map[string][]string) *policy.Policy {
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
	return p
}

func TestADeniedResourceIsNotHadByATemplate(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"r://{id}"}}, offer{namespace: "ns", resources: []string{"r://1"}, templates: []string{"r://{id}"}})
	for uri, want := range map[string]catalog.Verdict{"ns_r://1": catalog.Denied, "r://1": catalog.Denied, "ns:r://1": catalog.Denied, "ns_r://2": catalog.Active, "r://2": catalog.Active, "ns_r://{id}": catalog.Active} {
		if _, got := g.view().FindURI([]byte(uri)); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

func TestWhatADeniedTemplateMakesIsDenied(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"other"}}, offer{namespace: "ns", templates: []string{"r://{id}"}})
	for uri, want := range map[string]catalog.Verdict{"ns_r://1": catalog.Denied, "r://1": catalog.Denied, "ns_r://{id}": catalog.Denied, "r://{id}": catalog.Denied, "ns_q://1": catalog.Unknown} {
		if _, got := g.view().FindURI([]byte(uri)); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

func TestNobodyListensToWhatIsDenied(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"r://1"}}, offer{namespace: "ns", resources: []string{"r://1", "r://2"}})
	g.servers[0].subscribable()
	g.listenFor(`"l"`, `{"resourceSubscriptions":["ns_r://1","ns_r://2","r://2"]}`, `{"resourceSubscriptions":["ns_r://1"]}`)
}

// A server that a client may have nothing of neither tells it anything nor asks it.
func TestAClosedServerDoesNotReachTheClient(t *testing.T) {
	g := exposes(t, map[string][]string{"open": {"*"}, "closed": {}}, offer{namespace: "open", tools: []string{"x"}}, offer{namespace: "closed", tools: []string{"x"}})
	for i, notification := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"secret"}}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"1"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"secret","status":"working"}}`,
	} {
		g.servers[0].says(notification)
		g.client.wants(notification)
		g.servers[1].says(notification)
		if heard := g.client.hears(); len(heard) > 0 {
			t.Errorf("notification %d of the closed server reaches the client: %q", i, heard)
		}
	}
	for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
		question := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"message":"secret"}}`
		g.servers[0].says(question)
		g.client.hearsOne()
		if got := g.servers[1].asks(question); codeOf(t, got) != -32601 || !strings.Contains(got, "may not use this server") {
			t.Errorf("%s of the closed server is answered %s", method, got)
		}
		g.client.wants()
	}
}

func TestOneServersDeniedNameIsAnothersToUse(t *testing.T) {
	g := exposes(t, map[string][]string{"a": {}, "b": {"same", "x://same"}}, policed()[:2]...)
	for k, name := range map[mcpwire.Kind]string{mcpwire.Tool: "same", mcpwire.Resource: "x://same"} {
		if got, verdict := g.view().FindAny(k, name); verdict != catalog.Active || upstream.Of(got.Source).Name != "b" {
			t.Errorf("%s leads to %v, %s", name, upstream.Of(got.Source), verdict)
		}
	}
}

// The name of a denied item stays taken, as one of a server that is gone does.
func TestADeniedWinnersNameIsNotInherited(t *testing.T) {
	g := exposes(t, map[string][]string{"first": {}, "second": {"*"}}, offer{namespace: "ns", tools: []string{"x"}}, offer{namespace: "ns", tools: []string{"x"}})
	g.named("first", 0)
	g.named("second", 1)
	if got, verdict := g.view().Find(mcpwire.Tool, []byte("ns_x")); verdict != catalog.Denied || upstream.Of(got.Source) != g.r.all()[0] {
		t.Errorf("leads to %v, %s", upstream.Of(got.Source), verdict)
	}
}

func TestDeniedItemsAreNotSuggested(t *testing.T) {
	g := exposes(t, map[string][]string{"ns": {"read"}}, offer{namespace: "ns", tools: []string{"read", "reap"}})
	if got := g.view().Catalog.Similar(mcpwire.Tool, "ns_reax"); !slices.Equal(got, []string{"ns_read"}) {
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
	checkList(t, "active", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_a1", "ns_a2")
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
	checkList(t, "tools", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_yes", "ns_escaped")
	checkList(t, "resources and prompts", append(namesOf(g.view().ActiveEntries(mcpwire.Resource)), namesOf(g.view().ActiveEntries(mcpwire.Prompt))...), "ns_r://", "ns_p")
	g.servers[0].lists(mcpwire.Tool, hint("yes", `{}`), hint("no", `{"readOnlyHint":true}`))
	g.r.update()
	checkList(t, "tools later", namesOf(g.view().ActiveEntries(mcpwire.Tool)), "ns_no")
}

// Without a policy the catalog is the one there was, and with one looking up a name
// that may be used is the same map read: no call costs more.
func TestPoliciesCostACallNothing(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, various())
	if c := g.r.catalog.Load(); c.Under(nil) != c {
		t.Error("without a policy there is another catalog")
	}
	g = exposes(t, map[string][]string{"ns": {"*"}}, various())
	v, name := g.view(), []byte("ns_echo")
	if n := testing.AllocsPerRun(100, func() { v.Find(mcpwire.Tool, name) }); n != 0 {
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
		"a_same":             {"tool a_same of a: true true true"},
		"same":               {"tool a_same of a: true true true", "tool b_same of b: true true true"},
		"b:same":             {"tool b_same of b: true true true"},
		"mcp__a__get":        {"tool a_get of a: false false false"},
		"x://same":           {"resource a_x://same of a: false false false", "resource b_x://same of b: false false false"},
		"a_at://7":           {"resource template a_at://{id} of a: true true true"},
		"b_bt://7":           {"resource template b_bt://{id} of b: false false false"},
		"ask":                {"prompt a_ask of a: false false false", "prompt b_ask of b: false false false"},
		"b_only":             {"tool b_only of b: false false false", "tool b_only of b (server 3): false false false"},
		catalog.ActivateTool: {"tool toolman_activate of toolman: true true true"},
		catalog.CatalogURI:   {"resource toolman://catalog of toolman: true true true"},
		"nothing like it":    nil,
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
	if len(got) != 1 || !got[0].Visible || got[0].Active || got[0].Callable || !strings.Contains(got[0].Error, "is not active: active_toolsets does not have it; call toolman_activate") ||
		got[0].Rule != "no policy is given: everything is allowed" {
		t.Errorf("got %+v", got)
	}
}
